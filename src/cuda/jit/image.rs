//! The image of a source: machine code or PTX.

/// The format of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// Machine code.
    Cubin,
    /// NVIDIA's intermediate language, which the driver compiles to machine code.
    Ptx,
}

/// The compiled format of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// The format of the bytes.
    pub format: ImageFormat,
    /// A CUBIN, or PTX as text.
    pub bytes: Vec<u8>,
}
