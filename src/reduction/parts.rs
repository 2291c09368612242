//! Reductions of many parts of an input, each by itself: what rows, columns and segments share.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaSlice, CudaStream, DevicePtrMut};

use super::{Reduction, Stored};
use crate::cuda::{
    AllocateOutput, CopiedArrays, Elements, InputSource, OutputTarget, PrivateStream, SegmentKernel,
    StreamOrder, new_slice,
};
use crate::plan::{Kernel, SegmentPolicy};
use crate::source::{ReaderOf, data_of, is_default};
use crate::types::Arrangement;
use crate::{DeviceAggregate, Error, Input, Place, cpu};

/// A division of an input into parts.
///
/// # Safety
///
/// [`reduce_on_cpu`](Self::reduce_on_cpu) writes every place, if there are as many as
/// [`count`](Self::count) says.
pub(super) unsafe trait Division<A: DeviceAggregate> {
    /// How many parts an input of this length has. The call checks what the host can check.
    fn count(&self, length: u64) -> Result<u64, Error>;

    /// Whether the CPU can read the division.
    fn is_on_host(&self) -> bool;

    /// Writes the result of each part of host memory. The division is on the host, and was checked.
    fn reduce_on_cpu<R: Arrangement<Element = A::Input>>(
        &self,
        aggregate: &A,
        slices: R::Slices<'_>,
        places: &mut [MaybeUninit<A::Output>],
    );

    /// Enqueues the reduction of each part on the stream of the elements. With `waits`, returns the
    /// errors that only a kernel can find.
    fn enqueue<R: Arrangement<Element = A::Input>>(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ReaderOf<A, R>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
        waits: bool,
    ) -> Result<(), Error>;

    /// Records the reduction of each part into the graph that the stream of the elements captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`Reduction::record_into`].
    unsafe fn record<R: Arrangement<Element = A::Input>>(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ReaderOf<A, R>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
    ) -> Result<(), Error>;
}

impl<A: DeviceAggregate> Reduction<A> {
    /// The result of each part, in new memory of the input's kind.
    pub(super) fn each_part<I: Input<A::Input>>(
        &self,
        input: I,
        division: &impl Division<A>,
    ) -> Result<<I::Place as Place>::Memory<A::Output>, Error> {
        I::Place::allocate_output::<I::Arrangement, _>(
            input.source(),
            &EachPart { reduction: self, division },
        )
        .map_err(Self::name_operator)
    }

    /// The result of each part, in given memory of any kind.
    pub(super) fn each_part_into<I: Input<A::Input>>(
        &self,
        input: I,
        division: &impl Division<A>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        match input.source() {
            InputSource::Host(slices) => self.host_into::<I::Arrangement>(slices, division, output),
            InputSource::Device(pointers) => self.device_into::<I::Arrangement>(pointers, division, output),
        }
        .map_err(Self::name_operator)
    }

    /// Records the reduction of each part into the graph that the input's stream captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`record_into`](Self::record_into).
    pub(super) unsafe fn record_each_part_into<I: Input<A::Input>>(
        &self,
        input: I,
        division: &impl Division<A>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        match (self.device.backend()?.gpu(), input.source(), output) {
            (Some(stream), InputSource::Device(pointers), OutputTarget::Device(places)) => {
                let arrays = Self::arrays::<I::Arrangement>(pointers)?;
                check_places(count_of(division, arrays.length())?, places.len())?;
                // SAFETY: the caller keeps the contract of this function.
                unsafe {
                    division.record::<I::Arrangement>(
                        self,
                        &*self.segment_kernel::<I::Arrangement>(stream)?,
                        arrays,
                        places,
                    )
                }
            }
            _ => Err(Error::DeviceInputOnCpu),
        }
        .map_err(Self::name_operator)
    }

    /// Compiles and loads kernels, and creates the workspace of the device's stream.
    pub(super) fn compile_kernels(&self, kernels: &[Kernel]) -> Result<(), Error> {
        match self.device.backend()?.gpu() {
            None => Ok(()),
            Some(stream) => self
                .segment_kernel::<A::Arrangement>(stream)?
                .reserve::<A::Operator, ReaderOf<A>>(kernels, stream),
        }
    }

    fn host_into<R: Arrangement<Element = A::Input>>(
        &self,
        slices: R::Slices<'_>,
        division: &impl Division<A>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let length = cpu::length_of::<R>(slices)?;
        let count = count_of(division, length as u64)?;
        check_places(count, output.len())?;
        let output = match output {
            OutputTarget::Host(places) if self.device.keeps_host_on_cpu() && division.is_on_host() => {
                // SAFETY: a division writes results only.
                let places = unsafe { cpu::as_places(places) };
                division.reduce_on_cpu::<R>(&self.aggregate, slices, places);
                return Ok(());
            }
            output => output,
        };
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
        let private = PrivateStream::take(stream.context())?;
        let copied = CopiedArrays::<A::Preparation<R>>::of::<R>(&private, slices, length);
        match output {
            OutputTarget::Host(places) => {
                private.download(&self.in_new_slice::<R>(stream, copied?, division, count)?, places)
            }
            OutputTarget::Device(places) => {
                let kernel = self.segment_kernel::<R>(stream)?;
                let reduced =
                    copied.and_then(|elements| division.enqueue::<R>(self, &kernel, elements, places, true));
                // Waits after a failure, too: the next call that takes this stream does not wait for
                // this work.
                let waited = private.wait("waiting for the reduction");
                reduced.and(waited)
            }
        }
    }

    fn device_into<R: Arrangement<Element = A::Input>>(
        &self,
        pointers: R::Pointers<'_>,
        division: &impl Division<A>,
        output: OutputTarget<'_, A::Output>,
    ) -> Result<(), Error> {
        let arrays = Self::arrays::<R>(pointers)?;
        let count = count_of(division, arrays.length())?;
        check_places(count, output.len())?;
        let backend = self.device.backend()?;
        let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
        match output {
            OutputTarget::Host(places) => {
                let private = PrivateStream::take(stream.context())?;
                private.download(&self.in_new_slice::<R>(stream, arrays, division, count)?, places)
            }
            OutputTarget::Device(places) => {
                division.enqueue::<R>(self, &*self.segment_kernel::<R>(stream)?, arrays, places, false)
            }
        }
    }

    /// The results of `count` parts in new device memory, in the order of the elements' stream.
    fn in_new_slice<R: Arrangement<Element = A::Input>>(
        &self,
        stream: &CudaStream,
        elements: impl Elements<Reader = ReaderOf<A, R>>,
        division: &impl Division<A>,
        count: u64,
    ) -> Result<CudaSlice<Stored<A>>, Error> {
        // Before the allocation, which another context would make.
        elements.order(stream.context(), StreamOrder::None)?;
        let mut results = new_slice(count as usize, elements.stream())?;
        division.enqueue::<R>(self, &*self.segment_kernel::<R>(stream)?, elements, &mut results, true)?;
        Ok(results)
    }

    pub(super) fn segment_kernel<R: Arrangement<Element = A::Input>>(
        &self,
        stream: &CudaStream,
    ) -> Result<Arc<SegmentKernel>, Error> {
        self.segment_kernel.get::<A, R>(|| {
            let policy = match is_default::<A, R>() {
                true => self.segment_policy,
                false => SegmentPolicy::for_data(&data_of::<A::Operator, ReaderOf<A, R>>()),
            };
            SegmentKernel::of::<A::Operator, ReaderOf<A, R>>(stream.context(), policy)
        })
    }
}

/// Allocates the results of parts and computes them.
struct EachPart<'a, A, D> {
    reduction: &'a Reduction<A>,
    division: &'a D,
}

impl<A, D, R> AllocateOutput<R, A::Output> for EachPart<'_, A, D>
where
    A: DeviceAggregate,
    D: Division<A>,
    R: Arrangement<Element = A::Input>,
{
    fn host(&self, slices: R::Slices<'_>) -> Result<Vec<A::Output>, Error> {
        let Self { reduction, division } = *self;
        let length = cpu::length_of::<R>(slices)?;
        let count = count_of(division, length as u64)?;
        if reduction.device.keeps_host_on_cpu() && division.is_on_host() {
            let mut results = Vec::with_capacity(count as usize);
            let places = &mut results.spare_capacity_mut()[..count as usize];
            division.reduce_on_cpu::<R>(&reduction.aggregate, slices, places);
            // SAFETY: a division writes every place.
            unsafe { results.set_len(count as usize) };
            return Ok(results);
        }
        let backend = reduction.device.backend()?;
        let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
        let private = PrivateStream::take(stream.context())?;
        let elements = CopiedArrays::<A::Preparation<R>>::of::<R>(&private, slices, length)?;
        private.download_all(&reduction.in_new_slice::<R>(stream, elements, division, count)?)
    }

    fn device(&self, pointers: R::Pointers<'_>) -> Result<CudaSlice<Stored<A>>, Error> {
        let Self { reduction, division } = *self;
        let backend = reduction.device.backend()?;
        let Some(stream) = backend.gpu() else { return Err(Error::DeviceInputOnCpu) };
        let arrays = Reduction::<A>::arrays::<R>(pointers)?;
        let count = count_of(division, arrays.length())?;
        reduction.in_new_slice::<R>(stream, arrays, division, count)
    }
}

/// The number of parts, whose results fit into an address space.
fn count_of<A: DeviceAggregate>(division: &impl Division<A>, length: u64) -> Result<u64, Error> {
    let count = division.count(length)?;
    let most = isize::MAX as usize / size_of::<A::Output>().max(size_of::<Stored<A>>()).max(1);
    match usize::try_from(count) {
        Ok(fitting) if fitting <= most => Ok(count),
        length => Err(Error::InputLength { length: length.unwrap_or(usize::MAX), most }),
    }
}

/// Checks that an output has a place for each result.
fn check_places(expected: u64, length: usize) -> Result<(), Error> {
    match usize::try_from(expected) {
        Ok(expected) if expected == length => Ok(()),
        expected => Err(Error::OutputLength { expected: expected.unwrap_or(usize::MAX), length }),
    }
}
