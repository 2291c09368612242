//! Inputs and outputs of calls, in host memory and in device memory.

use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};

use super::Device;
use crate::{DeviceType, Error};

/// An input of a call.
///
/// - In host memory: `&[T]`, `&[T; N]` and `&Vec<T>`. If the call runs on a GPU, it copies them.
/// - In device memory: `&CudaSlice<T>`, `&CudaView<T>` and [`&DeviceInput<T>`](DeviceInput).
///
/// ```
/// use warpfold::operators::{Max, Min};
/// use warpfold::{Device, Error, Input, Reduction};
///
/// /// The difference between the largest and the smallest item.
/// fn span(device: &Device, items: impl Input<f32> + Copy) -> Result<f32, Error> {
///     let largest = Reduction::<Max<f32>>::new(device.clone()).run(items)?;
///     Ok(largest - Reduction::<Min<f32>>::new(device.clone()).run(items)?)
/// }
///
/// assert_eq!(span(&Device::auto(), &[2.0, 7.5, 3.0])?, 5.5);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Input<T>: sealed::Input<T> {
    /// Newly allocated memory of the same kind: `Vec<T>`, or `CudaSlice<T>`.
    type Owned;

    #[doc(hidden)]
    fn allocate_output(&self, make: &impl AllocateOutput<T>) -> Result<Self::Owned, Error>;
}

/// An output of a call, which has as many items as the call returns.
///
/// - In host memory: `&mut [T]`, `&mut [T; N]` and `&mut Vec<T>`.
/// - In device memory: `&mut CudaSlice<T>` and `&mut CudaViewMut<T>`.
///
/// ```
/// use warpfold::{Device, Error, Input, Output, Scan, operators::Max};
///
/// /// Writes the largest item so far to each place.
/// fn highs(items: impl Input<f32>, places: impl Output<f32>) -> Result<(), Error> {
///     Scan::<Max<f32>>::new(Device::auto()).inclusive_into(items, places)
/// }
///
/// let mut largest = [0.0; 3];
/// highs(&[1.0, 3.0, 2.0], &mut largest)?;
/// assert_eq!(largest, [1.0, 3.0, 3.0]);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Output<T>: sealed::Output<T> {}

/// An [`Input`] or [`Output`] in device memory.
///
/// ```no_run
/// use warpfold::{Device, Error, Input, OnDevice, Output, Reduction, operators::Sum};
///
/// /// Enqueues the sum, and does not wait for it.
/// fn enqueue_sum<I, O>(device: &Device, items: I, total: O) -> Result<(), Error>
/// where
///     I: Input<f32> + OnDevice<f32>,
///     O: Output<f32> + OnDevice<f32>,
/// {
///     Reduction::<Sum<f32>>::new(device.clone()).run_into(items, total)
/// }
///
/// let device = Device::cuda(0)?;
/// let stream = device.stream().expect("the device is a GPU");
/// let (items, mut total) = (stream.clone_htod(&vec![0.5; 8])?, stream.alloc_zeros(1)?);
/// enqueue_sum(&device, &items, &mut total)?;
/// assert_eq!(stream.clone_dtoh(&total)?, [4.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait OnDevice<T>: sealed::OnDevice<T> {}

/// The items of an input.
pub enum Source<'a, T> {
    Host(&'a [T]),
    Device(&'a dyn DevicePtr<T>),
}

/// The memory of an output.
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

/// Computes the output of an input in newly allocated memory of the same kind.
pub trait AllocateOutput<T> {
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
            fn allocate_output(&self, make: &impl AllocateOutput<T>) -> Result<$owned, Error> {
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

/// Items in device memory of another library, or of another version of `cudarc`.
///
/// ```
/// use warpfold::{Device, DeviceInput, Error, Reduction, operators::Sum};
///
/// /// The sum of `length` floats at `address`, which the default stream has written.
/// ///
/// /// # Safety
/// ///
/// /// The conditions of `DeviceInput::from_raw`.
/// unsafe fn sum_at(device: &Device, address: u64, length: usize) -> Result<f32, Error> {
///     let stream = std::ptr::null_mut();
///     // SAFETY: the caller guarantees the conditions.
///     let items = unsafe { DeviceInput::<f32>::from_raw(device, address, length, stream)? };
///     Reduction::<Sum<f32>>::new(device.clone()).run(&items)
/// }
/// ```
#[must_use]
pub struct DeviceInput<T> {
    address: u64,
    length: usize,
    stream: Arc<CudaStream>,
    items: std::marker::PhantomData<fn() -> T>,
}

impl<T> DeviceInput<T> {
    /// # Safety
    ///
    /// The conditions of [`from_raw`](Self::from_raw).
    pub(super) unsafe fn on_stream(address: u64, length: usize, stream: Arc<CudaStream>) -> Self {
        Self { address, length, stream, items: std::marker::PhantomData }
    }
}

impl<T: DeviceType> DeviceInput<T> {
    /// An input of `length` items at the device address `address`, in the context of `device`.
    ///
    /// The items are read in the order of `stream`, a `CUstream` (null for the default stream).
    ///
    /// # Errors
    ///
    /// - [`Error::DeviceInputOnCpu`] if `device` is the CPU.
    /// - [`Error::Misaligned`] if `address` is not a multiple of the alignment of `T`.
    /// - The error of a `device` that is not available, such as [`Error::DeviceOverride`].
    ///
    /// # Safety
    ///
    /// 1. The items are initialised, in memory that a kernel in the context of `device` can read.
    /// 2. The items stay allocated and unchanged until they have been read.
    ///    - `run`: until it returns.
    ///    - `run_into` and scans: until their work has ended.
    ///    - `record_` calls: until the last launch of the graph has ended.
    /// 3. The stream belongs to that context. It outlives this value, and every slice that a scan
    ///    allocates for this input.
    /// 4. Memory that is written in the order of this stream is read on this stream, or after a
    ///    wait for it. cudarc does not track the stream's events.
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::DevicePtr;
    /// use warpfold::{Device, DeviceInput, Reduction, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU");
    /// let numbers = stream.clone_htod(&vec![1.0_f32; 1000])?;
    /// let (address, _reading) = numbers.device_ptr(stream);
    /// let stream = stream.cu_stream().cast();
    /// // SAFETY: `numbers` holds 1000 floats, was written on this stream, and outlives the call.
    /// let input = unsafe { DeviceInput::<f32>::from_raw(&device, address, 1000, stream)? };
    /// assert_eq!(Reduction::<Sum<f32>>::new(device.clone()).run(&input)?, 1000.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
        // SAFETY: the stream belongs to the context and outlives its uses, as the caller
        // guarantees.
        let stream = unsafe { own.context().wrap_borrowed_stream(stream.cast()) };
        Ok(Self { address, length, stream, items: std::marker::PhantomData })
    }
}

impl<T> fmt::Debug for DeviceInput<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceInput({} items at {:#x})", self.length, self.address)
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
