//! Bitmaps as inputs.

use super::input::{Input, OnDevice, Source, sealed};
use crate::types::Bits;
use crate::{Bit, Bitmap, Error};

impl<I: Input<u8>> Bitmap<I> {
    /// The `length` bits of the bytes from bit `offset` on.
    ///
    /// # Errors
    ///
    /// [`Error::BitmapLength`] if the bytes have fewer bits.
    ///
    /// ```
    /// use warpfold::{Bitmap, Error};
    ///
    /// let bytes = [0xff_u8, 0x01];
    /// assert!(Bitmap::new(&bytes, 3, 13).is_ok());
    /// assert!(matches!(Bitmap::new(&bytes, 3, 14), Err(Error::BitmapLength { bits: 16, .. })));
    /// ```
    pub fn new(bytes: I, offset: usize, length: usize) -> Result<Self, Error> {
        let bits = 8 * match bytes.source().in_one_array() {
            Source::Host(bytes) => bytes.len(),
            Source::Device(bytes) => bytes.len(),
        } as u64;
        match (offset as u64).checked_add(length as u64) {
            Some(end) if end <= bits => Ok(Self { bytes, offset, length }),
            _ => Err(Error::BitmapLength { bits, offset, length }),
        }
    }
}

impl<I: Input<u8>> sealed::Input<Bit> for Bitmap<I> {
    type Arrangement = Bits;
    fn source(&self) -> Source<'_, Bits> {
        match self.bytes.source().in_one_array() {
            Source::Host(bytes) => Source::Host(self.with(bytes)),
            Source::Device(bytes) => Source::Device(self.with(bytes)),
        }
    }
}

impl<I: Input<u8>> Input<Bit> for Bitmap<I> {
    type Place = I::Place;
}

impl<I: OnDevice<u8>> sealed::OnDevice<Bit> for Bitmap<I> {}
impl<I: OnDevice<u8>> OnDevice<Bit> for Bitmap<I> {}
