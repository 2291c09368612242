//! The trait of elements in device memory, for any reader.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};

use crate::Error;
use crate::source::Reader;

/// The kernel argument that describes elements to a reader.
pub(crate) type InputOf<E> = <<E as Elements>::Reader as Reader>::Input;

/// The most arrays that are read in step.
pub(crate) const MAX_ARRAYS: usize = 8;

/// The order of a stream's work and the work of other streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamOrder {
    /// The user of a graph orders it.
    None,
    /// The earlier work of the other streams comes before the later work of this one.
    Before,
    /// The later work of the other streams comes after the earlier work of this one.
    After,
}

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

    /// Checks that the elements belong to the context, and orders the work of
    /// [`stream`](Self::stream) and of other streams that use elements.
    fn order(&self, context: &Arc<CudaContext>, order: StreamOrder) -> Result<(), Error>;

    /// Whether cudarc records events at the uses of elements.
    fn are_tracked(&self) -> bool;

    /// The device address of each array, for work on `stream`.
    fn addresses<'a>(&'a self, stream: &'a CudaStream) -> ([u64; MAX_ARRAYS], Self::Guard<'a>);

    /// The same as the argument of a kernel.
    fn read<'a>(&'a self, stream: &'a CudaStream) -> (InputOf<Self>, Self::Guard<'a>);
}
