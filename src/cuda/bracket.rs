//! The bracket as launches: the kernels of one operator in one context, and what they are given.

use std::any::TypeId;
use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtrMut};

use super::chain::Queue;
use super::driver::{check, check_capturing, check_not_capturing};
use super::host::PrivateStream;
use super::kernels::{Blocks, Kernels, Registry, Rendered, identity_if};
use super::read::{Array, Elements};
use super::result_slot::Output;
use super::scratch::{Keeps, Room};
use super::slices::{Addresses, Slices, check_context, check_not_captured, drain};
use crate::cuda::lock::lock;
use crate::plan::memory::{TICKET_BYTES, most_bytes, partial_bytes};
use crate::plan::{Kernel, Launch, Launches};
use crate::source::{Arguments, ArrayInput, ItemsAsTheyAre, Reader, Source};
use crate::{DeviceMonoid, Error, Policy};

/// The kernels that reduce with an operator what a reader stages, in a context.
#[derive(Debug)]
pub(crate) struct BracketKernel {
    kernels: Kernels,
    policy: Policy,
    /// The type of the reader.
    reader: TypeId,
    /// Those that reduce partials, which are items; these themselves, if they read items.
    of_partials: Option<Arc<BracketKernel>>,
}

/// What a launch reads.
#[derive(Clone, Copy)]
struct Span<I> {
    input: I,
    length: u64,
}

/// An operator, whose own code was called before anything is launched.
#[derive(Clone, Copy)]
struct Operator<'a, M: DeviceMonoid> {
    value: &'a M,
    identity: MaybeUninit<M::Item>,
}

impl<'a, M: DeviceMonoid> Operator<'a, M> {
    /// For a reduction of so many items.
    fn of(value: &'a M, length: u64) -> Self {
        Self { value, identity: identity_if(length == 0, value) }
    }
}

/// Where a launch reads, writes and draws.
#[derive(Clone, Copy)]
struct Places {
    output: Output,
    tickets: u64,
    /// Whether the launch before belongs to the same call: then it may begin before that has ended.
    follows: bool,
}

/// What a reduction is given.
#[derive(Clone, Copy)]
struct Given<I> {
    elements: Span<I>,
    output: Output,
    /// Of its own, beside what it is asked for.
    memory: u64,
}

/// What a reduction of some elements is given.
fn given<I>(addresses: Addresses<I>, length: u64) -> Given<I> {
    let Addresses { input, output, memory } = addresses;
    let Some(input) = input else { unreachable!("a reduction has no place of its own to read") };
    Given { elements: Span { input, length }, output: Output::silent(output), memory }
}

/// Whether an output has room for one result, and no more.
fn check_output<T>(output: &dyn DevicePtrMut<T>) -> Result<(), Error> {
    match output.len() {
        1 => Ok(()),
        length => Err(Error::OutputLength { expected: 1, length }),
    }
}

static KERNELS: Registry<Policy, BracketKernel> = Registry::new();

impl BracketKernel {
    /// The kernels of an operator and a reader in a context. None is compiled yet, unless it was needed before.
    pub(crate) fn of<M: DeviceMonoid, R: Reader>(
        context: &Arc<CudaContext>,
        policy: Policy,
    ) -> Result<Arc<Self>, Error> {
        KERNELS.get::<M, R>(context, policy, |kernels| {
            policy.check(&kernels.data)?;
            let of_partials = match R::READS_ITEMS {
                true => None,
                false => {
                    let policy = Policy::for_item(&kernels.data.item);
                    Some(Self::of::<M, ItemsAsTheyAre>(context, policy)?)
                }
            };
            Ok(Self { kernels, policy, reader: TypeId::of::<R>(), of_partials })
        })
    }

    fn render<M: DeviceMonoid, R: Reader>(&self, kernel: Kernel) -> Result<Rendered, Error> {
        let source = Arc::new(Source::of_reduction_by::<M, R>(&self.policy, kernel)?);
        let shared_bytes = self.policy.shape(kernel).shared_bytes(&self.kernels.data);
        Ok(Rendered { source, shared_bytes })
    }

    /// Kernels are given what their reader takes, and no other: a mistake of this crate would read other memory.
    fn assert_reads<R: Reader>(&self) {
        assert_eq!(self.reader, TypeId::of::<R>(), "kernels of another reader");
    }

    fn of_partials(&self) -> &Self {
        self.of_partials.as_deref().unwrap_or(self)
    }

    /// The launches that reduce `length` elements under a policy.
    fn plan(&self, policy: &Policy, length: u64) -> Launches {
        let of_partials = self.of_partials.as_ref().map_or(*policy, |kernels| match policy.tuned {
            true => kernels.policy,
            false => kernels.policy.untuned(),
        });
        policy.launches_before(&of_partials, &self.kernels.data.item, length)
    }

    /// The kernels of some launches, in their order. All but the first read partials.
    fn kernels(launches: &Launches) -> impl Iterator<Item = Kernel> + Clone {
        launches.clone().map(|launch| launch.kernel)
    }

    fn are_there(&self, launches: &Launches) -> bool {
        let kernels = Self::kernels(launches);
        match &self.of_partials {
            None => self.kernels.are_there(kernels),
            Some(later) => {
                self.kernels.are_there(kernels.clone().take(1)) && later.kernels.are_there(kernels.skip(1))
            }
        }
    }

    /// The launches that reduce `length` elements, of kernels that are loaded: tuned ones, or, while those are compiled, the baseline.
    fn launches<M: DeviceMonoid, R: Reader>(&self, length: u64) -> Result<Launches, Error> {
        let launches = self.plan(&self.policy, length);
        if self.are_there(&launches) {
            return Ok(launches);
        }
        if !self.policy.tuned {
            return self.tuned_launches::<M, R>(length);
        }
        let kernels = Self::kernels(&launches);
        let render = |kernel| self.render::<M, R>(kernel);
        let are_there = match &self.of_partials {
            None => self.kernels.prepare_or(Kernel::Baseline, kernels, render)?,
            Some(later) => {
                let render_later = |kernel| later.render::<M, ItemsAsTheyAre>(kernel);
                let first = self.kernels.prepare_or(Kernel::Baseline, kernels.clone().take(1), render)?;
                later.kernels.prepare_or(Kernel::Baseline, kernels.skip(1), render_later)? && first
            }
        };
        match are_there {
            true => Ok(launches),
            false => {
                let baseline = self.plan(&self.policy.untuned(), length);
                self.prepare::<M, R>(&baseline)?;
                Ok(baseline)
            }
        }
    }

    /// The launches that the policy has for `length` elements, of kernels that are compiled now if they were not before. A graph
    /// keeps its kernels, so it gets these.
    fn tuned_launches<M: DeviceMonoid, R: Reader>(&self, length: u64) -> Result<Launches, Error> {
        let launches = self.plan(&self.policy, length);
        self.prepare::<M, R>(&launches)?;
        Ok(launches)
    }

    /// Makes of the kernels of some launches those that are not there.
    fn prepare<M: DeviceMonoid, R: Reader>(&self, launches: &Launches) -> Result<(), Error> {
        let kernels = Self::kernels(launches);
        let render = |kernel| self.render::<M, R>(kernel);
        match &self.of_partials {
            None => self.kernels.prepare(kernels, render),
            Some(later) => {
                self.kernels.prepare(kernels.clone().take(1), render)?;
                later.kernels.prepare(kernels.skip(1), |kernel| later.render::<M, ItemsAsTheyAre>(kernel))
            }
        }
    }

    /// Makes the kernels, and the workspace of a stream, ahead of their first use.
    pub(crate) fn reserve<M: DeviceMonoid, R: Reader>(&self, stream: &CudaStream) -> Result<(), Error> {
        self.assert_reads::<R>();
        let all = |policy: &Policy| policy.kernels().iter().copied();
        self.kernels.prepare(all(&self.policy), |kernel| self.render::<M, R>(kernel))?;
        if let Some(later) = &self.of_partials {
            let render = |kernel| later.render::<M, ItemsAsTheyAre>(kernel);
            let policy = if self.policy.tuned { later.policy } else { later.policy.untuned() };
            later.kernels.prepare(all(&policy), render)?;
        }
        self.kernels.workspaces.of_stream(stream).map(|_| ())
    }

    /// The bracket of items in host memory, which are copied to the device.
    pub(crate) fn run_host<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &[M::Item],
    ) -> Result<M::Item, Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        self.run(operator, &Array(&private.upload(items)?))
    }

    /// The bracket of elements in device memory.
    pub(crate) fn run<M: DeviceMonoid, E: Elements>(
        &self,
        operator: &M,
        elements: &E,
    ) -> Result<M::Item, Error> {
        let stream = elements.stream();
        check_context(&self.kernels.context, "input", stream)?;
        self.assert_reads::<E::Reader>();
        let length = elements.length();
        let launches = self.launches::<M, E::Reader>(length)?;
        let operator = Operator::of(operator, length);
        let of_stream = self.kernels.workspaces.of_stream(stream)?;
        // Held until the result is read: another thread's run on this stream would overwrite it.
        let mut workspace = lock(&of_stream);
        // After all that may take long.
        check_not_capturing(stream)?;
        let (input, _read) = elements.read(stream);
        let span = Span { input, length };
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let room = self.room(&launches, length);
        let memory = workspace.memory(room)?;
        let output = workspace.slot.awaited();
        let kernels = Self::kernels(&launches);
        let given = workspace.chains.launch(kernels, stream, |queue| {
            let given = Given { elements: span, output, memory };
            // SAFETY: the slice is read until the result is waited for, which the workspace gets; its lock is held until then.
            unsafe { self.give(queue, operator, launches.clone(), given) }
        });
        if let Err(error) = given {
            // The first launches may be under way.
            drain(stream);
            // SAFETY: the context is bound, and the stream has ended.
            unsafe { workspace.scratch.restore(room.keeps) };
            return Err(error);
        }
        // SAFETY: the last kernel sends an item, and the workspace is for items.
        let result = check_not_captured(stream).and_then(|()| unsafe { workspace.slot.wait(stream) });
        result.inspect_err(|_| {
            // The kernel may still run, and write to the workspace, which therefore stays for the life of the process.
            std::mem::forget(of_stream.clone());
        })
    }

    /// Lets the stream of some elements write their bracket to `output`, and does not wait for it.
    pub(crate) fn run_into<M: DeviceMonoid, E: Elements>(
        &self,
        operator: &M,
        elements: E,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        check_output(output)?;
        check_context(&self.kernels.context, "input", elements.stream())?;
        check_not_capturing(elements.stream())?;
        self.assert_reads::<E::Reader>();
        let length = elements.length();
        let launches = self.launches::<M, E::Reader>(length)?;
        let operator = Operator::of(operator, length);
        let room = self.room(&launches, length);
        let kernels = Self::kernels(&launches);
        let mut slices = Slices { elements: Some(elements), output };
        slices.enqueue(&self.kernels.workspaces, room, kernels, |queue, addresses| {
            // SAFETY: the addresses are of slices that their stream keeps, and of a workspace that is this stream's.
            unsafe { self.give(queue, operator, launches.clone(), given(addresses, length)) }
        })
    }

    /// Adds the same to the graph that their stream records.
    ///
    /// # Safety
    ///
    /// As for [`Slices::record`].
    pub(crate) unsafe fn record_into<M: DeviceMonoid, E: Elements>(
        &self,
        operator: &M,
        elements: E,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        check_output(output)?;
        check_context(&self.kernels.context, "input", elements.stream())?;
        check_capturing(elements.stream())?;
        self.assert_reads::<E::Reader>();
        let length = elements.length();
        let launches = self.tuned_launches::<M, E::Reader>(length)?;
        let operator = Operator::of(operator, length);
        let room = self.room(&launches, length);
        let mut slices = Slices { elements: Some(elements), output };
        // SAFETY: the caller's promise.
        unsafe {
            slices.record(&self.kernels.workspaces, room, |queue, addresses| {
                self.give(queue, operator, launches, given(addresses, length))
            })
        }
    }

    /// What they need to reduce so many items.
    fn room(&self, launches: &Launches, length: u64) -> Room {
        let item = &self.kernels.data.item;
        Room {
            needed: launches.memory_bytes(item) as usize,
            most: most_bytes(item, length) as usize,
            keeps: if launches.gathers() { Keeps::Zeros } else { Keeps::Anything },
        }
    }

    /// Gives a queue all that it takes to write the bracket of `items` to `output`.
    ///
    /// # Safety
    ///
    /// 1. The kernels of `launches` are loaded, for the same length.
    /// 2. The addresses are of elements, as the reader takes them, of an item, and of memory of [`room`](Self::room).
    /// 3. They stay what they are until the queue's work has ended, and nothing else uses that memory meanwhile.
    unsafe fn give<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        operator: Operator<'_, M>,
        launches: Launches,
        given: Given<I>,
    ) -> Result<(), Error> {
        let Given { elements, output, memory } = given;
        let (mut first, mut partials) =
            (Some(elements), Span { input: ArrayInput { elements: 0 }, length: 0 });
        let mut room = memory + TICKET_BYTES;
        for (number, launch) in launches.enumerate() {
            let to = if launch.leaves_one() { output } else { Output::silent(room) };
            let places = Places { output: to, tickets: memory, follows: number > 0 };
            // SAFETY: as was promised; partials are in the memory, one for each chunk of the launch that leaves them.
            unsafe {
                match first.take() {
                    Some(elements) => self.launch(queue, operator, launch, elements, places)?,
                    None => self.of_partials().launch(queue, operator, launch, partials, places)?,
                }
            }
            partials = Span { input: ArrayInput { elements: room }, length: launch.chunks.into() };
            room += partial_bytes(&self.kernels.data.item, partials.length);
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`give`](Self::give), of one launch: its output has room for an item a chunk.
    unsafe fn launch<M: DeviceMonoid, I>(
        &self,
        queue: &mut Queue<'_>,
        operator: Operator<'_, M>,
        launch: Launch,
        elements: Span<I>,
        places: Places,
    ) -> Result<(), Error> {
        let Span { input, length } = elements;
        let Places { output, tickets, follows } = places;
        let shape = self.policy.shape(launch.kernel);
        let placed = launch.placed(&shape, length);
        let arguments = Arguments {
            input,
            length,
            output: output.address,
            tickets,
            runs: placed.runs,
            row_level: placed.row_level,
            serial: output.serial,
            whole: placed.whole,
            gathers: launch.gathers.into(),
            identity: operator.identity,
        };
        let shared_bytes = shape.shared_bytes(&self.kernels.data);
        let resident = match launch.kernel {
            Kernel::Large => self.kernels.resident_blocks(launch.kernel, shared_bytes)?,
            Kernel::Small | Kernel::Baseline => launch.chunks,
        };
        let count = self.policy.blocks(&launch, resident);
        let early = follows && self.kernels.begins_early();
        let blocks = Blocks { count, warps: placed.warps, shared_bytes, early };
        // SAFETY: that is what a kernel that reduces takes, and what it points to is what was promised.
        unsafe { self.kernels.launch(launch.kernel, blocks, arguments, operator.value, queue) }
    }
}

#[cfg(all(test, feature = "laws"))]
mod tests;
