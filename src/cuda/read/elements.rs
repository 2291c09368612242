//! What a call reads, whatever the reader.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::source::Reader;

/// What a kernel is given of elements.
pub(crate) type InputOf<E> = <<E as Elements>::Reader as Reader>::Input;

/// Elements in device memory.
///
/// # Safety
///
/// [`read`](Self::read) says where as many elements as [`length`](Self::length) are, of the layouts that the reader has; they stay
/// there as long as the value is borrowed.
pub(crate) unsafe trait Elements {
    /// By which kernels read them.
    type Reader: Reader;
    /// While it lives, work that a stream is given counts as reading them.
    type Guard<'a>
    where
        Self: 'a;

    /// In whose order they are read.
    fn stream(&self) -> &Arc<CudaStream>;

    /// How many there are.
    fn length(&self) -> u64;

    /// Where they are, for work that the stream is given.
    fn read<'a>(&'a self, stream: &'a CudaStream) -> (InputOf<Self>, Self::Guard<'a>);
}
