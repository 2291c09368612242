//! What a call reads and writes.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};

use super::Device;
use crate::{DeviceType, Error};

/// What a call can read: `&[T]`, `&[T; N]` and `&Vec<T>` in host memory, `&CudaSlice<T>` and `&CudaView<T>` in
/// device memory, and [`&DeviceInput<T>`](DeviceInput).
///
/// Host memory is copied to the device when that is a GPU.
pub trait Input<T>: sealed::Input<T> {
    /// New memory of the same kind: `Vec<T>`, or `CudaSlice<T>`.
    type Owned;

    #[doc(hidden)]
    fn made_by(&self, make: &impl Make<T>) -> Result<Self::Owned, Error>;
}

/// Where a call can write, as many items as it makes: `&mut [T]`, `&mut [T; N]` and `&mut Vec<T>` in host memory, and
/// `&mut CudaSlice<T>` and `&mut CudaViewMut<T>` in device memory.
pub trait Output<T>: sealed::Output<T> {}

/// An [`Input`] or [`Output`] in device memory.
pub trait OnDevice<T>: sealed::OnDevice<T> {}

/// An input's items.
pub enum Source<'a, T> {
    Host(&'a [T]),
    Device(&'a dyn DevicePtr<T>),
}

/// An output's places.
pub enum Target<'a, T> {
    Host(&'a mut [T]),
    Device(&'a mut dyn DevicePtrMut<T>),
}

impl<T> Source<'_, T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Source::Host(items) => items.len(),
            Source::Device(items) => items.len(),
        }
    }
}

impl<T> Target<'_, T> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Target::Host(places) => places.len(),
            Target::Device(places) => places.len(),
        }
    }
}

/// What makes new memory of an input.
pub trait Make<T> {
    fn host(&self, items: &[T]) -> Result<Vec<T>, Error>;
    fn device(&self, items: &dyn DevicePtr<T>) -> Result<CudaSlice<T>, Error>;
}

mod sealed {
    use super::{Source, Target};

    pub trait Input<T> {
        fn source(&self) -> Source<'_, T>;
    }

    pub trait Output<T> {
        fn target(&mut self) -> Target<'_, T>;
    }

    pub trait OnDevice<T> {}
}

macro_rules! inputs {
    ($([$($generics:tt)*] $type:ty: $place:ident $make:ident $owned:ty;)*) => {$(
        impl<$($generics)*> sealed::Input<T> for $type {
            fn source(&self) -> Source<'_, T> {
                Source::$place(*self)
            }
        }
        impl<$($generics)*> Input<T> for $type {
            type Owned = $owned;
            fn made_by(&self, make: &impl Make<T>) -> Result<$owned, Error> {
                make.$make(*self)
            }
        }
    )*};
}
inputs! {
    [T] &[T]: Host host Vec<T>;
    [T] &Vec<T>: Host host Vec<T>;
    [T, const N: usize] &[T; N]: Host host Vec<T>;
    [T] &CudaSlice<T>: Device device CudaSlice<T>;
    [T] &CudaView<'_, T>: Device device CudaSlice<T>;
    [T] &DeviceInput<T>: Device device CudaSlice<T>;
}

macro_rules! outputs {
    ($([$($generics:tt)*] $type:ty: $place:ident;)*) => {$(
        impl<$($generics)*> sealed::Output<T> for $type {
            fn target(&mut self) -> Target<'_, T> {
                Target::$place(*self)
            }
        }
        impl<$($generics)*> Output<T> for $type {}
    )*};
}
outputs! {
    [T] &mut [T]: Host;
    [T] &mut Vec<T>: Host;
    [T, const N: usize] &mut [T; N]: Host;
    [T] &mut CudaSlice<T>: Device;
    [T] &mut CudaViewMut<'_, T>: Device;
}

macro_rules! on_device {
    ($($type:ty)*) => {$(
        impl<T> sealed::OnDevice<T> for $type {}
        impl<T> OnDevice<T> for $type {}
    )*};
}
on_device! { &CudaSlice<T> &CudaView<'_, T> &DeviceInput<T> &mut CudaSlice<T> &mut CudaViewMut<'_, T> }

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
    /// while they are read: until `run` returns, until the work of `run_into` or of a scan has ended, or until the last
    /// launch of a graph that a `record_` call was recorded in. The stream belongs to that context, and outlives the value
    /// and every slice that a scan made of it. What is written in its order is read on it, or when it has been waited for:
    /// cudarc does not track the stream's events.
    pub unsafe fn from_raw(
        device: &Device,
        address: u64,
        length: usize,
        stream: *mut c_void,
    ) -> Result<Self, Error> {
        let Some(own) = device.stream() else {
            return Err(device.backend().err().unwrap_or(Error::DeviceInputOnCpu));
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
