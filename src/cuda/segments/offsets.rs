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
use crate::plan::{Kernel, OffsetLaunch};
use crate::source::{ArrayInput, ArrayOfItems, OffsetArguments};
use crate::types::{Offset, Offsets};
use crate::{DeviceMonoid, Error, Layout};

/// Bytes before the partials, to which a kernel reports a wrong segment if nobody reads the report.
const REPORT_BYTES: u64 = 128;

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
        bounds.order(context, order)?;
        match order {
            _ if stream == other => Ok(()),
            StreamOrder::None => Ok(()),
            StreamOrder::Before => {
                // A wait for a capturing stream would add this stream to the capture.
                check_not_capturing(other)?;
                check("waiting for the stream of the offsets", stream.join(other))
            }
            StreamOrder::After => check("letting the stream of the offsets wait", other.join(stream)),
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
    segments: u64,
    width: u32,
    is_signed: bool,
    launches: Vec<OffsetLaunch>,
}

/// The segments of a launch: the elements, and where each segment begins and ends.
struct Parts<I> {
    input: I,
    length: u64,
    bounds: [u64; 2],
    width: u32,
    is_signed: bool,
    /// Whether lengths follow the ends.
    has_lengths: bool,
}

impl<M: DeviceMonoid> Call<'_, M> {
    fn request(&self, item: &Layout) -> ScratchRequest {
        let bytes = match &self.launches[..] {
            [split, _] => split.memory(item).1,
            _ => 0,
        };
        ScratchRequest::of((REPORT_BYTES + bytes) as usize)
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
        let kernels = call.launches.iter().map(|_| Kernel::ByOffsets);
        let reported = report.map(|report| report.memory.device_ptr(report.memory.stream()));
        let report = reported.as_ref().map(|(address, _)| *address);
        let request = call.request(&self.kernels.data.item);
        slices.enqueue(&self.kernels.workspaces, request, kernels, |queue, addresses| {
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
        self.prepare::<M, E::Reader>([Kernel::ByOffsets].into_iter())?;
        let length = segmented.elements.length();
        let launches = self.policy.launches_by_offsets(count, length);
        if let (Some(later), 2) = (&self.of_partials, launches.len()) {
            later.prepare::<M, ArrayOfItems>([Kernel::ByOffsets].into_iter())?;
        }
        Ok(Some(Call { operator, identity, length, segments: count, width, is_signed, launches }))
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
    unsafe fn launch_by_offsets<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        call: &Call<'_, M>,
        addresses: Addresses<I>,
        bounds: [u64; 2],
        report: Option<u64>,
    ) -> Result<(), Error> {
        let wrong = report.unwrap_or(addresses.memory);
        let Some(input) = addresses.input else { unreachable!("the input is given") };
        let Call { length, width, is_signed, .. } = *call;
        let parts = Parts { input, length, bounds, width, is_signed, has_lengths: false };
        let [split, launch] = call.launches[..] else {
            // SAFETY: as the caller guarantees.
            return unsafe {
                self.launch_parts(
                    queue,
                    call,
                    call.launches[0],
                    call.operator,
                    parts,
                    addresses.output,
                    wrong,
                )
            };
        };
        let partials = addresses.memory + REPORT_BYTES;
        let ends = partials + split.memory(&self.kernels.data.item).0 + 8 * call.segments;
        let later = Parts {
            input: ArrayInput { elements: [partials], first: () },
            length: split.units,
            bounds: [ends - 8 * call.segments, ends],
            width: 8,
            is_signed: false,
            has_lengths: true,
        };
        let operator = call.operator.presenting(None);
        let kernels = self.of_partials.as_deref().unwrap_or(self);
        // SAFETY: as the caller guarantees. The scratch memory has a place for each partial, and then
        // for the begin, the end and the length of each segment.
        unsafe {
            self.launch_parts(queue, call, split, &operator, parts, partials, wrong)?;
            kernels.launch_parts(queue, call, launch, call.operator, later, addresses.output, wrong)
        }
    }

    /// Gives one launch to a queue.
    ///
    /// # Safety
    ///
    /// The conditions of [`launch_by_offsets`](Self::launch_by_offsets), for one launch.
    #[expect(clippy::too_many_arguments, reason = "a launch, and the call that it belongs to")]
    unsafe fn launch_parts<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        call: &Call<'_, M>,
        launch: OffsetLaunch,
        operator: &M,
        parts: Parts<I>,
        output: u64,
        wrong: u64,
    ) -> Result<(), Error> {
        let Parts { input, length, bounds: [begins, ends], width, is_signed, has_lengths } = parts;
        let OffsetLaunch { at_once, split_level, .. } = launch;
        let arguments = OffsetArguments {
            input,
            length,
            segments: call.segments,
            begins,
            ends,
            output,
            wrong,
            width,
            is_signed: is_signed.into(),
            at_once,
            split_level,
            has_lengths: has_lengths.into(),
            bounds_at: launch.memory(&self.kernels.data.item).0,
            identity: call.identity,
        };
        let kernel = Kernel::ByOffsets;
        let shared_bytes = self.policy.shared_bytes(kernel, &self.kernels.data);
        let resident = self.kernels.resident_blocks(kernel, shared_bytes)?;
        let blocks = Blocks {
            count: launch.blocks(&self.policy, resident),
            warps: self.policy.warps(kernel),
            shared_bytes,
            early: false,
        };
        // SAFETY: these are the arguments of the kernel. The caller guarantees their addresses.
        unsafe { self.kernels.launch(kernel, blocks, arguments, operator, queue) }
    }
}
