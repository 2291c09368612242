//! The trait of elements in device memory, for any reader.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::source::Reader;

/// The kernel argument that describes elements to a reader.
pub(crate) type InputOf<E> = <<E as Elements>::Reader as Reader>::Input;

/// Elements in device memory.
///
/// # Safety
///
/// The input that [`read`](Self::read) returns gives the addresses of [`length`](Self::length)
/// elements, in the layouts of the reader. The elements stay there while the value is borrowed.
pub(crate) unsafe trait Elements {
    /// The reader that stages the elements.
    type Reader: Reader;
    /// While it lives, work that is enqueued on the stream counts as a use of the elements.
    type Guard<'a>
    where
        Self: 'a;

    /// The stream in whose order the elements are read.
    fn stream(&self) -> &Arc<CudaStream>;

    /// The number of elements.
    fn length(&self) -> u64;

    /// The addresses of the elements, for work on `stream`.
    fn read<'a>(&'a self, stream: &'a CudaStream) -> (InputOf<Self>, Self::Guard<'a>);
}
