//! The bracket as launches: the kernel of one operator in one context, and what it is given.

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread::Builder;

use cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, result};

use super::driver::{RelaxedCapture, architecture, capture, check, check_allocation, is_capturing};
use super::module::{Function, Grid, Module};
use super::workspace::{Workspaces, lock};
use crate::codegen::{Arguments, KERNEL, Source};
use crate::jit::Architecture;
use crate::policy::{Kernel, Launch, partial_bytes};
use crate::{DeviceMonoid, DeviceType, Error, Layout, Policy, jit};

/// An operator's kernels in a context, each compiled when it is first needed.
#[derive(Debug)]
pub(crate) struct BracketKernel {
    context: Arc<CudaContext>,
    target: jit::Target,
    policy: Policy,
    /// Described once: that allocates where an item has parts.
    item: Layout,
    workspaces: Workspaces,
    /// In the order of [`Kernel::ALL`].
    loaded: [OnceLock<Loaded>; Kernel::ALL.len()],
    /// Held while a kernel is compiled and loaded, so that threads do it once.
    loading: Mutex<()>,
}

/// A compiled and loaded kernel.
#[derive(Debug)]
struct Loaded {
    function: Function,
    /// Whether it reads the operator's value.
    has_state: bool,
    /// Of a block.
    shared_bytes: u32,
    // Dropped after what was launched from it.
    _module: Module,
}

/// Some items on the device, of some type.
#[derive(Clone, Copy)]
struct Span {
    address: u64,
    length: u64,
}

/// Where a launch leaves what it makes, and how the host learns of it.
#[derive(Clone, Copy)]
pub(super) struct Output {
    /// Device memory, or nowhere.
    pub(super) address: u64,
    /// Where it is sent to instead, each word with the serial; or nowhere.
    pub(super) host: u64,
    pub(super) serial: u32,
}

impl Output {
    fn silent(address: u64) -> Self {
        Self { address, host: 0, serial: 0 }
    }
}

/// What makes kernels what they are: the handle of a context, an operator's type, and a policy.
type Identity = (usize, TypeId, Policy);

/// The kernels of this process. They stay loaded, as does their context: graphs may use them at any time, and the next
/// reduction with an operator finds what the one before it made.
static KERNELS: LazyLock<Mutex<HashMap<Identity, Arc<BracketKernel>>>> = LazyLock::new(Mutex::default);

impl BracketKernel {
    /// The kernels of an operator in a context. None is compiled yet, unless it was needed before.
    pub(crate) fn of<M: DeviceMonoid>(
        context: &Arc<CudaContext>,
        policy: Policy,
    ) -> Result<Arc<Self>, Error> {
        let identity = (context.cu_ctx() as usize, TypeId::of::<M>(), policy);
        if let Some(kernel) = lock(&KERNELS).get(&identity) {
            return Ok(kernel.clone());
        }
        let kernel = Self::for_target::<M>(context, policy, jit::target(architecture(context)?)?)?;
        Ok(lock(&KERNELS).entry(identity).or_insert_with(|| Arc::new(kernel)).clone())
    }

    fn for_target<M: DeviceMonoid>(
        context: &Arc<CudaContext>,
        policy: Policy,
        target: jit::Target,
    ) -> Result<Self, Error> {
        let item = M::Item::layout();
        policy.check(&item)?;
        let workspaces = Workspaces::new(context, item.size);
        let loaded = [const { OnceLock::new() }; Kernel::ALL.len()];
        let context = context.clone();
        Ok(Self { context, target, policy, item, workspaces, loaded, loading: Mutex::new(()) })
    }

    /// Whether a launch may begin before the one before it has ended.
    fn begins_early(&self) -> bool {
        self.target.architecture >= Architecture::new(9, 0)
    }

    /// Makes of some kernels those that are not there yet; they are compiled at the same time.
    fn prepare<M: DeviceMonoid>(&self, kernels: impl Iterator<Item = Kernel> + Clone) -> Result<(), Error> {
        let is_missing = |kernel: &Kernel| self.loaded[*kernel as usize].get().is_none();
        if !kernels.clone().any(|kernel| is_missing(&kernel)) {
            return Ok(());
        }
        let _loading = lock(&self.loading);
        let mut missing: Vec<Kernel> = kernels.filter(is_missing).collect();
        missing.sort();
        missing.dedup();
        let compiled = at_once(&missing, |kernel| {
            let source = Source::of_reduction::<M>(self.policy.shape(kernel))?;
            let image = jit::compile(&source, self.target)?;
            Ok((source.has_state(), image))
        });
        let _relaxed = RelaxedCapture::enter()?;
        for (kernel, compiled) in missing.into_iter().zip(compiled) {
            let (has_state, image) = compiled?;
            let module = Module::load(&self.context, &image)?;
            let function = module.function(KERNEL)?;
            let shared_bytes = self.policy.shape(kernel).shared_bytes(&self.item) as u32;
            function.allow_shared_bytes(shared_bytes)?;
            let loaded = Loaded { function, has_state, shared_bytes, _module: module };
            self.loaded[kernel as usize].get_or_init(|| loaded);
        }
        Ok(())
    }

    /// Makes the kernels, and the workspace of a stream, ahead of their first use.
    pub(crate) fn reserve<M: DeviceMonoid>(&self, stream: &CudaStream) -> Result<(), Error> {
        let _relaxed = RelaxedCapture::enter()?;
        self.prepare::<M>(Kernel::ALL.into_iter())?;
        self.workspaces.of_stream(stream).map(|_| ())
    }

    /// The bracket of items in host memory, copied to the device in the order of `stream`.
    pub(crate) fn run_host<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &[M::Item],
        stream: &Arc<CudaStream>,
    ) -> Result<M::Item, Error> {
        let _relaxed = RelaxedCapture::enter()?;
        if is_capturing(stream)? {
            return Err(Error::StreamIsCapturing);
        }
        // SAFETY: every item is written before it is read, by the copy that comes next in the stream.
        let allocated = unsafe { stream.alloc::<M::Item>(items.len()) };
        let mut copy: CudaSlice<M::Item> = check_allocation(&self.context, size_of_val(items), allocated)?;
        check("copying to the device", stream.memcpy_htod(items, &mut copy))?;
        let result = self.run(operator, &copy);
        if result.is_err() {
            // The copy may still read the caller's memory; what failed is already known.
            // SAFETY: the stream is alive.
            let _ = unsafe { result::stream::synchronize(stream.cu_stream()) };
        }
        result
    }

    /// The bracket of items in device memory.
    pub(crate) fn run<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &dyn DevicePtr<M::Item>,
    ) -> Result<M::Item, Error> {
        let _relaxed = RelaxedCapture::enter()?;
        let stream = items.stream();
        self.check_context("input", stream)?;
        if is_capturing(stream)? {
            return Err(Error::StreamIsCapturing);
        }
        let workspace = self.workspaces.of_stream(stream)?;
        // Held until the result is read: another thread's run on this stream would overwrite it.
        let mut workspace = lock(&workspace);
        let (address, _read) = items.device_ptr(stream);
        let span = Span { address, length: items.len() as u64 };
        check("binding the context", self.context.bind_to_thread())?;
        let partials = workspace.partials(self.partial_bytes(span.length))?;
        let output = workspace.awaited_output();
        if let Err(error) = self.enqueue(operator, span, output, partials, stream) {
            // The first launches may be under way, in memory that the caller lent for this call.
            // SAFETY: the stream is alive.
            let _ = unsafe { result::stream::synchronize(stream.cu_stream()) };
            return Err(error);
        }
        // SAFETY: the last kernel sends an item, and the workspace is for items.
        unsafe { workspace.wait(stream) }
    }

    /// Lets the stream of `items` write their bracket to `output`, when it gets there.
    pub(crate) fn run_into<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: &dyn DevicePtr<M::Item>,
        output: &mut dyn DevicePtrMut<M::Item>,
    ) -> Result<(), Error> {
        let _relaxed = RelaxedCapture::enter()?;
        let stream = items.stream();
        self.check_context("input", stream)?;
        self.check_context("output", output.stream())?;
        if output.len() != 1 {
            return Err(Error::OutputLength { length: output.len() });
        }
        let length = items.len() as u64;
        if let Some(capture) = capture(stream)? {
            check("binding the context", self.context.bind_to_thread())?;
            let (address, target) = captured_addresses(items, output)?;
            let bytes = self.partial_bytes(length);
            let partials = self.workspaces.partials_of_graph(stream, capture, bytes)?;
            let items = Span { address, length };
            return self.enqueue(operator, items, Output::silent(target), partials, stream);
        }
        let workspace = self.workspaces.of_stream(stream)?;
        let mut workspace = lock(&workspace);
        check("binding the context", self.context.bind_to_thread())?;
        let partials = workspace.partials(self.partial_bytes(length))?;
        // What cudarc tracks may not reach both streams: one may be borrowed, or be counted by another context.
        let other = (output.stream() != stream).then(|| output.stream().clone());
        if let Some(other) = &other {
            check("waiting for the output's stream", stream.join(other))?;
        }
        let (address, _read) = items.device_ptr(stream);
        let (target, _written) = output.device_ptr_mut(stream);
        let (span, output) = (Span { address, length }, Output::silent(target));
        let enqueued = self.enqueue(operator, span, output, partials, stream);
        // Recorded after a failure, too: the first launches may be under way.
        workspace.record_use(stream)?;
        if let Some(other) = &other {
            check("letting the output's stream wait", other.join(stream))?;
        }
        enqueued
    }

    /// What the partials of an input need.
    fn partial_bytes(&self, length: u64) -> usize {
        self.policy.partial_bytes(&self.item, length) as usize
    }

    fn check_context(&self, what: &'static str, stream: &CudaStream) -> Result<(), Error> {
        if *stream.context() == self.context {
            return Ok(());
        }
        let device = super::Device::from(self.context.clone()).to_string();
        Err(Error::WrongContext { what, device })
    }

    /// Launches all that it takes to write the bracket of `items` to `output`.
    fn enqueue<M: DeviceMonoid>(
        &self,
        operator: &M,
        items: Span,
        output: Output,
        partials: u64,
        stream: &CudaStream,
    ) -> Result<(), Error> {
        let launches = self.policy.launches(&self.item, items.length);
        // All are there, and what is the user's code has been called, before anything is launched.
        let identity = operator.identity();
        self.prepare::<M>(launches.clone().map(|launch| launch.kernel))?;
        let (mut items, mut room, mut early) = (items, partials, false);
        for launch in launches {
            let is_last = launch.blocks == 1;
            let to = if is_last { output } else { Output::silent(room) };
            self.launch(operator, identity, (launch, early), items, to, stream)?;
            items = Span { address: room, length: u64::from(launch.blocks) };
            room += partial_bytes(&self.item, items.length);
            early = self.begins_early();
        }
        Ok(())
    }

    fn launch<M: DeviceMonoid>(
        &self,
        operator: &M,
        identity: M::Item,
        (launch, early): (Launch, bool),
        items: Span,
        output: Output,
        stream: &CudaStream,
    ) -> Result<(), Error> {
        let Some(loaded) = self.loaded[launch.kernel as usize].get() else {
            unreachable!("kernels are prepared before anything is launched");
        };
        let mut arguments = Arguments {
            input: items.address,
            length: items.length,
            output: output.address,
            run_level: self.policy.shape(launch.kernel).run_level(&launch),
            host: output.host,
            serial: output.serial,
            identity,
        };
        // An operator without state is an empty struct, which in C++ has one byte.
        let mut operator = *operator;
        let mut nothing = 0_u8;
        let state: *mut c_void = match loaded.has_state {
            true => (&raw mut operator).cast(),
            false => (&raw mut nothing).cast(),
        };
        let mut parameters = [(&raw mut arguments).cast(), state];
        let grid = Grid {
            blocks: launch.blocks,
            threads: launch.warps * 32,
            shared_bytes: loaded.shared_bytes,
            early,
        };
        // SAFETY: the kernel takes these two parameters, whose layouts its source asserts. The input is a slice that
        // its stream keeps, the output has room for one item a block (partials are a workspace of `partial_bytes`), and
        // both stay until the stream has passed: slices are freed in stream order, workspaces after draining.
        unsafe { loaded.function.launch(stream, &grid, &mut parameters) }
    }
}

/// What `make` gives for each kernel, in their order: the first in this thread, each other in its own.
fn at_once<T: Send>(kernels: &[Kernel], make: impl Fn(Kernel) -> T + Sync) -> Vec<T> {
    let Some((&first, others)) = kernels.split_first() else {
        return Vec::new();
    };
    let make = &make;
    std::thread::scope(|scope| {
        let thread =
            |&kernel: &Kernel| (kernel, Builder::new().spawn_scoped(scope, move || make(kernel)).ok());
        let threads: Vec<_> = others.iter().map(thread).collect();
        let mut made = vec![make(first)];
        made.extend(threads.into_iter().map(|(kernel, thread)| match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // No thread was to be had.
            None => make(kernel),
        }));
        made
    })
}

/// The addresses of slices whose use a graph records.
///
/// Whoever replays the graph orders it after what fills its input. The events by which cudarc tracks a slice may have
/// been recorded before the capture, and the capturing stream must not wait for those: a stream of our own does. If
/// one was recorded within the capture, that stream is part of it now, and is joined to the capturing one.
fn captured_addresses<T>(
    items: &dyn DevicePtr<T>,
    output: &mut dyn DevicePtrMut<T>,
) -> Result<(u64, u64), Error> {
    let stream = items.stream();
    let tracked =
        [stream, output.stream()].iter().any(|of| of.context().is_managing_stream_synchronization());
    let outside = match tracked {
        true => check("creating a stream", stream.context().new_stream())?,
        false => stream.clone(),
    };
    let (address, read) = items.device_ptr(&outside);
    let (target, written) = output.device_ptr_mut(&outside);
    std::mem::forget((read, written));
    if tracked && is_capturing(&outside)? {
        check("joining the capture", stream.join(&outside))?;
    }
    Ok((address, target))
}

#[cfg(all(test, feature = "laws"))]
mod tests {
    use super::*;
    use crate::operators::{AffineComposition, Sum};
    use crate::{DeviceType, tree};

    /// What a GPU newer than NVRTC runs: PTX that the driver finishes.
    #[test]
    fn gpu_is_the_cpu_through_ptx() {
        let Some(device) = crate::laws::gpu() else { return };
        let stream = device.stream().expect("a GPU");
        let context = stream.context();
        let architecture = architecture(context).expect("answers");
        let target = jit::Target { architecture, form: jit::Form::Ptx };
        let policy = Policy::for_item(&<[u32; 2]>::layout());
        let kernel =
            BracketKernel::for_target::<AffineComposition<u32>>(context, policy, target).expect("loads");
        let operator = AffineComposition::new();
        for length in [1_u32, 2, 1000, 100_001] {
            let items: Vec<[u32; 2]> = (0..length).map(|i| [i | 1, i.wrapping_mul(2_654_435_761)]).collect();
            let got = kernel.run_host(&operator, &items, stream).expect("runs");
            assert_eq!(got, tree::bracket(&operator, &items), "{length} items");
        }
    }

    /// A workspace that a graph took is the next graph's.
    #[test]
    fn gpu_workspaces_of_graphs_are_used_again() {
        let Some(device) = crate::laws::gpu() else { return };
        let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
        let policy = Policy { max_blocks: 99, ..Policy::for_item(&u64::layout()) };
        let kernel = BracketKernel::of::<Sum<u64>>(stream.context(), policy).expect("a kernel");
        kernel.reserve::<Sum<u64>>(&stream).expect("compiles");
        let items = stream.clone_htod(&[1_u64; 100_000]).expect("copies");
        let mut result = stream.clone_htod(&[0_u64]).expect("copies");
        let mode = cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let flags =
            cudarc::driver::sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        for _ in 0..10 {
            stream.begin_capture(mode).expect("begins to record");
            for _ in 0..3 {
                kernel.run_into(&Sum::new(), &items, &mut result).expect("records");
            }
            let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
            assert_eq!(kernel.workspaces.in_graphs().0, 1);
            graph.launch().expect("launches");
            assert_eq!(stream.clone_dtoh(&result).expect("copies"), [100_000]);
            drop(graph);
            // The driver gives it back in a thread of its own.
            let start = std::time::Instant::now();
            while kernel.workspaces.in_graphs() != (0, 1) && start.elapsed().as_secs() < 10 {
                std::thread::yield_now();
            }
            assert_eq!(kernel.workspaces.in_graphs(), (0, 1));
        }
    }

    /// Partials of a large input find room, between small ones, and in one graph with them.
    #[test]
    fn gpu_workspaces_grow() {
        let Some(device) = crate::laws::gpu() else { return };
        let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
        let policy = Policy { tiles_per_warp: 1, ..Policy::for_item(&u64::layout()) };
        let kernel = BracketKernel::of::<Sum<u64>>(stream.context(), policy).expect("a kernel");
        let large: u32 = 40_000_000;
        let items: Vec<u64> = (0..u64::from(large)).collect();
        let items = stream.clone_htod(&items).expect("copies");
        let sum = |length: u64| length * (length - 1) / 2;
        let lengths = [1000, u64::from(large), 100_000, 20_000_000];
        for length in lengths {
            let got = kernel.run(&Sum::new(), &items.slice(..length as usize)).expect("runs");
            assert_eq!(got, sum(length));
        }
        let mut results = stream.clone_htod(&[0_u64; 4]).expect("copies");
        let mode = cudarc::driver::sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let flags =
            cudarc::driver::sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        stream.begin_capture(mode).expect("begins to record");
        for (at, length) in lengths.into_iter().enumerate() {
            let items = items.slice(..length as usize);
            kernel.run_into(&Sum::new(), &items, &mut results.slice_mut(at..=at)).expect("records");
        }
        let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
        graph.launch().expect("launches");
        assert_eq!(stream.clone_dtoh(&results).expect("copies"), lengths.map(sum));
    }

    #[test]
    fn kernels_are_made_at_once_and_stay_in_order() {
        let made = at_once(&Kernel::ALL, |kernel| (kernel, std::thread::current().id()));
        assert_eq!(made.iter().map(|(kernel, _)| *kernel).collect::<Vec<_>>(), Kernel::ALL);
        assert_eq!(made[0].1, std::thread::current().id());
        assert!(at_once(&[], |kernel| kernel).is_empty());
    }
}
