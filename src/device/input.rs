//! What a reduction reads and writes.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};

use super::{Backend, Device};
use crate::{DeviceType, Error};

/// What a reduction can read: `&[T]`, `&[T; N]` and `&Vec<T>` in host memory, `&CudaSlice<T>` and `&CudaView<T>` in
/// device memory, and [`&DeviceInput<T>`](DeviceInput).
///
/// Host memory is copied to the device when that is a GPU.
pub trait Input<T>: sealed::Input<T> {}

/// An [`Input`] in device memory.
pub trait OnDevice<T>: Input<T> {}

/// Where [`run_into`](crate::Reduction::run_into) writes: `&mut CudaSlice<T>` or `&mut CudaViewMut<T>` of one item.
pub trait Output<T>: sealed::Output<T> {}

/// An input's items.
pub enum Source<'a, T> {
    Host(&'a [T]),
    Device(&'a dyn DevicePtr<T>),
}

mod sealed {
    use super::{DevicePtrMut, Source};

    pub trait Input<T> {
        fn source(&self) -> Source<'_, T>;
    }

    pub trait Output<T> {
        fn target(&mut self) -> &mut dyn DevicePtrMut<T>;
    }
}

macro_rules! inputs {
    ($([$($generics:tt)*] $type:ty: $place:ident;)*) => {$(
        impl<$($generics)*> sealed::Input<T> for $type {
            fn source(&self) -> Source<'_, T> {
                Source::$place(*self)
            }
        }
        impl<$($generics)*> Input<T> for $type {}
    )*};
}
inputs! {
    [T] &[T]: Host;
    [T] &Vec<T>: Host;
    [T, const N: usize] &[T; N]: Host;
    [T] &CudaSlice<T>: Device;
    [T] &CudaView<'_, T>: Device;
    [T] &DeviceInput<T>: Device;
}
impl<T> OnDevice<T> for &CudaSlice<T> {}
impl<T> OnDevice<T> for &CudaView<'_, T> {}
impl<T> OnDevice<T> for &DeviceInput<T> {}

impl<T> sealed::Output<T> for &mut CudaSlice<T> {
    fn target(&mut self) -> &mut dyn DevicePtrMut<T> {
        *self
    }
}
impl<T> Output<T> for &mut CudaSlice<T> {}
impl<T> sealed::Output<T> for &mut CudaViewMut<'_, T> {
    fn target(&mut self) -> &mut dyn DevicePtrMut<T> {
        *self
    }
}
impl<T> Output<T> for &mut CudaViewMut<'_, T> {}

/// Items in device memory that this crate's `cudarc` does not know: those of another version of it, or of any other
/// library.
#[derive(Debug)]
pub struct DeviceInput<T> {
    address: u64,
    length: usize,
    stream: Arc<CudaStream>,
    items: std::marker::PhantomData<fn() -> T>,
}

impl<T: DeviceType> DeviceInput<T> {
    /// `length` items at the device address `address`, read in the order of `stream`, a `CUstream` (null for the
    /// default stream), in the context of `device`.
    ///
    /// # Errors
    ///
    /// [`Error::DeviceInputOnCpu`] if `device` is the CPU; [`Error::Misaligned`].
    ///
    /// # Safety
    ///
    /// The items are initialised, in memory that a kernel of `device`'s context can read, and stay there unchanged
    /// while a reduction reads them: until `run` returns, or until the work of `run_into` has ended. The stream
    /// belongs to that context and outlives the value.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        length: usize,
        stream: *mut c_void,
    ) -> Result<Self, Error> {
        let Backend::Cuda(own) = device.backend()? else {
            return Err(Error::DeviceInputOnCpu);
        };
        let align = align_of::<T>();
        if !address.is_multiple_of(align as u64) {
            return Err(Error::Misaligned { address, align });
        }
        // SAFETY: the caller's promise.
        let stream = unsafe { own.context().wrap_borrowed_stream(stream.cast()) };
        Ok(Self { address, length, stream, items: std::marker::PhantomData })
    }
}

impl<T> DeviceSlice<T> for DeviceInput<T> {
    fn len(&self) -> usize {
        self.length
    }
    fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }
}

impl<T> DevicePtr<T> for DeviceInput<T> {
    fn device_ptr<'a>(&'a self, _: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        (self.address, SyncOnDrop::Record(None))
    }
}
