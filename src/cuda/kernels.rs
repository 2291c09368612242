//! Compiles and loads the kernels of any primitive, once per context, when a call first needs them.

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::Hash;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread::Builder;

use cudarc::driver::CudaContext;

use super::driver::{architecture, limits};
use super::launch_graph::Queue;
use super::module::{Function, Grid, Module};
use super::workspaces::Workspaces;
use crate::cuda::lock::lock;
use crate::explanation::ExplainedLaunch;
use crate::jit::{Architecture, Compilation, Image};
use crate::plan::{Data, Kernel};
use crate::source::{Reader, Source, data_of, is_default};
use crate::types::Arrangement;
use crate::{DeviceAggregate, DeviceMonoid, Error, jit};

/// The key of an operator's kernels: context handle, types of operator and reader, policy.
type Identity<P> = (usize, TypeId, P);

/// The kernels of one primitive in this process. They and their contexts are never unloaded,
/// because a graph may use them at any time. All calls with the same key share them.
pub(super) struct Registry<P, K>(LazyLock<Mutex<HashMap<Identity<P>, Arc<K>>>>);

impl<P: Copy + Eq + Hash, K> Registry<P, K> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The kernels of an operator and a reader in a context. `make` creates them at the first call.
    pub(super) fn get(
        &self,
        context: &Arc<CudaContext>,
        subject: Subject,
        policy: P,
        make: &dyn Fn(Kernels) -> Result<K, Error>,
    ) -> Result<Arc<K>, Error> {
        let identity = (context.cu_ctx() as usize, subject.id, policy);
        if let Some(kernel) = lock(&self.0).get(&identity) {
            return Ok(kernel.clone());
        }
        let target = jit::target(architecture(context)?)?;
        let kernel = make(Kernels::new(context, (subject.data)(), target))?;
        Ok(lock(&self.0).entry(identity).or_insert_with(|| Arc::new(kernel)).clone())
    }
}

/// Declares the registry of a primitive, and the function that reads it. The function is not generic:
/// rustc would compile the registry for each operator.
macro_rules! registry {
    ($registered:ident: $policy:ty => $kernels:ty) => {
        fn $registered(
            context: &Arc<CudaContext>,
            subject: Subject,
            policy: $policy,
            make: &dyn Fn(Kernels) -> Result<$kernels, Error>,
        ) -> Result<Arc<$kernels>, Error> {
            static KERNELS: crate::cuda::kernels::Registry<$policy, $kernels> =
                crate::cuda::kernels::Registry::new();
            KERNELS.get(context, subject, policy, make)
        }
    };
}
pub(super) use registry;

/// The kernels of an aggregate that a reduction or a scan keeps. It keeps those of the default
/// arrangement, and those of the first other one.
#[derive(Debug)]
pub(crate) struct Kept<K> {
    default: OnceLock<Arc<K>>,
    other: OnceLock<(TypeId, Arc<K>)>,
}

impl<K> Clone for Kept<K> {
    fn clone(&self) -> Self {
        Self { default: self.default.clone(), other: self.other.clone() }
    }
}

impl<K> Kept<K> {
    pub(crate) fn none() -> Self {
        Self { default: OnceLock::new(), other: OnceLock::new() }
    }

    /// The kernels for elements of the arrangement `R`. `kernels` finds them.
    pub(crate) fn get<A: DeviceAggregate, R: Arrangement<Element = A::Input>>(
        &self,
        kernels: impl Fn() -> Result<Arc<K>, Error>,
    ) -> Result<Arc<K>, Error> {
        if is_default::<A, R>() {
            return match self.default.get() {
                Some(kept) => Ok(kept.clone()),
                None => kernels().map(|found| self.default.get_or_init(|| found).clone()),
            };
        }
        match self.other.get() {
            Some((of, kept)) if *of == TypeId::of::<R>() => Ok(kept.clone()),
            Some(_) => kernels(),
            None => {
                let found = kernels()?;
                let _ = self.other.set((TypeId::of::<R>(), found.clone()));
                Ok(found)
            }
        }
    }
}

/// An operator and a reader, without their types.
#[derive(Clone, Copy)]
pub(super) struct Subject {
    id: TypeId,
    data: fn() -> Data,
}

impl Subject {
    pub(super) fn of<M: DeviceMonoid, R: Reader>() -> Self {
        Self { id: TypeId::of::<(M, R)>(), data: data_of::<M, R> }
    }
}

/// The kernels of one operator and reader in a context.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) context: Arc<CudaContext>,
    pub(super) target: jit::Target,
    /// Kept, because its computation allocates.
    pub(super) data: Data,
    pub(super) workspaces: Workspaces,
    /// One entry for each [`Kernel`].
    loaded: [OnceLock<Loaded>; Kernel::COUNT],
    /// The kernels that are compiled in the background. The lock is held while a kernel is compiled
    /// and loaded, so that no other thread compiles it too.
    compiling: Mutex<Vec<Compiling>>,
}

/// A kernel that is compiled in the background, and is not loaded yet.
#[derive(Debug)]
struct Compiling {
    kernel: Kernel,
    rendered: Rendered,
    compilation: Compilation,
}

/// The source of a kernel, and the most shared memory of a block, in bytes.
#[derive(Clone, Debug)]
pub(super) struct Rendered {
    pub(super) source: Arc<Source>,
    pub(super) shared_bytes: usize,
}

/// A compiled and loaded kernel.
#[derive(Debug)]
pub(super) struct Loaded {
    function: Function,
    /// Whether the kernel reads the operator's value.
    has_state: bool,
    /// The number of blocks that the device holds at once. Empty until a launch needs it.
    resident_blocks: OnceLock<u32>,
    // Keeps the image loaded while `function` may be launched.
    _module: Module,
}

impl Loaded {
    pub(super) fn new(
        context: &Arc<CudaContext>,
        source: &Source,
        image: &Image,
        shared_bytes: usize,
    ) -> Result<Self, Error> {
        let module = Module::load(context, image)?;
        let function = module.function(source.kernel_name())?;
        function.allow_shared_bytes(shared_bytes as u32)?;
        let resident_blocks = OnceLock::new();
        Ok(Self { function, has_state: source.has_state(), resident_blocks, _module: module })
    }

    /// Launches the kernel through a queue.
    ///
    /// # Safety
    ///
    /// 1. `A` is the kernel's argument type, and `M` is the operator that it was rendered for.
    /// 2. The memory at each device address in `arguments` is as large as the kernel's accesses.
    /// 3. This memory stays valid until the launched work has ended.
    pub(super) unsafe fn launch<A, M: DeviceMonoid>(
        &self,
        blocks: Blocks,
        mut arguments: A,
        operator: &M,
        queue: &mut Queue<'_>,
    ) -> Result<(), Error> {
        // An operator without state has no bytes in Rust. Its C++ type, an empty struct, has one.
        let mut operator = *operator;
        let mut nothing = 0_u8;
        let state: *mut c_void = match self.has_state {
            true => (&raw mut operator).cast(),
            false => (&raw mut nothing).cast(),
        };
        let mut parameters = [(&raw mut arguments).cast(), state];
        let grid = Grid {
            blocks: blocks.count,
            threads: blocks.warps * 32,
            shared_bytes: blocks.shared_bytes as u32,
            early: blocks.early,
        };
        // SAFETY: the kernel takes these two parameters, and its source asserts their layouts. The
        // caller guarantees the rest.
        unsafe { queue.launch(self.function, grid, &mut parameters) }
    }
}

/// The identity for a kernel's arguments if it is part of the result, otherwise zeros. An operator
/// without an identity is asked for it only if the result needs one.
pub(super) fn identity_if<M: DeviceMonoid>(is_a_result: bool, operator: &M) -> MaybeUninit<M::Item> {
    match is_a_result {
        true => MaybeUninit::new(operator.identity()),
        false => MaybeUninit::zeroed(),
    }
}

/// The kernels of the first launch, and of the others, which read partials.
pub(super) fn first_and_others(kernels: &[Kernel]) -> (&[Kernel], &[Kernel]) {
    kernels.split_at(kernels.len().min(1))
}

/// The blocks of a launch.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) count: u32,
    pub(super) warps: u32,
    /// Shared memory of each block, in bytes. At most the size that the kernel was loaded with.
    pub(super) shared_bytes: usize,
    /// Whether the blocks may begin before the previous launch has ended. The kernel then waits for
    /// that launch itself.
    pub(super) early: bool,
}

// No function here is generic over the operator: rustc would compile it for each one.
impl Kernels {
    pub(super) fn new(context: &Arc<CudaContext>, data: Data, target: jit::Target) -> Self {
        let workspaces = Workspaces::new(context, data.item.size);
        let loaded = [const { OnceLock::new() }; Kernel::COUNT];
        let context = context.clone();
        Self { context, target, data, workspaces, loaded, compiling: Mutex::default() }
    }

    /// Whether a launch may begin before the previous one has ended: from compute capability 9.0
    /// on.
    pub(super) fn begins_early(&self) -> bool {
        self.target.architecture >= Architecture::new(9, 0)
    }

    /// Compiles and loads the kernels that are missing, in parallel, and waits for them.
    pub(super) fn prepare(
        &self,
        kernels: &[Kernel],
        render: &(dyn Fn(Kernel) -> Result<Rendered, Error> + Sync),
    ) -> Result<(), Error> {
        if self.all_loaded(kernels) {
            return Ok(());
        }
        let mut compiling = lock(&self.compiling);
        let missing = self.missing(kernels);
        let begun: Vec<_> = compiling.extract_if(.., |begun| missing.contains(&begun.kernel)).collect();
        let compiled = in_parallel(&missing, |kernel| {
            if let Some(begun) = begun.iter().find(|begun| begun.kernel == kernel) {
                return Ok((begun.rendered.clone(), begun.compilation.wait()?));
            }
            let rendered = render(kernel)?;
            let image = jit::compile(&rendered.source, self.target)?;
            Ok((rendered, image))
        });
        for (kernel, compiled) in missing.into_iter().zip(compiled) {
            let (rendered, image) = compiled?;
            self.load(kernel, &rendered, &image)?;
        }
        Ok(())
    }

    /// Returns whether all `kernels` are loaded, without waiting for their compilation.
    ///
    /// Missing kernels are loaded from a cache, or compiled in the background. Until then calls use
    /// the kernel `instead`, which compiles faster. If necessary, this call compiles and loads it.
    pub(super) fn prepare_or(
        &self,
        instead: Kernel,
        kernels: &[Kernel],
        render: &dyn Fn(Kernel) -> Result<Rendered, Error>,
    ) -> Result<bool, Error> {
        let mut compiling = lock(&self.compiling);
        let mut to_compile = Vec::new();
        for kernel in self.missing(kernels) {
            if let Some(at) = compiling.iter().position(|begun| begun.kernel == kernel) {
                if compiling[at].compilation.has_ended() {
                    // A failed compilation stays in the list, so that every call that needs it
                    // returns the error.
                    let image = compiling[at].compilation.wait()?;
                    self.load(kernel, &compiling[at].rendered, &image)?;
                    compiling.swap_remove(at);
                    log::debug!("{kernel:?}: runs now, instead of {instead:?}");
                }
                continue;
            }
            let rendered = render(kernel)?;
            match jit::find(&rendered.source, self.target)? {
                Some(image) => self.load(kernel, &rendered, &image)?,
                None => to_compile.push((kernel, rendered)),
            }
        }
        if self.all_loaded(kernels) {
            return Ok(true);
        }
        if !self.is_loaded(instead) {
            let rendered = render(instead)?;
            self.load(instead, &rendered, &jit::compile_once(&rendered.source, self.target)?)?;
        }
        for (kernel, rendered) in to_compile {
            log::debug!("{kernel:?}: compiled in the background, {instead:?} runs meanwhile");
            let compilation = Compilation::begin(rendered.source.clone(), self.target);
            compiling.push(Compiling { kernel, rendered, compilation });
        }
        Ok(self.all_loaded(kernels))
    }

    pub(super) fn all_loaded(&self, kernels: &[Kernel]) -> bool {
        kernels.iter().all(|&kernel| self.is_loaded(kernel))
    }

    fn is_loaded(&self, kernel: Kernel) -> bool {
        self.loaded[kernel as usize].get().is_some()
    }

    fn missing(&self, kernels: &[Kernel]) -> Vec<Kernel> {
        let mut missing: Vec<Kernel> =
            kernels.iter().copied().filter(|&kernel| !self.is_loaded(kernel)).collect();
        missing.sort();
        missing.dedup();
        missing
    }

    fn load(&self, kernel: Kernel, rendered: &Rendered, image: &Image) -> Result<(), Error> {
        let loaded = Loaded::new(&self.context, &rendered.source, image, rendered.shared_bytes)?;
        self.loaded[kernel as usize].get_or_init(|| loaded);
        Ok(())
    }

    /// The number of blocks of a kernel that the device holds at once. Blocks have the kernel's
    /// maximum number of threads and `shared_bytes` bytes of shared memory.
    pub(super) fn resident_blocks(&self, kernel: Kernel, shared_bytes: usize) -> Result<u32, Error> {
        let loaded = self.loaded(kernel);
        if let Some(&blocks) = loaded.resident_blocks.get() {
            return Ok(blocks);
        }
        let blocks = loaded.function.resident_blocks(shared_bytes)? * limits(&self.context)?.multiprocessors;
        Ok(*loaded.resident_blocks.get_or_init(|| blocks))
    }

    /// The explanation of a launch of a loaded kernel.
    pub(super) fn explain(
        &self,
        kernel: Kernel,
        items: u64,
        blocks: Blocks,
    ) -> Result<ExplainedLaunch, Error> {
        let (registers, local_bytes) = self.loaded(kernel).function.resources()?;
        Ok(ExplainedLaunch {
            kernel: match kernel {
                Kernel::Small => "small",
                Kernel::Large => "large",
                Kernel::Baseline => "baseline",
                Kernel::ByLanes => "by lanes",
                Kernel::ByWarps => "by warps",
                Kernel::ByColumns => "by columns",
                Kernel::ByOffsets => "by offsets",
            },
            items,
            blocks: blocks.count,
            threads: 32 * blocks.warps,
            shared_bytes: blocks.shared_bytes as u32,
            registers,
            local_bytes,
        })
    }

    fn loaded(&self, kernel: Kernel) -> &Loaded {
        let Some(loaded) = self.loaded[kernel as usize].get() else {
            unreachable!("kernels are prepared before anything is launched");
        };
        loaded
    }

    /// Launches a loaded kernel.
    ///
    /// # Safety
    ///
    /// The conditions of [`Loaded::launch`].
    pub(super) unsafe fn launch<A, M: DeviceMonoid>(
        &self,
        kernel: Kernel,
        blocks: Blocks,
        arguments: A,
        operator: &M,
        queue: &mut Queue<'_>,
    ) -> Result<(), Error> {
        // SAFETY: the caller guarantees the conditions of `Loaded::launch`.
        unsafe { self.loaded(kernel).launch(blocks, arguments, operator, queue) }
    }
}

/// Calls `make` for each kernel in parallel, and returns the results in the order of `kernels`.
/// This thread processes the first kernel. A thread is started for each other kernel.
fn in_parallel<T: Send>(kernels: &[Kernel], make: impl Fn(Kernel) -> T + Sync) -> Vec<T> {
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
            // The thread could not be started.
            None => make(kernel),
        }));
        made
    })
}

#[cfg(test)]
mod tests;
