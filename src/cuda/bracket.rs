//! The bracket as launches: the kernels of one operator in one context, and what they are given.

use std::mem::MaybeUninit;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, DevicePtr, DevicePtrMut};

use super::chain::Queue;
use super::driver::{check, check_capturing, check_not_capturing};
use super::host::PrivateStream;
use super::kernels::{Blocks, Kernels, Registry, Rendered};
use super::result_slot::Output;
use super::scratch::{Keeps, Room};
use super::slices::{Addresses, Slices, check_context, check_not_captured, drain};
use crate::cuda::lock::lock;
use crate::plan::memory::{TICKET_BYTES, most_bytes, partial_bytes};
use crate::plan::{Kernel, Launch, Launches};
use crate::source::{Arguments, ArrayInput, Source};
use crate::{DeviceMonoid, Error, Policy};

/// An operator's kernels that reduce, in a context.
#[derive(Debug)]
pub(crate) struct BracketKernel {
    kernels: Kernels,
    policy: Policy,
}

/// Some items on the device, of some type.
#[derive(Clone, Copy)]
struct Span {
    address: u64,
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

/// The identity, as a kernel gets it, if that is its result; zeros if not: an operator without an identity is never asked for one then.
pub(super) fn identity_if<M: DeviceMonoid>(is_a_result: bool, operator: &M) -> MaybeUninit<M::Item> {
    match is_a_result {
        true => MaybeUninit::new(operator.identity()),
        false => MaybeUninit::zeroed(),
    }
}

/// Where a launch reads, writes and draws.
#[derive(Clone, Copy)]
struct Places {
    items: Span,
    output: Output,
    tickets: u64,
    /// Whether its partials are gathered.
    gathers: bool,
    /// Whether the launch before belongs to the same call: then it may begin before that has ended.
    follows: bool,
}

/// What a reduction is given.
#[derive(Clone, Copy)]
struct Given {
    items: Span,
    output: Output,
    /// Of its own, beside what it is asked for.
    memory: u64,
}

impl Given {
    fn of(addresses: Addresses, length: u64) -> Self {
        let Addresses { input, output, memory } = addresses;
        Self { items: Span { address: input, length }, output: Output::silent(output), memory }
    }
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
    /// The kernels of an operator in a context. None is compiled yet, unless it was needed before.
    pub(crate) fn of<M: DeviceMonoid>(
        context: &Arc<CudaContext>,
        policy: Policy,
    ) -> Result<Arc<Self>, Error> {
        KERNELS.get::<M>(context, policy, |kernels| Self::new(kernels, policy))
    }

    fn new(kernels: Kernels, policy: Policy) -> Result<Self, Error> {
        policy.check(&kernels.item)?;
        Ok(Self { kernels, policy })
    }

    fn render<M: DeviceMonoid>(&self, kernel: Kernel) -> Result<Rendered, Error> {
        let source = Arc::new(Source::of_reduction::<M>(&self.policy, kernel)?);
        let shared_bytes = self.policy.shape(kernel).shared_bytes(&self.kernels.item);
        Ok(Rendered { source, shared_bytes })
    }

    /// The launches that reduce `length` items, of kernels that are loaded: tuned ones, or, while those are compiled, the baseline.
    fn launches<M: DeviceMonoid>(&self, length: u64) -> Result<Launches, Error> {
        let launches = self.policy.launches(&self.kernels.item, length);
        let kernels = launches.clone().map(|launch| launch.kernel);
        if self.kernels.are_there(kernels.clone()) {
            return Ok(launches);
        }
        if !self.policy.tuned {
            return self.tuned_launches::<M>(length);
        }
        match self.kernels.prepare_or(Kernel::Baseline, kernels, |kernel| self.render::<M>(kernel))? {
            true => Ok(launches),
            false => Ok(self.policy.untuned().launches(&self.kernels.item, length)),
        }
    }

    /// The launches that the policy has for `length` items, of kernels that are compiled now if they were not before. A graph
    /// keeps its kernels, so it gets these.
    fn tuned_launches<M: DeviceMonoid>(&self, length: u64) -> Result<Launches, Error> {
        let launches = self.policy.launches(&self.kernels.item, length);
        let kernels = launches.clone().map(|launch| launch.kernel);
        self.kernels.prepare(kernels, |kernel| self.render::<M>(kernel))?;
        Ok(launches)
    }

    /// Makes the kernels, and the workspace of a stream, ahead of their first use.
    pub(crate) fn reserve<M: DeviceMonoid>(&self, stream: &CudaStream) -> Result<(), Error> {
        let kernels = self.policy.kernels().iter().copied();
        self.kernels.prepare(kernels, |kernel| self.render::<M>(kernel))?;
        self.kernels.workspaces.of_stream(stream).map(|_| ())
    }

    /// The bracket of items in host memory, which are copied to the device.
    pub(crate) fn run_host<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &[M::Item],
    ) -> Result<M::Item, Error> {
        let private = PrivateStream::take(&self.kernels.context)?;
        self.run(operator, &private.upload(items)?)
    }

    /// The bracket of items in device memory.
    pub(crate) fn run<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &dyn DevicePtr<M::Item>,
    ) -> Result<M::Item, Error> {
        let stream = items.stream();
        check_context(&self.kernels.context, "input", stream)?;
        let length = items.len() as u64;
        let launches = self.launches::<M>(length)?;
        let operator = Operator::of(operator, length);
        let of_stream = self.kernels.workspaces.of_stream(stream)?;
        // Held until the result is read: another thread's run on this stream would overwrite it.
        let mut workspace = lock(&of_stream);
        // After all that may take long.
        check_not_capturing(stream)?;
        let (address, _read) = items.device_ptr(stream);
        let span = Span { address, length };
        check("binding the context", self.kernels.context.bind_to_thread())?;
        let room = self.room(&launches, length);
        let memory = workspace.memory(room)?;
        let output = workspace.slot.awaited();
        let kernels = launches.clone().map(|launch| launch.kernel);
        let given = workspace.chains.launch(kernels, stream, |queue| {
            let given = Given { items: span, output, memory };
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

    /// Lets the stream of `items` write their bracket to `output`, and does not wait for it.
    pub(crate) fn run_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &dyn DevicePtr<M::Item>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        check_output(output)?;
        check_context(&self.kernels.context, "input", items.stream())?;
        check_not_capturing(items.stream())?;
        let length = items.len() as u64;
        let launches = self.launches::<M>(length)?;
        let operator = Operator::of(operator, length);
        let room = self.room(&launches, length);
        let kernels = launches.clone().map(|launch| launch.kernel);
        let mut slices = Slices { items: Some(items), output };
        slices.enqueue(&self.kernels.workspaces, room, kernels, |queue, addresses| {
            // SAFETY: the addresses are of slices that their stream keeps, and of a workspace that is this stream's.
            unsafe { self.give(queue, operator, launches.clone(), Given::of(addresses, length)) }
        })
    }

    /// Adds the same to the graph that the stream of `items` records.
    ///
    /// # Safety
    ///
    /// As for [`Slices::record`].
    pub(crate) unsafe fn record_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &dyn DevicePtr<M::Item>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        check_output(output)?;
        check_context(&self.kernels.context, "input", items.stream())?;
        check_capturing(items.stream())?;
        let length = items.len() as u64;
        let launches = self.tuned_launches::<M>(length)?;
        let operator = Operator::of(operator, length);
        let room = self.room(&launches, length);
        let mut slices = Slices { items: Some(items), output };
        // SAFETY: the caller's promise.
        unsafe {
            slices.record(&self.kernels.workspaces, room, |queue, addresses| {
                self.give(queue, operator, launches, Given::of(addresses, length))
            })
        }
    }

    /// What they need to reduce so many items.
    fn room(&self, launches: &Launches, length: u64) -> Room {
        let item = &self.kernels.item;
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
    /// 2. The addresses are of the items, of an item, and of memory of [`room`](Self::room).
    /// 3. They stay what they are until the queue's work has ended, and nothing else uses that memory meanwhile.
    unsafe fn give<M: DeviceMonoid>(
        &self,
        queue: &mut Queue<'_>,
        operator: Operator<'_, M>,
        launches: Launches,
        given: Given,
    ) -> Result<(), Error> {
        let Given { mut items, output, memory } = given;
        let mut room = memory + TICKET_BYTES;
        let gathers = launches.gathers();
        for (number, launch) in launches.enumerate() {
            // Those that are gathered have their place behind the tickets.
            let to = if launch.leaves_one() { output } else { Output::silent(room) };
            let gathers = gathers && launch.chunks > 1;
            let places = Places { items, output: to, tickets: memory, gathers, follows: number > 0 };
            // SAFETY: as was promised; partials are in the memory, one for each chunk of the launch that leaves them.
            unsafe { self.launch(queue, operator, launch, places)? };
            items = Span { address: room, length: u64::from(launch.chunks) };
            room += partial_bytes(&self.kernels.item, items.length);
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`give`](Self::give), of one launch: its output has room for an item a chunk.
    unsafe fn launch<M: DeviceMonoid>(
        &self,
        queue: &mut Queue<'_>,
        operator: Operator<'_, M>,
        launch: Launch,
        places: Places,
    ) -> Result<(), Error> {
        let Places { items, output, tickets, gathers, follows } = places;
        let shape = self.policy.shape(launch.kernel);
        let placed = launch.placed(&shape, items.length);
        let arguments = Arguments {
            input: ArrayInput { elements: items.address },
            length: items.length,
            output: output.address,
            tickets,
            runs: placed.runs,
            row_level: placed.row_level,
            serial: output.serial,
            whole: placed.whole,
            gathers: gathers.into(),
            identity: operator.identity,
        };
        let shared_bytes = shape.shared_bytes(&self.kernels.item);
        let resident = match launch.kernel {
            Kernel::Large => self.kernels.resident_blocks(launch.kernel, shared_bytes)?,
            Kernel::Row | Kernel::Small | Kernel::Gather | Kernel::Baseline => launch.chunks,
        };
        let count = self.policy.blocks(&launch, resident);
        // The baseline does not wait for what is before it.
        let early = follows && launch.kernel != Kernel::Baseline && self.kernels.begins_early();
        let blocks = Blocks { count, warps: placed.warps, shared_bytes, early };
        // SAFETY: that is what a kernel that reduces takes, and what it points to is what was promised.
        unsafe { self.kernels.launch(launch.kernel, blocks, arguments, operator.value, queue) }
    }
}

#[cfg(all(test, feature = "laws"))]
mod tests;
