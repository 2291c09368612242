//! The launch of a reduction of segments that offsets give.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut};

use super::SegmentKernel;
use crate::cuda::driver::{check, check_capturing, check_context, check_not_capturing};
use crate::cuda::host::PrivateStream;
use crate::cuda::kernels::{Blocks, identity_if};
use crate::cuda::launch_graph::Queue;
use crate::cuda::read::{Elements, InputOf, MAX_ARRAYS, StreamOrder};
use crate::cuda::scratch::ScratchRequest;
use crate::cuda::slices::{Addresses, Slices};
use crate::plan::{Kernel, OffsetPlan, Stage};
use crate::source::{ArrayInput, ArrayOfItems, OffsetArguments, Reader};
use crate::types::{Offset, Offsets};
use crate::{DeviceMonoid, Error, Layout};

/// Where in the header of the lists a kernel reports a wrong segment if nobody reads the report.
const UNREAD_REPORT: u64 = 64;

/// The memory to which the kernel of one call reports a wrong segment.
pub(crate) struct Report {
    memory: CudaSlice<u64>,
    length: u64,
}

impl Report {
    /// For a call on a stream, with an input of this length.
    pub(crate) fn new(stream: &Arc<CudaStream>, length: u64) -> Result<Self, Error> {
        check_not_capturing(stream)?;
        Ok(Self { memory: check("allocating memory", stream.alloc_zeros(1))?, length })
    }

    /// Waits for the work of the stream, and returns the error that it has reported.
    pub(crate) fn wait(self) -> Result<(), Error> {
        let private = PrivateStream::take(self.memory.stream().context())?;
        match private.download_all::<u64>(&self.memory)?[..] {
            [0] | [] => Ok(()),
            [number, ..] => Err(Error::WrongSegment { segment: number - 1, length: self.length }),
        }
    }
}

/// Elements, and the arrays of offsets that give their segments.
pub(crate) struct Segmented<E, B> {
    elements: E,
    bounds: B,
    /// How many segments there are.
    pub(crate) count: u64,
    width: u32,
    is_signed: bool,
    in_pairs: bool,
    /// Whether some segment may be empty.
    may_be_empty: bool,
}

impl<E: Elements, B: Elements> Segmented<E, B> {
    /// Elements whose segments are given by arrays of offsets of type `O`.
    pub(crate) fn of<O: Offsets>(elements: E, bounds: B, may_be_empty: bool) -> Result<Self, Error> {
        let count = count_of::<O>(bounds.length())?;
        let (width, is_signed) = (size_of::<O::Offset>() as u32, O::Offset::IS_SIGNED);
        Ok(Self { elements, bounds, count, width, is_signed, in_pairs: O::IN_PAIRS, may_be_empty })
    }
}

/// The number of segments that arrays of this length give.
pub(crate) fn count_of<O: Offsets>(length: u64) -> Result<u64, Error> {
    if O::IN_PAIRS { Ok(length) } else { length.checked_sub(1).ok_or(Error::NoOffsets) }
}

/// The elements and the offsets as the input of a launch. The addresses of the offsets are found when
/// the input is read.
struct Together<'c, E, B> {
    of: Segmented<E, B>,
    bounds: &'c Cell<[u64; 2]>,
}

// SAFETY: the elements are those of `E`.
unsafe impl<E: Elements, B: Elements> Elements for Together<'_, E, B> {
    type Reader = E::Reader;
    type Guard<'a>
        = (E::Guard<'a>, B::Guard<'a>)
    where
        Self: 'a;

    fn stream(&self) -> &Arc<CudaStream> {
        self.of.elements.stream()
    }

    fn length(&self) -> u64 {
        self.of.elements.length()
    }

    fn order(&self, context: &Arc<CudaContext>, order: StreamOrder) -> Result<(), Error> {
        let Segmented { elements, bounds, .. } = &self.of;
        elements.order(context, order)?;
        let (stream, other) = (elements.stream(), bounds.stream());
        check_context(context, "offsets", other)?;
        // The stream of the begins stands between this stream and that of the ends.
        match order {
            StreamOrder::Before if stream != other => {
                // A wait for a capturing stream would add this stream to the capture.
                check_not_capturing(other)?;
                bounds.order(context, order)?;
                check("waiting for the stream of the offsets", stream.join(other))
            }
            StreamOrder::After if stream != other => {
                check("letting the stream of the offsets wait", other.join(stream))?;
                bounds.order(context, order)
            }
            _ => bounds.order(context, order),
        }
    }

    fn are_tracked(&self) -> bool {
        self.of.elements.are_tracked() || self.of.bounds.are_tracked()
    }

    fn addresses<'a>(&'a self, stream: &'a CudaStream) -> ([u64; MAX_ARRAYS], Self::Guard<'a>) {
        let (addresses, elements) = self.of.elements.addresses(stream);
        let (_, bounds) = self.of.bounds.addresses(stream);
        (addresses, (elements, bounds))
    }

    fn read<'a>(&'a self, stream: &'a CudaStream) -> (InputOf<Self>, Self::Guard<'a>) {
        let (input, elements) = self.of.elements.read(stream);
        let (addresses, bounds) = self.of.bounds.addresses(stream);
        let begins = addresses[0];
        let ends = if self.of.in_pairs { addresses[1] } else { begins + u64::from(self.of.width) };
        self.bounds.set([begins, ends]);
        (input, (elements, bounds))
    }
}

/// What the arguments of a launch have besides addresses.
struct Call<'a, M: DeviceMonoid> {
    operator: &'a M,
    identity: MaybeUninit<M::Item>,
    length: u64,
    width: u32,
    is_signed: bool,
    plan: OffsetPlan,
}

/// The device addresses of a call, besides those of the elements and of the output of a launch.
#[derive(Clone, Copy)]
struct Places {
    bounds: [u64; 2],
    wrong: u64,
    lists: u64,
}

impl<M: DeviceMonoid> Call<'_, M> {
    fn request(&self, item: &Layout) -> ScratchRequest {
        ScratchRequest::of((self.plan.list_bytes() + self.plan.partial_bytes(item)) as usize)
    }

    fn kernels(&self) -> Vec<Kernel> {
        vec![Kernel::ByOffsets; self.plan.stages().len()]
    }
}

impl SegmentKernel {
    /// Enqueues a reduction of segments on the stream of the elements, and does not wait for it. The
    /// results, of the type that the operator presents, are written to `output`, which has a place
    /// for each segment. A segment that is not a part of the elements counts as empty, and is reported.
    pub(crate) fn by_offsets_into<M: DeviceMonoid, E: Elements, B: Elements, O>(
        &self,
        operator: &M,
        segmented: Segmented<E, B>,
        output: &mut dyn DevicePtrMut<O>,
        report: Option<&Report>,
    ) -> Result<(), Error> {
        check_not_capturing(segmented.elements.stream())?;
        let Some(call) = self.offset_call::<M, E, B, O>(operator, &segmented, output)? else { return Ok(()) };
        let bounds = Cell::new([0; 2]);
        let mut slices = Slices { elements: Some(Together { of: segmented, bounds: &bounds }), output };
        let reported = report.map(|report| report.memory.device_ptr(report.memory.stream()));
        let report = reported.as_ref().map(|(address, _)| *address);
        let request = call.request(&self.kernels.data.item);
        slices.enqueue(&self.kernels.workspaces, request, &call.kernels(), |queue, addresses| {
            // SAFETY: the slices have a place for each result, the stream keeps them and the offsets
            // until its work has ended, and the workspace belongs to this stream.
            unsafe { self.launch_by_offsets(queue, &call, addresses, bounds.get(), report) }
        })
    }

    /// Records a reduction of segments into the graph that the stream of the elements captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`Slices::record`], also for the offsets.
    pub(crate) unsafe fn record_by_offsets_into<M: DeviceMonoid, E: Elements, B: Elements, O>(
        &self,
        operator: &M,
        segmented: Segmented<E, B>,
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        check_capturing(segmented.elements.stream())?;
        let Some(call) = self.offset_call::<M, E, B, O>(operator, &segmented, output)? else { return Ok(()) };
        let bounds = Cell::new([0; 2]);
        let together = Together { of: segmented, bounds: &bounds };
        together.order(&self.kernels.context, StreamOrder::None)?;
        let mut slices = Slices { elements: Some(together), output };
        // SAFETY: the caller guarantees the conditions of `Slices::record`.
        unsafe {
            slices.record(
                &self.kernels.workspaces,
                call.request(&self.kernels.data.item),
                |queue, addresses| self.launch_by_offsets(queue, &call, addresses, bounds.get(), None),
            )
        }
    }

    /// Compiles the kernel if necessary. None if there are no segments.
    fn offset_call<'a, M: DeviceMonoid, E: Elements, B: Elements, O>(
        &self,
        operator: &'a M,
        segmented: &Segmented<E, B>,
        output: &dyn DevicePtrMut<O>,
    ) -> Result<Option<Call<'a, M>>, Error> {
        let Segmented { count, width, is_signed, .. } = *segmented;
        assert_eq!(count, output.len() as u64, "a place for each");
        if count == 0 {
            return Ok(None);
        }
        // User code runs before the launch.
        let identity = identity_if(segmented.may_be_empty, operator);
        let length = segmented.elements.length();
        let plan = self.offset_plan::<M, E::Reader>(count, length)?;
        Ok(Some(Call { operator, identity, length, width, is_signed, plan }))
    }

    /// The plan that reduces segments of an input of this length. Missing kernels are compiled by this
    /// call.
    pub(super) fn offset_plan<M: DeviceMonoid, R: Reader>(
        &self,
        segments: u64,
        length: u64,
    ) -> Result<OffsetPlan, Error> {
        self.prepare::<M, R>(&[Kernel::ByOffsets])?;
        let plan = self.policy.by_offsets(segments, length);
        if let (Some(later), true) = (&self.of_partials, plan.most_parts > 0) {
            later.prepare::<M, ArrayOfItems>(&[Kernel::ByOffsets])?;
        }
        Ok(plan)
    }

    /// Gives the launches to a queue.
    ///
    /// # Safety
    ///
    /// 1. The kernels are loaded.
    /// 2. The addresses point to elements of the call's length, to a begin and an end of each segment,
    ///    to a place for each result, and to scratch memory as the call requests it.
    /// 3. Until the queue's work has ended, this memory stays valid, and the elements and the offsets
    ///    stay unchanged. No other work uses the scratch memory or the output until then.
    unsafe fn launch_by_offsets<M: DeviceMonoid, I: Copy>(
        &self,
        queue: &mut Queue<'_>,
        call: &Call<'_, M>,
        addresses: Addresses<I>,
        bounds: [u64; 2],
        report: Option<u64>,
    ) -> Result<(), Error> {
        let Some(input) = addresses.input else { unreachable!("the input is given") };
        let lists = addresses.memory;
        let places = Places { bounds, wrong: report.unwrap_or(lists + UNREAD_REPORT), lists };
        let partials = lists + call.plan.list_bytes();
        let listed = ArrayInput { elements: [partials], first: () };
        let unpresented = call.operator.presenting(None);
        for &stage in call.plan.stages() {
            // SAFETY: as the caller guarantees. The scratch memory has a place for each entry of the
            // lists and for each partial.
            unsafe {
                match stage {
                    Stage::Segments => {
                        self.launch_stage(
                            queue,
                            call,
                            stage,
                            call.operator,
                            input,
                            addresses.output,
                            places,
                        )?;
                    }
                    Stage::Parts => {
                        self.launch_stage(queue, call, stage, &unpresented, input, partials, places)?;
                    }
                    Stage::Partials => {
                        let (output, kernels) = (addresses.output, self.of_partials());
                        kernels.launch_stage(queue, call, stage, call.operator, listed, output, places)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives one launch to a queue.
    ///
    /// # Safety
    ///
    /// The conditions of [`launch_by_offsets`](Self::launch_by_offsets), for one launch.
    #[expect(clippy::too_many_arguments, reason = "a launch, and the call that it belongs to")]
    unsafe fn launch_stage<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        call: &Call<'_, M>,
        stage: Stage,
        operator: &M,
        input: I,
        output: u64,
        places: Places,
    ) -> Result<(), Error> {
        let OffsetPlan { segments, part_level, most_parts_level, most_parts } = call.plan;
        let Places { bounds: [begins, ends], wrong, lists } = places;
        let arguments = OffsetArguments {
            input,
            length: if stage == Stage::Partials { most_parts } else { call.length },
            segments,
            begins,
            ends,
            output,
            wrong,
            lists: if most_parts > 0 { lists } else { 0 },
            most_parts,
            width: call.width,
            is_signed: call.is_signed.into(),
            stage: stage as u32,
            part_level,
            most_parts_level,
            identity: call.identity,
        };
        let blocks = self.stage_blocks(&call.plan, stage)?;
        // SAFETY: these are the arguments of the kernel. The caller guarantees their addresses.
        unsafe { self.kernels.launch(Kernel::ByOffsets, blocks, arguments, operator, queue) }
    }

    /// The blocks of a launch. The kernel is loaded.
    pub(super) fn stage_blocks(&self, plan: &OffsetPlan, stage: Stage) -> Result<Blocks, Error> {
        let count = |resident| plan.blocks(stage, &self.policy, resident);
        self.blocks(Kernel::ByOffsets, count, stage != Stage::Segments)
    }
}
