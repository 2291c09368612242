//! Arrays of host memory, which are copied to the device as a whole.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};

use super::array::bit_address;
use super::elements::{Elements, MAX_ARRAYS, StreamOrder};
use crate::cuda::driver::check_not_capturing;
use crate::cuda::host::PrivateStream;
use crate::source::{ArrayInput, ArraysOf};
use crate::types::{Arrangement, Preparation, SliceVisitor};
use crate::{Bitmap, DeviceType, Error};

/// Copies of arrays that are read in step, whose elements become items by `P`.
pub(crate) struct CopiedArrays<'k, P> {
    copies: Copies<'k>,
    length: u64,
    of: PhantomData<fn() -> P>,
}

/// The address of each copy, and what keeps it allocated.
struct Copies<'k> {
    private: &'k PrivateStream,
    /// The stream in whose order the copies are read and freed.
    owner: Arc<CudaStream>,
    arrays: Vec<(u64, Box<dyn Any>)>,
    copied: Result<(), Error>,
}

impl<'k, P> CopiedArrays<'k, P> {
    /// Copies arrays of `length` elements each.
    pub(crate) fn of<R: Arrangement>(
        private: &'k PrivateStream,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<Self, Error> {
        Self::for_stream::<R>(private, private.stream(), slices, length)
    }

    /// The same, for work on another stream of the context, in whose order the copies are freed.
    pub(crate) fn for_stream<R: Arrangement>(
        private: &'k PrivateStream,
        owner: &Arc<CudaStream>,
        slices: R::Slices<'_>,
        length: usize,
    ) -> Result<Self, Error> {
        // Memory cannot be freed on a stream that captures.
        check_not_capturing(owner)?;
        let mut copies = Copies { private, owner: owner.clone(), arrays: Vec::new(), copied: Ok(()) };
        R::visit_slices(slices, &mut copies);
        std::mem::replace(&mut copies.copied, Ok(()))?;
        Ok(Self { copies, length: length as u64, of: PhantomData })
    }

    /// The copy of the one array, whose elements are items.
    pub(crate) fn into_items<T: DeviceType>(self) -> Box<CudaSlice<T>> {
        let copy = self.copies.arrays.into_iter().next().and_then(|(_, copy)| copy.downcast().ok());
        let Some(items) = copy else { unreachable!("elements are items") };
        items
    }
}

impl Copies<'_> {
    /// The copy of an array, and its address.
    fn copy<T: DeviceType>(&self, slice: &[T]) -> Result<(u64, CudaSlice<T>), Error> {
        let copy = self.private.upload(slice)?;
        let address = copy.device_ptr(self.private.stream()).0;
        Ok((address, self.private.hand_over(copy, &self.owner)?))
    }
}

impl<'a> SliceVisitor<'a> for Copies<'_> {
    fn slice<T: DeviceType>(&mut self, slice: &'a [T]) {
        if self.copied.is_err() {
            return;
        }
        match self.copy(slice) {
            Ok((address, copy)) => self.arrays.push((address, Box::new(copy))),
            Err(error) => self.copied = Err(error),
        }
    }
    fn bitmap(&mut self, bitmap: Bitmap<&'a [u8]>) {
        let (bytes, offset) = bitmap.needed();
        let before = self.arrays.len();
        self.slice(bytes);
        if let Some((address, _)) = self.arrays.get_mut(before) {
            *address = bit_address(*address, offset);
        }
    }
}

// SAFETY: each copy holds `length` elements, which were written before any stream reads them.
unsafe impl<P: Preparation> Elements for CopiedArrays<'_, P> {
    type Reader = ArraysOf<P>;
    type Guard<'a>
        = ()
    where
        Self: 'a;

    fn stream(&self) -> &Arc<CudaStream> {
        &self.copies.owner
    }

    fn length(&self) -> u64 {
        self.length
    }

    fn order(&self, _: &Arc<CudaContext>, _: StreamOrder) -> Result<(), Error> {
        Ok(())
    }

    fn are_tracked(&self) -> bool {
        false
    }

    fn addresses<'a>(&'a self, _: &'a CudaStream) -> ([u64; MAX_ARRAYS], ()) {
        let mut list = [0; MAX_ARRAYS];
        list.iter_mut().zip(&self.copies.arrays).for_each(|(to, (address, _))| *to = *address);
        (list, ())
    }

    fn read<'a>(&'a self, stream: &'a CudaStream) -> (ArrayInput<P::First, P::Addresses>, ()) {
        let (list, ()) = self.addresses(stream);
        let elements = P::addresses(&list[..self.copies.arrays.len()]);
        (ArrayInput { elements, first: P::first(0) }, ())
    }
}
