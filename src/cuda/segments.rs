//! The launches of a reduction of segments.

mod explain;
mod offsets;

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtrMut};

pub(crate) use self::offsets::{Report, Segmented, count_of};
use super::driver::{check_capturing, check_not_capturing};
use super::kernels::{Blocks, Kernels, Rendered, Subject, first_and_others, identity_if, registry};
use super::launch_graph::Queue;
use super::read::{Elements, StreamOrder};
use super::scratch::ScratchRequest;
use super::slices::{Addresses, Slices};
use crate::plan::memory::partial_bytes;
use crate::plan::{Data, Kernel, OffsetPlan, SegmentLaunch, SegmentPolicy, Segments};
use crate::source::{ArrayInput, ArrayOfItems, Reader, SegmentArguments, Source};
use crate::{DeviceMonoid, Error};

/// The kernels of an operator and a reader that reduce segments, in a context.
#[derive(Debug)]
pub(crate) struct SegmentKernel {
    kernels: Kernels,
    /// The reader of the kernels.
    reader: TypeId,
    policy: SegmentPolicy,
    /// The kernels that reduce partials. None if the reader reads items: then these kernels do
    /// both.
    of_partials: Option<Arc<SegmentKernel>>,
}

/// An operator, its identity if segments are empty, and the launches that reduce segments with it.
/// User code runs before the first launch.
struct Call<'a, M: DeviceMonoid> {
    operator: &'a M,
    identity: MaybeUninit<M::Item>,
    launches: &'a [SegmentLaunch],
}

/// The kernels of launches, in launch order.
fn kernels_of(launches: &[SegmentLaunch]) -> Vec<Kernel> {
    launches.iter().map(|launch| launch.kernel).collect()
}

registry! { registered: SegmentPolicy => SegmentKernel }

impl SegmentKernel {
    /// The kernels of an operator and a reader in a context. No kernel is compiled by this call.
    pub(crate) fn of<M: DeviceMonoid, R: Reader>(
        context: &Arc<CudaContext>,
        policy: SegmentPolicy,
    ) -> Result<Arc<Self>, Error> {
        registered(context, Subject::of::<M, R>(), policy, &|kernels| {
            policy.check(&kernels.data)?;
            let of_partials = match R::READS_ITEMS {
                true => None,
                false => {
                    let policy = SegmentPolicy::for_data(&Data::of_items(&kernels.data.item));
                    Some(Self::of::<M, ArrayOfItems>(context, policy)?)
                }
            };
            Ok(Self { kernels, reader: TypeId::of::<R>(), policy, of_partials })
        })
    }

    fn of_partials(&self) -> &Self {
        self.of_partials.as_deref().unwrap_or(self)
    }

    /// Compiles and loads the missing kernels among `kernels`.
    fn prepare<M: DeviceMonoid, R: Reader>(&self, kernels: &[Kernel]) -> Result<(), Error> {
        // Kernels of another reader would read wrong memory.
        assert_eq!(self.reader, TypeId::of::<R>(), "kernels of another reader");
        self.kernels.prepare(kernels, &|kernel| {
            let source = Arc::new(Source::of_segments_by::<M, R>(&self.policy, kernel)?);
            Ok(Rendered { source, shared_bytes: self.policy.shared_bytes(kernel, &self.kernels.data) })
        })
    }

    /// Compiles and loads kernels, and creates the workspace of a stream.
    pub(crate) fn reserve<M: DeviceMonoid, R: Reader>(
        &self,
        kernels: &[Kernel],
        stream: &CudaStream,
    ) -> Result<(), Error> {
        self.prepare::<M, R>(kernels)?;
        if let Some(later) = &self.of_partials {
            later.prepare::<M, ArrayOfItems>(kernels)?;
        }
        self.kernels.workspaces.of_stream(stream).map(|_| ())
    }

    /// The launches that reduce segments. Missing kernels are compiled by this call.
    fn launches<M: DeviceMonoid, R: Reader>(&self, segments: Segments) -> Result<Vec<SegmentLaunch>, Error> {
        let launches = self.policy.launches(&self.of_partials().policy, segments);
        let kernels = kernels_of(&launches);
        match &self.of_partials {
            None => self.prepare::<M, R>(&kernels)?,
            Some(later) => {
                let (first, others) = first_and_others(&kernels);
                self.prepare::<M, R>(first)?;
                later.prepare::<M, ArrayOfItems>(others)?;
            }
        }
        Ok(launches)
    }

    /// Enqueues a reduction of segments on the stream of the elements, and does not wait for it. The
    /// results, of the type that the operator presents, are written to `output`, which has a place
    /// for each segment.
    pub(crate) fn reduce_into<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        segments: Segments,
        elements: E,
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        check_not_capturing(elements.stream())?;
        let mut slices = checked(segments, elements, output);
        let launches = &self.launches::<M, E::Reader>(segments)?[..];
        if launches.is_empty() {
            return Ok(());
        }
        let identity = identity_if(segments.length == 0, operator);
        let (request, call) = (self.request(launches), Call { operator, identity, launches });
        slices.enqueue(&self.kernels.workspaces, request, &kernels_of(launches), |queue, addresses| {
            // SAFETY: the slices have the segments' extent and a place for each result, the stream
            // keeps them until its work has ended, and the workspace belongs to this stream.
            unsafe { self.launch_all(queue, &call, addresses) }
        })
    }

    /// Records a reduction of segments into the graph that the stream of the elements captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`Slices::record`].
    pub(crate) unsafe fn record_into<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        segments: Segments,
        elements: E,
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        check_capturing(elements.stream())?;
        elements.order(&self.kernels.context, StreamOrder::None)?;
        let mut slices = checked(segments, elements, output);
        let launches = &self.launches::<M, E::Reader>(segments)?[..];
        if launches.is_empty() {
            return Ok(());
        }
        let identity = identity_if(segments.length == 0, operator);
        let (request, call) = (self.request(launches), Call { operator, identity, launches });
        // SAFETY: the caller guarantees the conditions of `Slices::record`.
        unsafe {
            slices.record(&self.kernels.workspaces, request, |queue, addresses| {
                self.launch_all(queue, &call, addresses)
            })
        }
    }

    fn request(&self, launches: &[SegmentLaunch]) -> ScratchRequest {
        let bytes = SegmentPolicy::memory_bytes(launches, &self.kernels.data.item);
        ScratchRequest::of((OffsetPlan::HEADER_BYTES + bytes) as usize)
    }

    /// Adds the launches of a call to a queue.
    ///
    /// # Safety
    ///
    /// 1. The kernels of the launches are loaded, and were planned for the segments.
    /// 2. The addresses point to elements of the segments' extent, to a place for each result, and
    ///    to scratch memory as [`request`](Self::request) requests it.
    /// 3. Until the queue's work has ended, this memory stays valid, and the elements stay
    ///    unchanged. No other work uses the scratch memory or the output until then.
    unsafe fn launch_all<M: DeviceMonoid, I: Copy>(
        &self,
        queue: &mut Queue<'_>,
        call: &Call<'_, M>,
        addresses: Addresses<I>,
    ) -> Result<(), Error> {
        let Some(input) = addresses.input else { unreachable!("the input is given") };
        // The header of the lists keeps its values.
        let mut partials = addresses.memory + OffsetPlan::HEADER_BYTES;
        for (number, launch) in call.launches.iter().enumerate() {
            let (output, operator) = match launch.is_final() {
                true => (addresses.output, *call.operator),
                false => (partials, call.operator.presenting(None)),
            };
            // SAFETY: as the caller guarantees. The scratch memory has a place for each value of
            // each launch that writes partials.
            unsafe {
                match number {
                    0 => self.launch(queue, (&operator, call.identity), launch, input, output, false)?,
                    _ => {
                        let before = call.launches[number - 1].values();
                        let read = partials - partial_bytes(&self.kernels.data.item, before);
                        let input = ArrayInput { elements: [read], first: () };
                        self.of_partials().launch(
                            queue,
                            (&operator, call.identity),
                            launch,
                            input,
                            output,
                            true,
                        )?;
                    }
                }
            }
            if !launch.is_final() {
                partials += partial_bytes(&self.kernels.data.item, launch.values());
            }
        }
        Ok(())
    }

    /// Adds one launch to a queue. If it follows another launch of the call, it may begin before that
    /// one has ended.
    ///
    /// # Safety
    ///
    /// The conditions of [`launch_all`](Self::launch_all), for one launch.
    unsafe fn launch<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        (operator, identity): (&M, MaybeUninit<M::Item>),
        launch: &SegmentLaunch,
        input: I,
        output: u64,
        follows: bool,
    ) -> Result<(), Error> {
        let SegmentLaunch { kernel, segments, at_once, lanes_level, run_level } = *launch;
        let Segments { count, length, pitch, stride } = segments;
        let arguments = SegmentArguments {
            input,
            segments: count,
            length,
            pitch,
            stride,
            output,
            at_once,
            lanes_level,
            run_level,
            identity,
        };
        let blocks = self.blocks(kernel, |resident| launch.blocks(&self.policy, resident), follows)?;
        // SAFETY: these are the arguments of a kernel that reduces segments. The caller guarantees
        // their addresses.
        unsafe { self.kernels.launch(kernel, blocks, arguments, operator, queue) }
    }

    /// The blocks of a loaded kernel: as many as `count` says for the number that the device holds at
    /// once. A launch that `follows` another one of its call may begin before that one has ended.
    fn blocks(&self, kernel: Kernel, count: impl FnOnce(u32) -> u32, follows: bool) -> Result<Blocks, Error> {
        let shared_bytes = self.policy.shared_bytes(kernel, &self.kernels.data);
        let resident = self.kernels.resident_blocks(kernel, shared_bytes)?;
        Ok(Blocks {
            count: count(resident),
            warps: self.policy.warps(kernel),
            shared_bytes,
            early: follows && self.kernels.begins_early(),
        })
    }
}

/// The input and the output of a call, which have the elements and the places that it needs.
fn checked<E: Elements, O>(
    segments: Segments,
    elements: E,
    output: &mut dyn DevicePtrMut<O>,
) -> Slices<'_, E, O> {
    assert!(segments.extent() <= elements.length(), "elements of all segments");
    assert_eq!(segments.count, output.len() as u64, "a place for each");
    Slices { elements: Some(elements), output }
}
