//! Reductions of segments that offsets give.

#![allow(unsafe_code)]

use std::ops::Range;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut};

use super::parts::check_places;
use super::{Reduction, Slices, Stored};
use crate::cuda::{
    AllocateOutput, Arrays, CopiedArrays, Elements, InputSource, OutputTarget, PrivateStream, Report,
    Segmented, StreamOrder, count_of, new_slice,
};
use crate::language::AsTheyAre;
use crate::plan::Kernel;
use crate::source::ArraysOf;
use crate::types::Offsets;
use crate::{Aggregate, DeviceAggregate, Element, Error, Input, OnDevice, Output, Place, cpu};

/// The arrays of an aggregate's input in device memory.
type Pointers<'a, A> = <<A as Aggregate>::Input as Element>::Pointers<'a>;

/// The offsets of a call.
type Given<'a, O> = InputSource<'a, O>;

impl<A: DeviceAggregate> Reduction<A> {
    /// Returns the result of each segment of the input, in new memory of the input's kind.
    ///
    /// `offsets` are n + 1 ascending integers: segment i has the elements from offset i to before
    /// offset i + 1. Or `offsets` are a pair of arrays, of the begins and of the ends. Then segments
    /// may have gaps, and may overlap. They are of type `u32`, `i32`, `u64`, `i64` or `usize`, in host
    /// memory or in device memory.
    ///
    /// A segment is its own bracket: its result has the bits of [`run`](Self::run) of the segment
    /// alone. The index that [`Aggregate::prepare`] gets counts from 0 in each segment. An empty
    /// segment has the result of an empty input.
    ///
    /// Memory and streams are those of [`rows`](Self::rows). Offsets of host memory are checked before
    /// anything is computed. If the offsets are in device memory, the call waits for the results.
    /// Nothing outside the input is read. The first call on a GPU compiles the kernel, in about a
    /// second, and [`compile_segments`](Self::compile_segments) does so ahead of time. The operator's
    /// identity is asked for if a segment is empty, and with offsets in device memory.
    ///
    /// # Errors
    ///
    /// - [`Error::WrongSegment`] if offsets descend, are negative, or lie past the end.
    /// - [`Error::NoOffsets`] if there is no offset. No segments have one.
    /// - [`Error::DeviceInputOnCpu`] if the offsets are in device memory, and the input is reduced on
    ///   the CPU.
    /// - The errors of [`run`](Self::run).
    ///
    /// ```
    /// use warpfold::aggregates::Mean;
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let numbers = [1.0, 2.0, 3.0, 4.0, 5.0_f32];
    /// let means = Reduction::<Mean<f32>>::new(Device::auto());
    /// assert_eq!(means.segments(&numbers, &[0_u32, 2, 2, 5])?, [Some(1.5), None, Some(4.0)]);
    ///
    /// // The sums of the first three numbers, and of the last two and three.
    /// let (begins, ends) = ([0_usize, 3, 2], [3_usize, 5, 5]);
    /// let sums = Reduction::<Sum<f32>>::new(Device::auto()).segments(&numbers, (&begins, &ends))?;
    /// assert_eq!(sums, [6.0, 9.0, 12.0]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn segments<I: Input<A::Input>, O: Offsets, J: Input<O>>(
        &self,
        input: I,
        offsets: J,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        let offsets = &offsets.source();
        I::Place::allocate_output(input.source(), &EachSegment { reduction: self, offsets })
            .map_err(Self::name_operator)
    }

    /// Writes the result of each segment to `output`, which has a place for each.
    ///
    /// Input, offsets and output are in host memory or in device memory, each by itself. If all are in
    /// device memory, the work is enqueued on the input's stream, and the call does not wait for it.
    /// So it cannot return the error of a wrong segment, which has the result of an empty one. If
    /// anything is in host memory, the error of wrong offsets comes back with this call.
    ///
    /// # Errors
    ///
    /// - [`Error::OutputLength`] unless the output has as many places as there are segments.
    /// - The errors of [`segments`](Self::segments).
    ///
    /// After an error the output is unspecified.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Max};
    ///
    /// let mut largest = [0; 2];
    /// let max = Reduction::<Max<u32>>::new(Device::auto());
    /// max.segments_into(&[3, 1, 4, 1, 5, 9], &[0_u64, 4, 6], &mut largest)?;
    /// assert_eq!(largest, [4, 9]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn segments_into<I: Input<A::Input>, O: Offsets, J: Input<O>, P: Output<A::Output>>(
        &self,
        input: I,
        offsets: J,
        mut output: P,
    ) -> Result<(), Error> {
        let offsets = &offsets.source();
        match (input.source(), output.target()) {
            (InputSource::Host(slices), OutputTarget::Host(places)) => {
                self.host_to_host(slices, offsets, places)
            }
            (InputSource::Host(slices), OutputTarget::Device(places)) => {
                let length = cpu::length_of::<A::Input>(slices)?;
                check_places(checked(offsets, length as u64)?, places.len())?;
                let backend = self.device.backend()?;
                let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
                let private = PrivateStream::take(stream.context())?;
                let elements = CopiedArrays::<A::Preparation>::of::<A::Input>(&private, slices, length)?;
                let enqueued = self.enqueue_checked(stream, elements, offsets, places);
                // Waits after a failure, too: the next call that takes this stream does not wait for
                // this work.
                let waited = private.wait("waiting for the reduction");
                enqueued.and(waited)
            }
            (InputSource::Device(pointers), output) => {
                let arrays = Self::arrays(pointers)?;
                check_places(checked(offsets, arrays.length())?, output.len())?;
                let backend = self.device.backend()?;
                let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
                match output {
                    OutputTarget::Device(places) => self.enqueue(stream, arrays, offsets, places, None),
                    OutputTarget::Host(places) => {
                        let private = PrivateStream::take(stream.context())?;
                        private.download(&self.in_new_slice(stream, arrays, offsets)?, places)
                    }
                }
            }
        }
        .map_err(Self::name_operator)
    }

    /// Records the reduction of each segment into the CUDA graph that the input's stream is capturing.
    ///
    /// Each launch of the graph reads the input and the offsets anew, and writes its results to the
    /// output. A wrong segment has the result of an empty one, and no call returns an error. A missing
    /// kernel is compiled by this call.
    ///
    /// # Errors
    ///
    /// - [`Error::StreamIsNotCapturing`] if the input's stream does not record a graph.
    /// - The errors of [`segments_into`](Self::segments_into), except [`Error::StreamIsCapturing`] and
    ///   [`Error::WrongSegment`].
    ///
    /// # Safety
    ///
    /// The conditions of [`record_into`](Self::record_into), where the offsets are a part of the
    /// input.
    ///
    /// ```no_run
    /// use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let device = Device::cuda(0)?;
    /// let stream = device.stream().expect("the device is a GPU").context().new_stream()?;
    /// let numbers = stream.clone_htod(&vec![1.0_f32; 6])?;
    /// let offsets = stream.clone_htod(&[0_u32, 1, 6])?;
    /// let mut sums = stream.alloc_zeros::<f32>(2)?;
    /// let sum = Reduction::<Sum<f32>>::new(stream.clone());
    /// sum.compile_segments()?;
    ///
    /// stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
    /// // SAFETY: the slices outlive the graph, which is launched once and alone.
    /// unsafe { sum.record_segments_into(&numbers, &offsets, &mut sums)? };
    /// let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    /// let graph = stream.end_capture(flags)?.expect("the capture has a launch");
    /// graph.launch()?;
    /// assert_eq!(stream.clone_dtoh(&sums)?, [1.0, 5.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub unsafe fn record_segments_into<I, O, J, P>(
        &self,
        input: I,
        offsets: J,
        mut output: P,
    ) -> Result<(), Error>
    where
        I: Input<A::Input> + OnDevice<A::Input>,
        O: Offsets,
        J: Input<O> + OnDevice<O>,
        P: Output<A::Output> + OnDevice<Stored<A>>,
    {
        match (self.device.backend()?.gpu(), input.source(), offsets.source(), output.target()) {
            (
                Some(stream),
                InputSource::Device(pointers),
                InputSource::Device(offsets),
                OutputTarget::Device(places),
            ) => {
                let bounds = Arrays::<O, AsTheyAre>::of(offsets)?;
                let segmented = Segmented::of::<O>(Self::arrays(pointers)?, bounds, true)?;
                check_places(segmented.count, places.len())?;
                // SAFETY: the caller keeps the contract of this function.
                unsafe {
                    self.segment_kernel(stream)?.record_by_offsets_into(
                        &self.operator(Some(0)),
                        segmented,
                        places,
                    )
                }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
        .map_err(Self::name_operator)
    }

    /// Compiles and loads the kernel of [`segments`](Self::segments), and creates the workspace of the
    /// device's stream. On the CPU the call does nothing.
    ///
    /// # Errors
    ///
    /// The errors of [`compile`](Self::compile).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Min};
    ///
    /// Reduction::<Min<u16>>::new(Device::auto()).compile_segments()?;
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn compile_segments(&self) -> Result<(), Error> {
        self.compile_kernels(&[Kernel::ByOffsets])
    }

    fn host_to_host<O: Offsets>(
        &self,
        slices: Slices<'_, A>,
        offsets: &Given<'_, O>,
        places: &mut [A::Output],
    ) -> Result<(), Error> {
        let length = cpu::length_of::<A::Input>(slices)?;
        if let (InputSource::Host(offsets), true) = (offsets, self.device.keeps_host_on_cpu()) {
            check_places(checked_on_host::<O>(*offsets, length as u64)?, places.len())?;
            let range_of = |segment| range_of::<O>(*offsets, segment);
            cpu::ranges_into(&self.aggregate, slices, range_of, places);
            return Ok(());
        }
        check_places(checked(offsets, length as u64)?, places.len())?;
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
        let private = PrivateStream::take(stream.context())?;
        let elements = CopiedArrays::<A::Preparation>::of::<A::Input>(&private, slices, length)?;
        private.download(&self.in_new_slice(stream, elements, offsets)?, places)
    }

    /// Enqueues the reduction of segments of device memory.
    fn enqueue<O: Offsets>(
        &self,
        stream: &CudaStream,
        elements: impl Elements<Reader = ArraysOf<A::Preparation>>,
        offsets: &Given<'_, O>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
        report: Option<&Report>,
    ) -> Result<(), Error> {
        let (kernel, operator) = (self.segment_kernel(stream)?, self.operator(Some(0)));
        match offsets {
            InputSource::Device(offsets) => {
                let bounds = Arrays::<O, AsTheyAre>::of(*offsets)?;
                let segmented = Segmented::of::<O>(elements, bounds, true)?;
                kernel.by_offsets_into(&operator, segmented, places, report)
            }
            InputSource::Host(offsets) => {
                let private = PrivateStream::take(stream.context())?;
                let length = cpu::length_of::<O>(*offsets)?;
                let on = elements.stream().clone();
                let bounds = CopiedArrays::<AsTheyAre>::for_stream::<O>(&private, &on, *offsets, length)?;
                let may_be_empty = has_empty::<O>(*offsets)?;
                let segmented = Segmented::of::<O>(elements, bounds, may_be_empty)?;
                kernel.by_offsets_into(&operator, segmented, places, report)
            }
        }
    }

    /// As [`enqueue`](Self::enqueue). If only the kernel can tell whether the offsets are right, waits
    /// for it.
    fn enqueue_checked<O: Offsets>(
        &self,
        stream: &CudaStream,
        elements: impl Elements<Reader = ArraysOf<A::Preparation>>,
        offsets: &Given<'_, O>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
    ) -> Result<(), Error> {
        if let InputSource::Host(_) = offsets {
            return self.enqueue(stream, elements, offsets, places, None);
        }
        elements.order(stream.context(), StreamOrder::None)?;
        let report = Report::new(elements.stream(), elements.length())?;
        self.enqueue(stream, elements, offsets, places, Some(&report))?;
        report.wait()
    }

    /// The results in new device memory.
    fn in_new_slice<O: Offsets>(
        &self,
        stream: &CudaStream,
        elements: impl Elements<Reader = ArraysOf<A::Preparation>>,
        offsets: &Given<'_, O>,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        elements.order(stream.context(), StreamOrder::None)?;
        let count = checked(offsets, elements.length())? as usize;
        let mut results = new_slice(count, elements.stream())?;
        self.enqueue_checked(stream, elements, offsets, &mut results)?;
        Ok(results)
    }
}

/// The number of segments, after a check of offsets in host memory.
fn checked<O: Offsets>(offsets: &Given<'_, O>, length: u64) -> Result<u64, Error> {
    match offsets {
        InputSource::Host(slices) => checked_on_host::<O>(*slices, length),
        InputSource::Device(pointers) => count_of::<O>(Arrays::<O, AsTheyAre>::of(*pointers)?.length()),
    }
}

/// The number of segments, each of which is a part of the input.
fn checked_on_host<O: Offsets>(slices: O::Slices<'_>, length: u64) -> Result<u64, Error> {
    let count = count_of::<O>(cpu::length_of::<O>(slices)? as u64)?;
    let is_right = |segment| match O::bounds(slices, segment) {
        (Some(begin), Some(end)) => begin <= end && end <= length,
        _ => false,
    };
    match cpu::first_wrong(count as usize, &is_right) {
        None => Ok(count),
        Some(segment) => Err(Error::WrongSegment { segment: segment as u64, length }),
    }
}

/// Whether some segment has no elements.
fn has_empty<O: Offsets>(slices: O::Slices<'_>) -> Result<bool, Error> {
    let count = count_of::<O>(cpu::length_of::<O>(slices)? as u64)?;
    let is_not_empty = |segment| !range_of::<O>(slices, segment).is_empty();
    Ok(cpu::first_wrong(count as usize, &is_not_empty).is_some())
}

/// The elements of a segment, which is a part of the input.
#[inline]
fn range_of<O: Offsets>(slices: O::Slices<'_>, segment: usize) -> Range<usize> {
    let (begin, end) = O::bounds(slices, segment);
    begin.unwrap_or(0) as usize..end.unwrap_or(0) as usize
}

/// Allocates the results of segments and computes them.
struct EachSegment<'a, 'o, A, O: Offsets> {
    reduction: &'a Reduction<A>,
    offsets: &'a Given<'o, O>,
}

impl<A: DeviceAggregate, O: Offsets> AllocateOutput<A::Input, A::Output> for EachSegment<'_, '_, A, O> {
    fn host(&self, slices: Slices<'_, A>) -> Result<Vec<A::Output>, Error> {
        let Self { reduction, offsets } = *self;
        let length = cpu::length_of::<A::Input>(slices)?;
        if let (InputSource::Host(offsets), true) = (offsets, reduction.device.keeps_host_on_cpu()) {
            let count = checked_on_host::<O>(*offsets, length as u64)?;
            let range_of = |segment| range_of::<O>(*offsets, segment);
            return Ok(cpu::ranges(&reduction.aggregate, slices, count as usize, range_of));
        }
        let backend = reduction.device.backend()?;
        let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
        let private = PrivateStream::take(stream.context())?;
        let elements = CopiedArrays::<A::Preparation>::of::<A::Input>(&private, slices, length)?;
        private.download_all(&reduction.in_new_slice(stream, elements, offsets)?)
    }

    fn device(&self, pointers: Pointers<'_, A>) -> Result<CudaSlice<Stored<A>>, Error> {
        let Self { reduction, offsets } = *self;
        let backend = reduction.device.backend()?;
        let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
        reduction.in_new_slice(stream, Reduction::<A>::arrays(pointers)?, offsets)
    }
}
