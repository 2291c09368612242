//! Bitmaps: arrays of one bit an element.

/// An element of a [`Bitmap`]: the mark of [`Masked`](crate::aggregates::Masked).
///
/// A bitmap holds a bit, and a variable or a tuple a byte. An array of `Bit` alone is no input.
///
/// ```
/// use warpfold::Bit;
///
/// assert!(Bit(true) != Bit(false));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bit(pub bool);

/// An array of bits, such as the validity bitmap of an Arrow array: element i is bit `offset + i`,
/// where bit k is bit `k % 8` of byte `k / 8`, from the least significant one on.
///
/// The bytes are any [`Input`](crate::Input) of `u8`, in host memory or in device memory. It is read
/// in step with other arrays.
///
/// ```
/// use warpfold::aggregates::{Masked, Mean};
/// use warpfold::{Bit, Bitmap, Device, Reduction};
///
/// let mean = Reduction::<Masked<Mean<f32>, Bit>>::new(Device::auto());
/// let (celsius, validity) = ([21.0, -999.0, 24.0], [0b1010_0000_u8]);
/// // Bits 5 to 7: the first and the third element are valid.
/// assert_eq!(mean.run((&celsius, Bitmap::new(&validity, 5, 3)?))?, Some(22.5));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Bitmap<I> {
    pub(crate) bytes: I,
    /// The first bit, and the number of bits.
    pub(crate) offset: usize,
    pub(crate) length: usize,
}

impl<I> Bitmap<I> {
    /// The same bits of other bytes.
    pub(crate) fn with<J>(&self, bytes: J) -> Bitmap<J> {
        Bitmap { bytes, offset: self.offset, length: self.length }
    }
}

impl Bitmap<&[u8]> {
    /// The bytes that hold its bits, and the number of its first bit in them.
    pub(crate) fn needed(&self) -> (&[u8], usize) {
        let (first, end) = (self.offset / 8, (self.offset + self.length).div_ceil(8));
        if self.length == 0 { (&[], 0) } else { (&self.bytes[first..end], self.offset % 8) }
    }
}
