//! What a source compiles to.

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// Machine code.
    Cubin,
    /// NVIDIA's intermediate language, which the driver finishes.
    Ptx,
}

/// What a source compiles to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// What the bytes are.
    pub form: Form,
    /// A CUBIN, or PTX as text.
    pub bytes: Vec<u8>,
}
