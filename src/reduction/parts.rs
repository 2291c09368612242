//! Reductions of many parts of an input, each by itself: what rows and columns share.

#![allow(unsafe_code)]

use cudarc::driver::{CudaSlice, CudaStream};

use super::{Reduction, Slices, Stored};
use crate::cuda::{AllocateOutput, Elements, InputSource, OutputTarget, PrivateStream, SegmentKernel};
use crate::plan::Kernel;
use crate::source::ArraysOf;
use crate::types::Segments;
use crate::{Aggregate, DeviceAggregate, Element, Error, Input, Place, cpu};

/// The segments of an input, by its length.
type ByLength<'a> = &'a dyn Fn(u64) -> Result<Segments, Error>;

/// The arrays of an aggregate's input in device memory.
type Pointers<'a, A> = <<A as Aggregate>::Input as Element>::Pointers<'a>;

impl<A: DeviceAggregate> Reduction<A> {
    /// The result of each segment, in new memory of the input's kind.
    pub(super) fn each_segment<I: Input<A::Input>>(
        &self,
        input: I,
        segments: ByLength<'_>,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        I::Place::allocate_output(input.source(), &EachSegment { reduction: self, segments })
            .map_err(Self::name_operator)
    }

    /// The result of each segment, in given memory of any kind.
    pub(super) fn each_segment_into<I: Input<A::Input>>(
        &self,
        input: I,
        segments: ByLength<'_>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        match input.source() {
            InputSource::Host(slices) => self.host_into(slices, segments, output),
            InputSource::Device(pointers) => self.device_into(pointers, segments, output),
        }
        .map_err(Self::name_operator)
    }

    /// Records the reduction of each segment into the graph that the input's stream captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`record_into`](Self::record_into).
    pub(super) unsafe fn record_each_segment_into<I: Input<A::Input>>(
        &self,
        input: I,
        segments: ByLength<'_>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        match (self.device.backend()?.gpu(), input.source(), output) {
            (Some(stream), InputSource::Device(pointers), OutputTarget::Device(places)) => {
                let arrays = Self::arrays(pointers)?;
                let segments = segments_of::<A>(segments, arrays.length())?;
                check_places(segments.count, places.len())?;
                let operator = self.operator(Some(segments.length));
                // SAFETY: the caller keeps the contract of this function.
                unsafe { self.segment_kernel(stream)?.record_into(&operator, segments, arrays, places) }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
        .map_err(Self::name_operator)
    }

    /// Compiles and loads kernels, and creates the workspace of the device's stream.
    pub(super) fn compile_kernels(&self, kernels: &[Kernel]) -> Result<(), Error> {
        match self.device.backend()?.gpu() {
            None => Ok(()),
            Some(stream) => {
                self.segment_kernel(stream)?.reserve::<A::Operator, ArraysOf<A::Preparation>>(kernels, stream)
            }
        }
    }

    fn host_into(
        &self,
        slices: Slices<'_, A>,
        segments: ByLength<'_>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let length = cpu::length_of::<A::Input>(slices)?;
        let segments = segments_of::<A>(segments, length as u64)?;
        check_places(segments.count, output.len())?;
        let output = match output {
            OutputTarget::Host(places) if self.device.keeps_host_on_cpu() => {
                cpu::segments_into(&self.aggregate, slices, segments, places);
                return Ok(());
            }
            output => output,
        };
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else {
            return Err(Error::DeviceInputOnCpu);
        };
        let (kernel, operator) = (self.segment_kernel(stream)?, self.operator(Some(segments.length)));
        let input = (slices, length);
        match output {
            OutputTarget::Host(places) => {
                let (private, results) = kernel
                    .reduce_host::<_, A::Input, A::Preparation, Stored<A>>(&operator, segments, input)?;
                private.download(&results, places)
            }
            OutputTarget::Device(places) => {
                kernel.reduce_host_into::<_, A::Input, A::Preparation, _>(&operator, segments, input, places)
            }
        }
    }

    fn device_into(
        &self,
        pointers: Pointers<'_, A>,
        segments: ByLength<'_>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let arrays = Self::arrays(pointers)?;
        let segments = segments_of::<A>(segments, arrays.length())?;
        check_places(segments.count, output.len())?;
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else {
            return Err(Error::DeviceInputOnCpu);
        };
        let (kernel, operator) = (self.segment_kernel(stream)?, self.operator(Some(segments.length)));
        match output {
            OutputTarget::Host(places) => {
                let private = PrivateStream::take(stream.context())?;
                private.download(&kernel.reduce::<_, _, Stored<A>>(&operator, segments, arrays)?, places)
            }
            OutputTarget::Device(places) => kernel.reduce_into(&operator, segments, arrays, places),
        }
    }

    pub(super) fn segment_kernel(&self, stream: &CudaStream) -> Result<&SegmentKernel, Error> {
        if let Some(kernel) = self.segment_kernel.get() {
            return Ok(kernel);
        }
        let kernel = SegmentKernel::of::<A::Operator, ArraysOf<A::Preparation>>(
            stream.context(),
            self.segment_policy,
        )?;
        Ok(self.segment_kernel.get_or_init(|| kernel))
    }
}

/// Allocates the results of segments and computes them.
struct EachSegment<'a, A> {
    reduction: &'a Reduction<A>,
    segments: ByLength<'a>,
}

impl<A: DeviceAggregate> AllocateOutput<A::Input, A::Output> for EachSegment<'_, A> {
    fn host(&self, slices: Slices<'_, A>) -> Result<Vec<A::Output>, Error> {
        let Self { reduction, segments } = *self;
        let length = cpu::length_of::<A::Input>(slices)?;
        let segments = segments_of::<A>(segments, length as u64)?;
        if reduction.device.keeps_host_on_cpu() {
            return Ok(cpu::segments(&reduction.aggregate, slices, segments));
        }
        let backend = reduction.device.backend()?;
        let Some(stream) = backend.gpu() else { unreachable!("the CPU reduces host memory above") };
        let (private, results) =
            reduction.segment_kernel(stream)?.reduce_host::<_, A::Input, A::Preparation, Stored<A>>(
                &reduction.operator(Some(segments.length)),
                segments,
                (slices, length),
            )?;
        private.download_all(&results)
    }

    fn device(&self, pointers: Pointers<'_, A>) -> Result<CudaSlice<Stored<A>>, Error> {
        let Self { reduction, segments } = *self;
        let backend = reduction.device.backend()?;
        let Some(stream) = backend.gpu() else {
            return Err(Error::DeviceInputOnCpu);
        };
        let arrays = Reduction::<A>::arrays(pointers)?;
        let segments = segments_of::<A>(segments, arrays.length())?;
        let operator = reduction.operator(Some(segments.length));
        reduction.segment_kernel(stream)?.reduce(&operator, segments, arrays)
    }
}

/// The segments of an input of this length, whose results fit into an address space.
fn segments_of<A: DeviceAggregate>(segments: ByLength<'_>, length: u64) -> Result<Segments, Error> {
    let segments = segments(length)?;
    let most = isize::MAX as usize / size_of::<A::Output>().max(size_of::<Stored<A>>()).max(1);
    match usize::try_from(segments.count) {
        Ok(count) if count <= most => Ok(segments),
        count => Err(Error::InputLength { length: count.unwrap_or(usize::MAX), most }),
    }
}

/// Checks that an output has a place for each result.
pub(super) fn check_places(expected: u64, length: usize) -> Result<(), Error> {
    match usize::try_from(expected) {
        Ok(expected) if expected == length => Ok(()),
        expected => Err(Error::OutputLength { expected: expected.unwrap_or(usize::MAX), length }),
    }
}
