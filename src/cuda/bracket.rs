//! The launches of a reduction: the kernels of one operator in one context, and their arguments.

mod explain;
mod host;

use std::any::TypeId;
use std::ops::Deref;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtrMut};

use super::driver::{check, check_capturing, check_not_capturing};
use super::kernels::{Blocks, Kernels, Rendered, Subject, first_and_others, registry};
use super::launch_graph::Queue;
use super::launch_io::{LaunchIo, Operator, ReduceArguments, Span};
use super::rates::Rates;
use super::read::{Elements, StreamOrder};
use super::result_slot::Output;
use super::scratch::{ScratchInit, ScratchRequest};
use super::slices::{Slices, check_not_captured, drain};
use crate::cuda::lock::lock;
use crate::plan::memory::{TICKET_BYTES, most_bytes, partial_bytes};
use crate::plan::{Kernel, Launch, Launches, Policy};
use crate::source::{Arguments, ArrayInput, ArrayOfItems, Reader, Source};
use crate::{DeviceMonoid, Error};

/// The reduction kernels of an operator and a reader, in a context.
#[derive(Debug)]
pub(crate) struct BracketKernel {
    kernels: Kernels,
    policy: Policy,
    /// The type of the reader.
    reader: TypeId,
    /// The kernels that reduce partials. None if the reader reads items: then these kernels do
    /// both.
    of_partials: Option<Arc<BracketKernel>>,
    /// How fast this operator reduced host memory here and on the CPU.
    rates: Rates,
}

/// Checks that an output holds exactly one item.
fn check_output<T>(output: &dyn DevicePtrMut<T>) -> Result<(), Error> {
    match output.len() {
        1 => Ok(()),
        length => Err(Error::OutputLength { expected: 1, length }),
    }
}

/// Room for the launches of a reduction. A test asserts that no length has more.
const MOST_LAUNCHES: usize = 12;

/// The kernels of launches, in launch order. They are no vector, because a call allocates nothing.
struct Sequence {
    kernels: [Kernel; MOST_LAUNCHES],
    count: usize,
}

impl Deref for Sequence {
    type Target = [Kernel];
    fn deref(&self) -> &[Kernel] {
        &self.kernels[..self.count]
    }
}

registry! { registered: Policy => BracketKernel }

impl BracketKernel {
    /// The kernels of an operator and a reader in a context. No kernel is compiled by this call.
    pub(crate) fn of<M: DeviceMonoid, R: Reader>(
        context: &Arc<CudaContext>,
        policy: Policy,
    ) -> Result<Arc<Self>, Error> {
        registered(context, Subject::of::<M, R>(), policy, &|kernels| {
            policy.check(&kernels.data)?;
            let of_partials = match R::READS_ITEMS {
                true => None,
                false => {
                    let policy = Policy::for_item(&kernels.data.item);
                    Some(Self::of::<M, ArrayOfItems>(context, policy)?)
                }
            };
            Ok(Self { kernels, policy, reader: TypeId::of::<R>(), of_partials, rates: Rates::default() })
        })
    }

    fn render<M: DeviceMonoid, R: Reader>(&self, kernel: Kernel) -> Result<Rendered, Error> {
        let source = Arc::new(Source::of_reduction_by::<M, R>(&self.policy, kernel)?);
        let shared_bytes = self.policy.shape(kernel).shared_bytes(&self.kernels.data);
        Ok(Rendered { source, shared_bytes })
    }

    /// Checks that the kernels were rendered for this reader. Other kernels would read wrong
    /// memory.
    fn assert_reads<R: Reader>(&self) {
        assert_eq!(self.reader, TypeId::of::<R>(), "kernels of another reader");
    }

    /// The rates of earlier calls with host memory, if all tuned kernels are loaded.
    pub(crate) fn rates(&self) -> Option<&Rates> {
        let are_loaded = |of: &Self| of.kernels.all_loaded(of.policy.kernels());
        (are_loaded(self) && are_loaded(self.of_partials())).then_some(&self.rates)
    }

    fn of_partials(&self) -> &Self {
        self.of_partials.as_deref().unwrap_or(self)
    }

    /// The launches that reduce `length` elements under a policy.
    fn plan(&self, policy: &Policy, length: u64) -> Launches {
        let of_partials = self.of_partials.as_ref().map_or(*policy, |kernels| match policy.tuned {
            true => kernels.policy,
            false => kernels.policy.baseline_only(),
        });
        policy.launches_before(&of_partials, &self.kernels.data.item, length)
    }

    /// The kernels of `launches`, in launch order. All but the first read partials.
    fn kernels(launches: &Launches) -> Sequence {
        let mut sequence = Sequence { kernels: [Kernel::Baseline; MOST_LAUNCHES], count: 0 };
        for launch in launches.clone() {
            sequence.kernels[sequence.count] = launch.kernel;
            sequence.count += 1;
        }
        sequence
    }

    fn all_loaded(&self, launches: &Launches) -> bool {
        let kernels = Self::kernels(launches);
        match &self.of_partials {
            None => self.kernels.all_loaded(&kernels),
            Some(later) => {
                let (first, others) = first_and_others(&kernels);
                self.kernels.all_loaded(first) && later.kernels.all_loaded(others)
            }
        }
    }

    /// The launches that reduce `length` elements. Their kernels are loaded: the tuned kernels, or
    /// the baseline while the tuned ones are compiled.
    fn launches<M: DeviceMonoid, R: Reader>(&self, length: u64) -> Result<Launches, Error> {
        let launches = self.plan(&self.policy, length);
        if self.all_loaded(&launches) {
            return Ok(launches);
        }
        if !self.policy.tuned {
            return self.tuned_launches::<M, R>(length);
        }
        let kernels = Self::kernels(&launches);
        let render = |kernel| self.render::<M, R>(kernel);
        let all_loaded = match &self.of_partials {
            None => self.kernels.prepare_or(Kernel::Baseline, &kernels, &render)?,
            Some(later) => {
                let render_later = |kernel| later.render::<M, ArrayOfItems>(kernel);
                let (first, others) = first_and_others(&kernels);
                let is_first_loaded = self.kernels.prepare_or(Kernel::Baseline, first, &render)?;
                later.kernels.prepare_or(Kernel::Baseline, others, &render_later)? && is_first_loaded
            }
        };
        match all_loaded {
            true => Ok(launches),
            false => {
                let baseline = self.plan(&self.policy.baseline_only(), length);
                self.prepare::<M, R>(&baseline)?;
                Ok(baseline)
            }
        }
    }

    /// The launches that reduce `length` elements with the kernels of the policy. Missing kernels
    /// are compiled by this call. Captured graphs use these launches, because a graph keeps its
    /// kernels.
    fn tuned_launches<M: DeviceMonoid, R: Reader>(&self, length: u64) -> Result<Launches, Error> {
        let launches = self.plan(&self.policy, length);
        self.prepare::<M, R>(&launches)?;
        Ok(launches)
    }

    /// Compiles and loads the missing kernels of `launches`.
    fn prepare<M: DeviceMonoid, R: Reader>(&self, launches: &Launches) -> Result<(), Error> {
        let kernels = Self::kernels(launches);
        let render = |kernel| self.render::<M, R>(kernel);
        match &self.of_partials {
            None => self.kernels.prepare(&kernels, &render),
            Some(later) => {
                let (first, others) = first_and_others(&kernels);
                self.kernels.prepare(first, &render)?;
                later.kernels.prepare(others, &|kernel| later.render::<M, ArrayOfItems>(kernel))
            }
        }
    }

    /// Compiles and loads the kernels of the policy, and creates the workspace of a stream.
    pub(crate) fn reserve<M: DeviceMonoid, R: Reader>(&self, stream: &CudaStream) -> Result<(), Error> {
        self.assert_reads::<R>();
        self.kernels.prepare(self.policy.kernels(), &|kernel| self.render::<M, R>(kernel))?;
        if let Some(later) = &self.of_partials {
            let render = |kernel| later.render::<M, ArrayOfItems>(kernel);
            let policy = if self.policy.tuned { later.policy } else { later.policy.baseline_only() };
            later.kernels.prepare(policy.kernels(), &render)?;
        }
        self.kernels.workspaces.of_stream(stream).map(|_| ())
    }

    /// Reduces elements in device memory, and waits for the result.
    pub(crate) fn run<M: DeviceMonoid, E: Elements>(
        &self,
        operator: &M,
        elements: &E,
    ) -> Result<M::Item, Error> {
        let stream = elements.stream();
        // A capturing stream must not wait for the streams of other arrays.
        check_not_capturing(stream)?;
        elements.order(&self.kernels.context, StreamOrder::Before)?;
        self.assert_reads::<E::Reader>();
        let length = elements.length();
        let launches = self.launches::<M, E::Reader>(length)?;
        let operator = Operator::of(operator, length);
        let of_stream = self.kernels.workspaces.of_stream(stream)?;
        // Locked until the result is read: another call on this stream would overwrite the result
        // slot.
        let mut workspace = lock(&of_stream);
        // The check comes last, because the steps above may take long.
        check_not_capturing(stream)?;
        let (input, _read) = elements.read(stream);
        let span = Span { input, length };
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let request = self.scratch_request(&launches, length);
        let memory = workspace.memory(request)?;
        let output = workspace.slot.next_output();
        let kernels = Self::kernels(&launches);
        let enqueued = workspace.graphs.launch(&kernels, stream, &mut |queue| {
            let arguments = ReduceArguments { elements: span, output, memory };
            // SAFETY: the read guard and the lock of the workspace are held until the result has
            // arrived.
            unsafe { self.enqueue(queue, operator, launches.clone(), arguments) }
        });
        if let Err(error) = enqueued {
            // Some launches may have been enqueued.
            drain(stream);
            // SAFETY: the context is bound, and the stream has no unfinished work.
            unsafe { workspace.scratch.restore(request.init) };
            return Err(error);
        }
        // SAFETY: the last kernel sends an item, and the slot holds one item.
        let result = check_not_captured(stream).and_then(|()| unsafe { workspace.slot.wait(stream) });
        result.inspect_err(|error| {
            // The kernel may still run: it reads the input, and writes to the workspace, which is never
            // freed.
            std::mem::forget(of_stream.clone());
            workspace.scratch.retire(request.init);
            // A wait for a stream that captures would end the capture.
            if !matches!(error, Error::StreamIsCapturing) {
                drain(stream);
            }
        })
    }

    /// Enqueues a reduction on the stream of `elements`, and does not wait for it. The result is
    /// written to `output`, of the type that the operator [presents](DeviceMonoid::presenting).
    pub(crate) fn run_into<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        elements: E,
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        check_output(output)?;
        elements.order(&self.kernels.context, StreamOrder::None)?;
        check_not_capturing(elements.stream())?;
        self.assert_reads::<E::Reader>();
        let length = elements.length();
        let launches = self.launches::<M, E::Reader>(length)?;
        let operator = Operator::of(operator, length);
        let request = self.scratch_request(&launches, length);
        let kernels = Self::kernels(&launches);
        let mut slices = Slices { elements: Some(elements), output };
        slices.enqueue(&self.kernels.workspaces, request, &kernels, |queue, addresses| {
            // SAFETY: the stream keeps the slices until its work has ended, and the workspace
            // belongs to this stream.
            unsafe { self.enqueue(queue, operator, launches.clone(), ReduceArguments::of(addresses, length)) }
        })
    }

    /// Records the reduction into the graph that the stream of `elements` captures.
    ///
    /// # Safety
    ///
    /// The conditions of [`Slices::record`].
    pub(crate) unsafe fn record_into<M: DeviceMonoid, E: Elements, O>(
        &self,
        operator: &M,
        elements: E,
        output: &mut dyn DevicePtrMut<O>,
    ) -> Result<(), Error> {
        check_output(output)?;
        elements.order(&self.kernels.context, StreamOrder::None)?;
        check_capturing(elements.stream())?;
        self.assert_reads::<E::Reader>();
        let length = elements.length();
        let launches = self.tuned_launches::<M, E::Reader>(length)?;
        let operator = Operator::of(operator, length);
        let request = self.scratch_request(&launches, length);
        let mut slices = Slices { elements: Some(elements), output };
        // SAFETY: the caller guarantees the conditions of `Slices::record`.
        unsafe {
            slices.record(&self.kernels.workspaces, request, |queue, addresses| {
                self.enqueue(queue, operator, launches, ReduceArguments::of(addresses, length))
            })
        }
    }

    /// The scratch memory that the launches need to reduce `length` items.
    fn scratch_request(&self, launches: &Launches, length: u64) -> ScratchRequest {
        let item = &self.kernels.data.item;
        ScratchRequest {
            needed: launches.memory_bytes(item) as usize,
            most: most_bytes(item, length) as usize,
            init: if launches.gathers() { ScratchInit::Zeros } else { ScratchInit::Any },
        }
    }

    /// Adds the launches of a reduction to a queue.
    ///
    /// # Safety
    ///
    /// 1. The kernels of `launches` are loaded, and `launches` were planned for the length in
    ///    `arguments`.
    /// 2. The addresses point to elements in the reader's layout, to an output of one item, and to
    ///    scratch memory as [`scratch_request`](Self::scratch_request) requests it.
    /// 3. Until the queue's work has ended, this memory stays valid, and the elements stay
    ///    unchanged. No other work uses the scratch memory or the output until then.
    unsafe fn enqueue<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        operator: Operator<'_, M>,
        launches: Launches,
        arguments: ReduceArguments<I>,
    ) -> Result<(), Error> {
        let ReduceArguments { elements, output, memory } = arguments;
        let (mut first, mut partials) =
            (Some(elements), Span { input: ArrayInput { elements: [0], first: () }, length: 0 });
        let mut partials_address = memory + TICKET_BYTES;
        for (number, launch) in launches.enumerate() {
            let to = if launch.is_final() { output } else { Output::plain(partials_address) };
            let io = LaunchIo { output: to, tickets: memory, follows: number > 0 };
            // Only the last launch writes a result.
            let value = if launch.is_final() { *operator.value } else { operator.value.presenting(None) };
            let operator = Operator { value: &value, identity: operator.identity };
            // SAFETY: as the caller guarantees. The scratch memory has one partial for each chunk
            // of each launch that writes partials.
            unsafe {
                match first.take() {
                    Some(elements) => self.launch(queue, operator, launch, elements, io)?,
                    None => self.of_partials().launch(queue, operator, launch, partials, io)?,
                }
            }
            partials = Span {
                input: ArrayInput { elements: [partials_address], first: () },
                length: launch.chunks.into(),
            };
            partials_address += partial_bytes(&self.kernels.data.item, partials.length);
        }
        Ok(())
    }

    /// Adds one launch to a queue.
    ///
    /// # Safety
    ///
    /// The conditions of [`enqueue`](Self::enqueue), for one launch. Its output holds one item for
    /// each chunk.
    unsafe fn launch<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        operator: Operator<'_, M>,
        launch: Launch,
        elements: Span<I>,
        io: LaunchIo,
    ) -> Result<(), Error> {
        let Span { input, length } = elements;
        let LaunchIo { output, tickets, follows } = io;
        let shape = self.policy.shape(launch.kernel);
        let partition = launch.partition(&shape, length);
        let arguments = Arguments {
            input,
            length,
            output: output.address,
            tickets,
            runs: partition.runs,
            row_level: partition.row_level,
            epoch: output.epoch,
            whole: partition.whole,
            gathers: launch.gathers.into(),
            identity: operator.identity,
        };
        let blocks = self.blocks(&launch, length, follows)?;
        // SAFETY: these are the arguments of a reduction kernel. The caller guarantees their
        // addresses.
        unsafe { self.kernels.launch(launch.kernel, blocks, arguments, operator.value, queue) }
    }
}

impl BracketKernel {
    /// The blocks of a launch whose kernel is loaded.
    fn blocks(&self, launch: &Launch, length: u64, follows: bool) -> Result<Blocks, Error> {
        let shape = self.policy.shape(launch.kernel);
        let shared_bytes = shape.shared_bytes(&self.kernels.data);
        let resident = match launch.kernel {
            Kernel::Large => self.kernels.resident_blocks(launch.kernel, shared_bytes)?,
            _ => launch.chunks,
        };
        let count = self.policy.blocks(launch, resident);
        let early = follows && self.kernels.begins_early();
        Ok(Blocks { count, warps: launch.partition(&shape, length).warps, shared_bytes, early })
    }
}

#[cfg(all(test, feature = "laws"))]
mod tests;
