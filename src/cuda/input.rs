//! Inputs and outputs of calls, in host memory and in device memory.

use std::ffi::c_void;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use cudarc::driver::{
    CudaSlice, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};

use num_traits::PrimInt;

use super::Device;
use crate::types::{Arrangement, Array, InStep, Indices, NoArray};
use crate::{DeviceType, Element, Error, Value};

/// An input of a call.
///
/// - In host memory: `&[T]`, `&[T; N]` and `&Vec<T>`. If the call runs on a GPU, it copies them.
/// - In device memory: `&CudaSlice<T>`, `&CudaView<T>` and [`&DeviceInput<T>`](DeviceInput).
/// - Bits of either kind of memory: a [`Bitmap`](crate::Bitmap).
/// - An array of tuples: as any other array, such as `&[(f32, u32)]`.
/// - Several arrays in step: a tuple of 2 to 8 arrays, all in host memory or all in device memory.
///   An element is the tuple of the arrays' elements at one index. The input's stream is that of
///   the first array. The call's work waits for the other arrays' streams, and their later work
///   waits for it.
/// - No array: a range `0..n` of any integer type, for an aggregate whose `Input` is `()`.
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
pub trait Input<E: Element>: sealed::Input<E> {
    /// Where the input is: [`HostMemory`] or [`DeviceMemory`].
    type Place: Place;
}

/// A kind of memory.
///
/// ```
/// use warpfold::{HostMemory, Place};
///
/// let squares: <HostMemory as Place>::Memory<u32> = vec![0, 1, 4];
/// ```
pub trait Place: sealed::Place {
    /// Allocated memory of this kind: `Vec<V>`, or a `CudaSlice` of [`V::Stored`](Value::Stored).
    type Memory<V: Value>;

    /// Computes the output of an input of this place.
    #[doc(hidden)]
    fn allocate_output<R: Arrangement, V: Value>(
        input: Source<'_, R>,
        make: &impl AllocateOutput<R, V>,
    ) -> Result<Self::Memory<V>, Error>;
}

/// The memory of the host.
///
/// ```
/// fn is_input<I: warpfold::Input<f32, Place = warpfold::HostMemory>>(_: I) {}
/// is_input(&[1.0, 2.0]);
/// ```
#[derive(Debug)]
pub enum HostMemory {}

/// The memory of a GPU.
///
/// ```
/// use warpfold::cudarc::driver::CudaSlice;
///
/// fn is_input<I: warpfold::Input<f32, Place = warpfold::DeviceMemory>>(_: I) {}
/// fn example(items: &CudaSlice<f32>) { is_input(items) }
/// ```
#[derive(Debug)]
pub enum DeviceMemory {}

impl Place for HostMemory {
    type Memory<V: Value> = Vec<V>;
    fn allocate_output<R: Arrangement, V: Value>(
        input: Source<'_, R>,
        make: &impl AllocateOutput<R, V>,
    ) -> Result<Vec<V>, Error> {
        match input {
            Source::Host(slices) => make.host(slices),
            Source::Device(_) => unreachable!("the input is in host memory"),
        }
    }
}

impl Place for DeviceMemory {
    type Memory<V: Value> = CudaSlice<V::Stored>;
    fn allocate_output<R: Arrangement, V: Value>(
        input: Source<'_, R>,
        make: &impl AllocateOutput<R, V>,
    ) -> Result<CudaSlice<V::Stored>, Error> {
        match input {
            Source::Host(_) => unreachable!("the input is in device memory"),
            Source::Device(pointers) => make.device(pointers),
        }
    }
}

/// An output of a call, which has a place for each result of type `V`.
///
/// - In host memory: `&mut [V]`, `&mut [V; N]` and `&mut Vec<V>`.
/// - In device memory: `&mut CudaSlice` and `&mut CudaViewMut` of [`V::Stored`](Value::Stored),
///   which for most types is `V` itself.
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
pub trait Output<V: Value>: sealed::Output<V> {}

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

/// The arrays of an input.
pub enum Source<'a, R: Arrangement> {
    Host(R::Slices<'a>),
    Device(R::Pointers<'a>),
}

/// The memory of an output.
pub enum Target<'a, V: Value> {
    Host(&'a mut [V]),
    Device(&'a mut dyn DevicePtrMut<V::Stored>),
}

impl<'a, R: Arrangement<Element: DeviceType>> Source<'a, R> {
    /// The elements where all arrangements of such an element are one array. It is no tuple, and no bit.
    pub(crate) fn in_one_array(self) -> Source<'a, Array<R::Element>> {
        let one_array = match self {
            Source::Host(slices) => R::in_one_array(slices).map(Source::Host),
            Source::Device(pointers) => R::in_one_device_array(pointers).map(Source::Device),
        };
        one_array.unwrap_or_else(|| unreachable!("the elements lie in one array"))
    }
}

impl<V: Value> Target<'_, V> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Target::Host(places) => places.len(),
            Target::Device(places) => places.len(),
        }
    }
}

/// Computes the output of an input in newly allocated memory of the same kind.
pub trait AllocateOutput<R: Arrangement, V: Value> {
    fn host(&self, slices: R::Slices<'_>) -> Result<Vec<V>, Error>;
    fn device(&self, pointers: R::Pointers<'_>) -> Result<CudaSlice<V::Stored>, Error>;
}

pub(super) mod sealed {
    use super::{Source, Target};
    use crate::types::Arrangement;
    use crate::{Element, Value};

    pub trait Input<E: Element> {
        /// How the elements lie.
        type Arrangement: Arrangement<Element = E>;
        fn source(&self) -> Source<'_, Self::Arrangement>;
    }

    pub trait Place {}
    impl Place for super::HostMemory {}
    impl Place for super::DeviceMemory {}

    pub trait Output<V: Value> {
        fn target(&mut self) -> Target<'_, V>;
    }

    pub trait OnDevice<T> {}
}

macro_rules! inputs {
    ($([$($generics:tt)*] $type:ty: $source:ident $place:ident;)*) => {$(
        impl<$($generics)*> sealed::Input<T> for $type {
            type Arrangement = Array<T>;
            fn source(&self) -> Source<'_, Array<T>> {
                inputs!($source self)
            }
        }
        impl<$($generics)*> Input<T> for $type {
            type Place = $place;
        }
    )*};
    (Host $input:ident) => { Source::Host(&$input[..]) };
    (Device $input:ident) => { Source::Device(*$input as &dyn DevicePtr<T>) };
}
inputs! {
    [T: DeviceType] &[T]: Host HostMemory;
    [T: DeviceType] &Vec<T>: Host HostMemory;
    [T: DeviceType, const N: usize] &[T; N]: Host HostMemory;
    [T: DeviceType] &CudaSlice<T>: Device DeviceMemory;
    [T: DeviceType] &CudaView<'_, T>: Device DeviceMemory;
    [T: DeviceType] &DeviceInput<T>: Device DeviceMemory;
}

/// The indices from 0 to before the end.
impl<T: PrimInt> sealed::Input<()> for Range<T> {
    type Arrangement = NoArray;
    fn source(&self) -> Source<'_, NoArray> {
        Source::Host(match self.is_empty() {
            true => Indices { start: Some(0), end: Some(0) },
            false => Indices { start: self.start.to_u64(), end: self.end.to_u64() },
        })
    }
}
impl<T: PrimInt> Input<()> for Range<T> {
    type Place = HostMemory;
}

macro_rules! in_step {
    ($($first:ident $input:ident $zero:tt, $($part:ident $other:ident $index:tt),*;)*) => {$(
        impl<$first: DeviceType, $($part: DeviceType,)* $input: Input<$first>, $($other: Input<$part, Place = $input::Place>),*>
            sealed::Input<($first, $($part),*)> for ($input, $($other),*)
        {
            type Arrangement = InStep<($input::Arrangement, $($other::Arrangement),*)>;
            #[allow(non_snake_case)]
            fn source(&self) -> Source<'_, Self::Arrangement> {
                match (self.$zero.source(), $(self.$index.source()),*) {
                    (Source::Host($first), $(Source::Host($part)),*) => Source::Host(($first, $($part),*)),
                    (Source::Device($first), $(Source::Device($part)),*) => Source::Device(($first, $($part),*)),
                    _ => unreachable!("all arrays are in one place"),
                }
            }
        }
        impl<$first: DeviceType, $($part: DeviceType,)* $input: Input<$first>, $($other: Input<$part, Place = $input::Place>),*>
            Input<($first, $($part),*)> for ($input, $($other),*)
        {
            type Place = $input::Place;
        }
        impl<$first, $($part,)* $input: OnDevice<$first>, $($other: OnDevice<$part>),*>
            sealed::OnDevice<($first, $($part),*)> for ($input, $($other),*) {}
        impl<$first, $($part,)* $input: OnDevice<$first>, $($other: OnDevice<$part>),*>
            OnDevice<($first, $($part),*)> for ($input, $($other),*) {}
    )*};
}
in_step! {
    A I 0, B J 1;
    A I 0, B J 1, C K 2;
    A I 0, B J 1, C K 2, D L 3;
    A I 0, B J 1, C K 2, D L 3, E M 4;
    A I 0, B J 1, C K 2, D L 3, E M 4, F N 5;
    A I 0, B J 1, C K 2, D L 3, E M 4, F N 5, G O 6;
    A I 0, B J 1, C K 2, D L 3, E M 4, F N 5, G O 6, H P 7;
}

macro_rules! outputs {
    ($([$($generics:tt)*] $type:ty: $place:ident;)*) => {$(
        impl<$($generics)*> sealed::Output<V> for $type {
            fn target(&mut self) -> Target<'_, V> {
                Target::$place(*self)
            }
        }
        impl<$($generics)*> Output<V> for $type {}
    )*};
}
outputs! {
    [V: Value] &mut [V]: Host;
    [V: Value] &mut Vec<V>: Host;
    [V: Value, const N: usize] &mut [V; N]: Host;
    [V: Value] &mut CudaSlice<V::Stored>: Device;
    [V: Value] &mut CudaViewMut<'_, V::Stored>: Device;
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
