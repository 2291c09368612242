//! What the kernels of any call have in common: they are compiled and loaded when they are first needed, once in a
//! context.

use std::any::TypeId;
use std::collections::HashMap;
use std::ffi::c_void;
use std::hash::Hash;
use std::mem::MaybeUninit;
use std::panic::resume_unwind;
use std::sync::{Arc, LazyLock, Mutex, OnceLock};
use std::thread::Builder;

use cudarc::driver::CudaContext;

use super::chain::Queue;
use super::driver::{architecture, limits};
use super::module::{Function, Grid, Module};
use super::workspaces::Workspaces;
use crate::cuda::lock::lock;
use crate::jit::{Architecture, Compilation, Image};
use crate::plan::{Data, Kernel};
use crate::source::{Reader, Source, data_of};
use crate::{DeviceMonoid, Error, jit};

/// What makes kernels what they are: the handle of a context, the types of an operator and a reader, and a policy.
type Identity<P> = (usize, TypeId, P);

/// The kernels of this process, by their policies. They stay loaded, as does their context: graphs may use them at any
/// time, and the next call with an operator finds what the one before it made.
pub(super) struct Registry<P, K>(LazyLock<Mutex<HashMap<Identity<P>, Arc<K>>>>);

impl<P: Copy + Eq + Hash, K> Registry<P, K> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(Mutex::default))
    }

    /// The kernels of an operator and a reader in a context, which are made if they are not there.
    pub(super) fn get<M: DeviceMonoid, R: Reader>(
        &self,
        context: &Arc<CudaContext>,
        policy: P,
        make: impl FnOnce(Kernels) -> Result<K, Error>,
    ) -> Result<Arc<K>, Error> {
        let identity = (context.cu_ctx() as usize, TypeId::of::<(M, R)>(), policy);
        if let Some(kernel) = lock(&self.0).get(&identity) {
            return Ok(kernel.clone());
        }
        let target = jit::target(architecture(context)?)?;
        let kernel = make(Kernels::new(context, data_of::<M, R>(), target))?;
        Ok(lock(&self.0).entry(identity).or_insert_with(|| Arc::new(kernel)).clone())
    }
}

/// An operator's kernels in a context. What is needed is compiled then, or is stood in for until it is.
#[derive(Debug)]
pub(super) struct Kernels {
    pub(super) context: Arc<CudaContext>,
    pub(super) target: jit::Target,
    /// Described once: that allocates.
    pub(super) data: Data,
    pub(super) workspaces: Workspaces,
    /// In the order of [`Kernel::ALL`].
    loaded: [OnceLock<Loaded>; Kernel::ALL.len()],
    /// What is compiled in the background. Held while a kernel is compiled and loaded, so that threads do it once.
    compiling: Mutex<Vec<Compiling>>,
}

/// A kernel that is compiled in the background.
#[derive(Debug)]
struct Compiling {
    kernel: Kernel,
    rendered: Rendered,
    compilation: Compilation,
}

/// A kernel's source, and the shared memory of its blocks at most.
#[derive(Clone, Debug)]
pub(super) struct Rendered {
    pub(super) source: Arc<Source>,
    pub(super) shared_bytes: usize,
}

/// A compiled and loaded kernel.
#[derive(Debug)]
pub(super) struct Loaded {
    function: Function,
    /// Whether it reads the operator's value.
    has_state: bool,
    /// Of its blocks, as many as the device holds at once, when somebody has asked.
    resident_blocks: OnceLock<u32>,
    // Dropped after what was launched from it.
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

    /// # Safety
    ///
    /// The arguments are of the type that the kernel takes, and every device address among them is of as much memory as it
    /// uses, and stays valid until the launched work has run. The operator is of the type that it was made for.
    pub(super) unsafe fn launch<A, M: DeviceMonoid>(
        &self,
        blocks: Blocks,
        mut arguments: A,
        operator: &M,
        queue: &mut Queue<'_>,
    ) -> Result<(), Error> {
        // An operator without state is an empty struct, which in C++ has one byte.
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
        // SAFETY: the kernel takes these two parameters, whose layouts its source asserts; the rest is the caller's promise.
        unsafe { queue.give(self.function, grid, &mut parameters) }
    }
}

/// The identity, as a kernel gets it, if that is its result; zeros if not: an operator without an identity is never asked for one then.
pub(super) fn identity_if<M: DeviceMonoid>(is_a_result: bool, operator: &M) -> MaybeUninit<M::Item> {
    match is_a_result {
        true => MaybeUninit::new(operator.identity()),
        false => MaybeUninit::zeroed(),
    }
}

/// Blocks that are launched.
#[derive(Clone, Copy)]
pub(super) struct Blocks {
    pub(super) count: u32,
    pub(super) warps: u32,
    /// Of each, at most what the kernel was loaded for.
    pub(super) shared_bytes: usize,
    /// Whether they may begin before the launch before has ended, which they wait for themselves.
    pub(super) early: bool,
}

impl Kernels {
    pub(super) fn new(context: &Arc<CudaContext>, data: Data, target: jit::Target) -> Self {
        let workspaces = Workspaces::new(context, data.item.size);
        let loaded = [const { OnceLock::new() }; Kernel::ALL.len()];
        let context = context.clone();
        Self { context, target, data, workspaces, loaded, compiling: Mutex::default() }
    }

    /// Whether a launch may begin before the one before it has ended.
    pub(super) fn begins_early(&self) -> bool {
        self.target.architecture >= Architecture::new(9, 0)
    }

    /// Makes of some kernels those that are not there yet, and waits until they are; they are compiled at the same time.
    pub(super) fn prepare(
        &self,
        kernels: impl Iterator<Item = Kernel> + Clone,
        render: impl Fn(Kernel) -> Result<Rendered, Error> + Sync,
    ) -> Result<(), Error> {
        if self.are_there(kernels.clone()) {
            return Ok(());
        }
        let mut compiling = lock(&self.compiling);
        let missing = self.missing(kernels);
        let begun: Vec<_> = compiling.extract_if(.., |begun| missing.contains(&begun.kernel)).collect();
        let compiled = at_once(&missing, |kernel| {
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

    /// Whether some kernels are there. If not, and one of them has to be compiled, that is begun in the background, and another
    /// kernel is made instead of them, which is sooner compiled.
    pub(super) fn prepare_or(
        &self,
        instead: Kernel,
        kernels: impl Iterator<Item = Kernel> + Clone,
        render: impl Fn(Kernel) -> Result<Rendered, Error>,
    ) -> Result<bool, Error> {
        let mut compiling = lock(&self.compiling);
        let mut to_compile = Vec::new();
        for kernel in self.missing(kernels.clone()) {
            if let Some(at) = compiling.iter().position(|begun| begun.kernel == kernel) {
                if compiling[at].compilation.has_ended() {
                    // What has failed stays here: every call that needs it says so.
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
        if self.are_there(kernels.clone()) {
            return Ok(true);
        }
        if !self.is_there(instead) {
            let rendered = render(instead)?;
            self.load(instead, &rendered, &jit::compile_once(&rendered.source, self.target)?)?;
        }
        for (kernel, rendered) in to_compile {
            log::debug!("{kernel:?}: compiled in the background, {instead:?} runs meanwhile");
            let compilation = Compilation::begin(rendered.source.clone(), self.target);
            compiling.push(Compiling { kernel, rendered, compilation });
        }
        Ok(self.are_there(kernels))
    }

    pub(super) fn are_there(&self, mut kernels: impl Iterator<Item = Kernel>) -> bool {
        kernels.all(|kernel| self.is_there(kernel))
    }

    fn is_there(&self, kernel: Kernel) -> bool {
        self.loaded[kernel as usize].get().is_some()
    }

    fn missing(&self, kernels: impl Iterator<Item = Kernel>) -> Vec<Kernel> {
        let mut missing: Vec<Kernel> = kernels.filter(|&kernel| !self.is_there(kernel)).collect();
        missing.sort();
        missing.dedup();
        missing
    }

    fn load(&self, kernel: Kernel, rendered: &Rendered, image: &Image) -> Result<(), Error> {
        let loaded = Loaded::new(&self.context, &rendered.source, image, rendered.shared_bytes)?;
        self.loaded[kernel as usize].get_or_init(|| loaded);
        Ok(())
    }

    /// The blocks of a kernel that the device holds at once, of as many threads and so much shared memory as they have.
    pub(super) fn resident_blocks(&self, kernel: Kernel, shared_bytes: usize) -> Result<u32, Error> {
        let loaded = self.loaded(kernel);
        if let Some(&blocks) = loaded.resident_blocks.get() {
            return Ok(blocks);
        }
        let blocks = loaded.function.resident_blocks(shared_bytes)? * limits(&self.context)?.multiprocessors;
        Ok(*loaded.resident_blocks.get_or_init(|| blocks))
    }

    fn loaded(&self, kernel: Kernel) -> &Loaded {
        let Some(loaded) = self.loaded[kernel as usize].get() else {
            unreachable!("kernels are prepared before anything is launched");
        };
        loaded
    }

    /// Launches a kernel that is there.
    ///
    /// # Safety
    ///
    /// As for [`Loaded::launch`].
    pub(super) unsafe fn launch<A, M: DeviceMonoid>(
        &self,
        kernel: Kernel,
        blocks: Blocks,
        arguments: A,
        operator: &M,
        queue: &mut Queue<'_>,
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        unsafe { self.loaded(kernel).launch(blocks, arguments, operator, queue) }
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

#[cfg(test)]
mod tests;
