//! The elements of the array reader.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DevicePtr, SyncOnDrop};

use super::elements::Elements;
use crate::source::{ArrayInput, ArrayOfItems};

/// A slice of items in device memory. Elements are items: no `prepare` changes them.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a, T>(pub(crate) &'a dyn DevicePtr<T>);

// SAFETY: the slice holds `length` items, and is borrowed.
unsafe impl<T> Elements for Array<'_, T> {
    type Reader = ArrayOfItems;
    type Guard<'a>
        = SyncOnDrop<'a>
    where
        Self: 'a;

    fn stream(&self) -> &Arc<CudaStream> {
        self.0.stream()
    }

    fn length(&self) -> u64 {
        self.0.len() as u64
    }

    fn read<'a>(&'a self, stream: &'a CudaStream) -> (ArrayInput, SyncOnDrop<'a>) {
        let (elements, guard) = self.0.device_ptr(stream);
        (ArrayInput { elements }, guard)
    }
}
