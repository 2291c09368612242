//! Reductions of segments that offsets give.

#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ops::Range;

use cudarc::driver::DevicePtrMut;

use super::parts::Division;
use super::{Reduction, Stored};
use crate::cuda::{
    Arrays, CopiedArrays, Elements, InputSource, PrivateStream, Report, SegmentKernel, Segmented, count_of,
};
use crate::plan::Kernel;
use crate::source::ReaderOf;
use crate::types::{Arrangement, AsTheyAre, Offsets};
use crate::{DeviceAggregate, Error, Explanation, Input, OnDevice, Output, Place, cpu};

impl<A: DeviceAggregate> Reduction<A> {
    /// Returns the result of each segment of the input, in new memory of the input's kind.
    ///
    /// `offsets` are n + 1 ascending integers: segment i has the elements from offset i to before
    /// offset i + 1. Or `offsets` are a pair of arrays, of the begins and of the ends. Then segments
    /// may have gaps, and may overlap. They are of type `u32`, `i32`, `u64`, `i64` or `usize`, in host
    /// memory or in device memory.
    ///
    /// A segment is its own bracket: its result has the bits of [`run`](Self::run) of the segment
    /// alone. The index that [`Aggregate::prepare`](crate::Aggregate::prepare) gets counts from 0 in each
    /// segment. An empty segment has the result of an empty input.
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
        self.each_part(input, &Given::<O, J::Arrangement>::of(offsets.source()))
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
        self.each_part_into(input, &Given::<O, J::Arrangement>::of(offsets.source()), output.target())
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
        // SAFETY: the caller keeps the contract of this function.
        unsafe {
            self.record_each_part_into(
                input,
                &Given::<O, J::Arrangement>::of(offsets.source()),
                output.target(),
            )
        }
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

    /// What [`segments`](Self::segments) launches for `segments` segments of `length` elements in
    /// device memory. Compiles missing kernels. On the CPU there are no launches.
    ///
    /// Where segments may be long, the first launch lists their parts, and two more reduce them. These
    /// two are explained with the most items that they can have.
    ///
    /// # Errors
    ///
    /// The errors of [`explain`](Self::explain).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let explanation = Reduction::<Sum<f32>>::new(Device::auto()).explain_segments(1 << 20, 1000)?;
    /// println!("{explanation}");
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn explain_segments(&self, length: usize, segments: usize) -> Result<Explanation, Error> {
        let (length, segments) = (length as u64, segments as u64);
        self.explained(length, |stream| {
            let kernel = self.segment_kernel::<A::Arrangement>(stream)?;
            kernel.explain_by_offsets::<A::Operator, ReaderOf<A>>(segments, length)
        })
    }
}

/// The offsets of a call.
struct Given<'a, O, Q: Arrangement>(InputSource<'a, Q>, PhantomData<fn() -> O>);

impl<'a, O: Offsets, Q: Arrangement<Element = O>> Given<'a, O, Q> {
    fn of(offsets: InputSource<'a, Q>) -> Self {
        const {
            assert!(
                Q::COUNT == 1 + O::IN_PAIRS as usize,
                "begins and ends of segments are two arrays, and not one of pairs"
            );
        }
        Self(offsets, PhantomData)
    }
}

// SAFETY: `cpu::ranges` writes every place.
unsafe impl<A: DeviceAggregate, O: Offsets, Q: Arrangement<Element = O>> Division<A> for Given<'_, O, Q> {
    fn count(&self, length: u64) -> Result<u64, Error> {
        let slices = match &self.0 {
            InputSource::Host(slices) => *slices,
            InputSource::Device(pointers) => {
                return count_of::<O>(Arrays::<Q, AsTheyAre>::of(*pointers)?.length());
            }
        };
        let count = count_of::<O>(cpu::length_of::<Q>(slices)? as u64)?;
        let is_right = |segment| match O::bounds::<Q>(slices, segment) {
            (Some(begin), Some(end)) => begin <= end && end <= length,
            _ => false,
        };
        match cpu::first_wrong(count as usize, &is_right) {
            None => Ok(count),
            Some(segment) => Err(Error::WrongSegment { segment: segment as u64, length }),
        }
    }

    fn is_on_host(&self) -> bool {
        matches!(self.0, InputSource::Host(_))
    }

    fn reduce_on_cpu<R: Arrangement<Element = A::Input>>(
        &self,
        aggregate: &A,
        slices: R::Slices<'_>,
        places: &mut [MaybeUninit<A::Output>],
    ) {
        let InputSource::Host(offsets) = self.0 else { unreachable!("offsets are on the host") };
        cpu::ranges::<A, R>(aggregate, slices, |segment| range_of::<O, Q>(offsets, segment), places);
    }

    fn enqueue<R: Arrangement<Element = A::Input>>(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ReaderOf<A, R>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
        waits: bool,
    ) -> Result<(), Error> {
        let operator = reduction.operator(Some(0));
        let stream = elements.stream().clone();
        match self.0 {
            InputSource::Device(offsets) => {
                let report = waits.then(|| Report::new(&stream, elements.length())).transpose()?;
                let bounds = Arrays::<Q, AsTheyAre>::of(offsets)?;
                let segmented = Segmented::of::<O>(elements, bounds, true)?;
                kernel.by_offsets_into(&operator, segmented, places, report.as_ref())?;
                report.map_or(Ok(()), Report::wait)
            }
            InputSource::Host(offsets) => {
                let private = PrivateStream::take(stream.context())?;
                let length = cpu::length_of::<Q>(offsets)?;
                let bounds = CopiedArrays::<AsTheyAre>::for_stream::<Q>(&private, &stream, offsets, length)?;
                let is_not_empty = |segment| !range_of::<O, Q>(offsets, segment).is_empty();
                let count = count_of::<O>(length as u64)? as usize;
                let may_be_empty = cpu::first_wrong(count, &is_not_empty).is_some();
                let segmented = Segmented::of::<O>(elements, bounds, may_be_empty)?;
                kernel.by_offsets_into(&operator, segmented, places, None)
            }
        }
    }

    unsafe fn record<R: Arrangement<Element = A::Input>>(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ReaderOf<A, R>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
    ) -> Result<(), Error> {
        let InputSource::Device(offsets) = self.0 else { return Err(Error::DeviceInputOnCpu) };
        let segmented = Segmented::of::<O>(elements, Arrays::<Q, AsTheyAre>::of(offsets)?, true)?;
        // SAFETY: the caller keeps the contract of this function.
        unsafe { kernel.record_by_offsets_into(&reduction.operator(Some(0)), segmented, places) }
    }
}

/// The elements of a segment, which is a part of the input.
#[inline]
fn range_of<O: Offsets, Q: Arrangement<Element = O>>(slices: Q::Slices<'_>, segment: usize) -> Range<usize> {
    let (begin, end) = O::bounds::<Q>(slices, segment);
    begin.unwrap_or(0) as usize..end.unwrap_or(0) as usize
}
