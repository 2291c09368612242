//! One array.

use std::sync::Arc;

use cudarc::driver::{CudaStream, DevicePtr, SyncOnDrop};

use super::elements::Elements;
use crate::source::{ArrayInput, ItemsAsTheyAre};

/// A slice of items, which are read as they are.
#[derive(Clone, Copy)]
pub(crate) struct Array<'a, T>(pub(crate) &'a dyn DevicePtr<T>);

// SAFETY: a slice of items, which it borrows.
unsafe impl<T> Elements for Array<'_, T> {
    type Reader = ItemsAsTheyAre;
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
