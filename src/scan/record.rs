//! Scans that are recorded into a CUDA graph.

#![allow(unsafe_code)]

use super::Scan;
use super::run::{Stored, check_output};
use crate::cuda::{Elements, InputSource, OutputTarget};
use crate::tree::Prefix;
use crate::types::Array;
use crate::{DeviceAggregate, DeviceMonoid, Error, Input, Monoid, OnDevice, Output, Value};

impl<A: DeviceAggregate> Scan<A> {
    /// Records an [inclusive](Self::inclusive) scan into the CUDA graph that the input's stream is
    /// capturing.
    ///
    /// Each launch of the graph reads the input anew. The kernel is compiled by this call unless
    /// [`compile`](Self::compile) has compiled it.
    ///
    /// # Errors
    ///
    /// - [`Error::StreamIsNotCapturing`] if the input's stream does not record a graph.
    /// - The errors of [`inclusive_into`](Self::inclusive_into), except
    ///   [`Error::StreamIsCapturing`].
    /// - [`Error::DeviceInputOnCpu`] if the device is the CPU.
    ///
    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`](crate::Reduction::record_into).
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").context().new_stream()?;
    /// let numbers = stream.clone_htod(&[3_u32, 1, 4])?;
    /// let mut scanned = stream.alloc_zeros::<u32>(3)?;
    /// let sums = Scan::<Sum<u32>>::new(stream.clone());
    /// sums.compile()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: `numbers` and `scanned` outlive the graph, which is launched once and alone.
    /// unsafe { sums.record_inclusive_into(&numbers, &mut scanned)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// graph.launch()?;
    /// assert_eq!(stream.clone_dtoh(&scanned)?, [3, 4, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_inclusive_into<I, O>(&self, input: I, output: O) -> Result<(), Error>
    where
        I: Input<A::Input> + OnDevice<A::Input>,
        O: Output<A::Output> + OnDevice<Stored<A>>,
    {
        // SAFETY: the caller keeps the contract of this function.
        unsafe { self.record_into(Prefix::Inclusive, input, output) }
    }

    /// Records an [exclusive](Self::exclusive) scan into the CUDA graph that the input's stream is
    /// capturing, as [`record_inclusive_into`](Self::record_inclusive_into) does.
    ///
    /// # Errors
    ///
    /// The errors of [`record_inclusive_into`](Self::record_inclusive_into).
    ///
    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`](crate::Reduction::record_into).
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").context().new_stream()?;
    /// let numbers = stream.clone_htod(&[3_u32, 1, 4])?;
    /// let mut scanned = stream.alloc_zeros::<u32>(3)?;
    /// let sums = Scan::<Sum<u32>>::new(stream.clone());
    /// sums.compile()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: `numbers` and `scanned` outlive the graph, which is launched once and alone.
    /// unsafe { sums.record_exclusive_into(&numbers, &mut scanned)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// graph.launch()?;
    /// assert_eq!(stream.clone_dtoh(&scanned)?, [0, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_exclusive_into<I, O>(&self, input: I, output: O) -> Result<(), Error>
    where
        I: Input<A::Input> + OnDevice<A::Input>,
        O: Output<A::Output> + OnDevice<Stored<A>>,
    {
        // SAFETY: the caller keeps the contract of this function.
        unsafe { self.record_into(Prefix::Exclusive, input, output) }
    }

    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`](crate::Reduction::record_into).
    unsafe fn record_into<I: Input<A::Input>, O: Output<A::Output>>(
        &self,
        prefix: Prefix,
        input: I,
        mut output: O,
    ) -> Result<(), Error> {
        let (InputSource::Device(pointers), OutputTarget::Device(places)) = (input.source(), output.target())
        else {
            return Err(Error::DeviceInputOnCpu);
        };
        let arrays = Self::arrays::<I::Arrangement>(pointers)?;
        check_output(arrays.length() as usize, &OutputTarget::<A::Output>::Device(&mut *places))?;
        match self.device.backend()?.gpu() {
            None => Err(Error::DeviceInputOnCpu),
            // SAFETY: the caller keeps the contract of this function.
            Some(stream) => unsafe {
                self.kernel::<I::Arrangement>(stream)?.record_into(
                    &self.aggregate.operator(),
                    prefix,
                    arrays,
                    places,
                )
            },
        }
        .map_err(Self::name_operator)
    }
}

impl<M: DeviceMonoid<Item: Value<Stored = <M as Monoid>::Item>>> Scan<M> {
    /// Records an [inclusive](Self::inclusive) scan in place into the CUDA graph that the items'
    /// stream is capturing.
    ///
    /// # Errors
    ///
    /// The errors of [`record_inclusive_into`](Self::record_inclusive_into).
    ///
    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`](crate::Reduction::record_into), where the items
    /// are both input and output.
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").context().new_stream()?;
    /// let mut numbers = stream.clone_htod(&[3_u32, 1, 4])?;
    /// let sums = Scan::<Sum<u32>>::new(stream.clone());
    /// sums.compile()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: `numbers` outlives the graph, which is launched once and alone.
    /// unsafe { sums.record_inclusive_in_place(&mut numbers)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// graph.launch()?;
    /// assert_eq!(stream.clone_dtoh(&numbers)?, [3, 4, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_inclusive_in_place<O>(&self, items: O) -> Result<(), Error>
    where
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        // SAFETY: the caller keeps the contract of this function.
        unsafe { self.record_in_place(Prefix::Inclusive, items) }
    }

    /// Records an [exclusive](Self::exclusive) scan in place into the CUDA graph that the items'
    /// stream is capturing.
    ///
    /// # Errors
    ///
    /// The errors of [`record_inclusive_into`](Self::record_inclusive_into).
    ///
    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`](crate::Reduction::record_into), where the items
    /// are both input and output.
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    /// use warpfold::{Device, Scan, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").context().new_stream()?;
    /// let mut numbers = stream.clone_htod(&[3_u32, 1, 4])?;
    /// let sums = Scan::<Sum<u32>>::new(stream.clone());
    /// sums.compile()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: `numbers` outlives the graph, which is launched once and alone.
    /// unsafe { sums.record_exclusive_in_place(&mut numbers)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// graph.launch()?;
    /// assert_eq!(stream.clone_dtoh(&numbers)?, [0, 3, 4]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_exclusive_in_place<O>(&self, items: O) -> Result<(), Error>
    where
        O: Output<M::Item> + OnDevice<M::Item>,
    {
        // SAFETY: the caller keeps the contract of this function.
        unsafe { self.record_in_place(Prefix::Exclusive, items) }
    }

    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`](crate::Reduction::record_into).
    unsafe fn record_in_place<O: Output<M::Item>>(&self, prefix: Prefix, mut items: O) -> Result<(), Error> {
        match (self.device.backend()?.gpu(), items.target()) {
            (Some(stream), OutputTarget::Device(items)) => {
                // SAFETY: the caller keeps the contract of this function.
                unsafe {
                    self.kernel::<Array<M::Item>>(stream)?.record_in_place(
                        &self.aggregate.operator(),
                        prefix,
                        items,
                    )
                }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
        .map_err(Self::name_operator)
    }
}
