//! The launches of the ladder's rungs.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::MaybeUninit;
use std::sync::{Arc, Mutex};

use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop, sys,
};

use super::driver::check_context;
use super::driver::{architecture, check, check_not_capturing};
use super::host::PrivateStream;
use super::kernels::{Blocks, Kernels, Loaded, identity_if};
use super::launch_graph::Queue;
use super::scratch::ScratchRequest;
use super::slices::{allocate, check_not_captured};
use crate::cuda::lock::lock;
use crate::plan::Data;
use crate::plan::ladder::{Launcher, Rung, Step};
use crate::source::{RungArguments, Source};
use crate::{DeviceMonoid, DeviceType, Error, Value, jit};

/// Scratch memory that all blocks of a launch share, in bytes.
const SHARED_BYTES: usize = 16;

/// The rungs of an operator, in a context.
#[derive(Debug)]
pub(crate) struct LadderKernels {
    /// Provides the context, the data layout and the workspaces. Its kernels are not used.
    kernels: Kernels,
    /// The key is the rung and the number of threads of a block.
    loaded: Mutex<HashMap<(Rung, u32), Arc<Loaded>>>,
}

impl LadderKernels {
    pub(crate) fn new<M: DeviceMonoid>(context: &Arc<CudaContext>) -> Result<Self, Error> {
        let target = jit::target(architecture(context)?)?;
        Ok(Self {
            kernels: Kernels::new(context, Data::of_items(&M::Item::layout()), target),
            loaded: Mutex::default(),
        })
    }

    fn loaded<M: DeviceMonoid>(&self, rung: Rung, threads: u32, adds: bool) -> Result<Arc<Loaded>, Error> {
        match lock(&self.loaded).entry((rung, threads)) {
            Entry::Occupied(loaded) => Ok(loaded.get().clone()),
            Entry::Vacant(place) => {
                let source = Source::of_rung::<M>(rung, threads, adds)?;
                let image = jit::compile(&source, self.kernels.target)?;
                let shared_bytes = rung.shared_bytes(threads, &self.kernels.data.item);
                let loaded = Loaded::new(&self.kernels.context, &source, &image, shared_bytes)?;
                Ok(place.insert(Arc::new(loaded)).clone())
            }
        }
    }

    /// A private stream for copies of host memory.
    pub(crate) fn private_stream(&self) -> Result<PrivateStream, Error> {
        PrivateStream::take(&self.kernels.context)
    }

    pub(crate) fn launcher<'a, M: DeviceMonoid>(
        &'a self,
        operator: &'a M,
        adds: bool,
        is_exclusive: bool,
        stream: &'a Arc<CudaStream>,
    ) -> Result<GpuLauncher<'a, M>, Error> {
        check_context(&self.kernels.context, "input", stream)?;
        // User code runs before the first launch.
        let identity = identity_if(is_exclusive, operator);
        check_not_capturing(stream)?;
        Ok(GpuLauncher { kernels: self, operator, identity, adds, stream })
    }
}

/// Launches rungs on a stream.
pub(crate) struct GpuLauncher<'a, M: DeviceMonoid> {
    kernels: &'a LadderKernels,
    operator: &'a M,
    /// Only the rung of exclusive scans reads it. Zeros for other rungs.
    identity: MaybeUninit<M::Item>,
    adds: bool,
    stream: &'a Arc<CudaStream>,
}

/// Items in device memory, of the caller or of this crate.
pub(crate) enum Memory<'a, T> {
    Borrowed(&'a dyn DevicePtr<T>),
    Own(CudaSlice<T>),
}

impl<T> DeviceSlice<T> for Memory<'_, T> {
    fn len(&self) -> usize {
        match self {
            Memory::Borrowed(items) => items.len(),
            Memory::Own(items) => items.len(),
        }
    }
    fn stream(&self) -> &Arc<CudaStream> {
        match self {
            Memory::Borrowed(items) => items.stream(),
            Memory::Own(items) => items.stream(),
        }
    }
}

impl<T> DevicePtr<T> for Memory<'_, T> {
    fn device_ptr<'a>(&'a self, stream: &'a CudaStream) -> (sys::CUdeviceptr, SyncOnDrop<'a>) {
        match self {
            Memory::Borrowed(items) => items.device_ptr(stream),
            Memory::Own(items) => items.device_ptr(stream),
        }
    }
}

impl<'a, M: DeviceMonoid> GpuLauncher<'a, M> {
    pub(crate) fn given(&self, items: &'a dyn DevicePtr<M::Item>) -> Memory<'a, M::Item> {
        Memory::Borrowed(items)
    }

    pub(crate) fn allocate(&self, length: usize) -> Result<CudaSlice<M::Item>, Error> {
        allocate(length, self.stream)
    }

    /// The slice that a launch wrote.
    pub(crate) fn own(&self, written: Memory<'a, M::Item>) -> CudaSlice<M::Item> {
        match written {
            Memory::Own(items) => items,
            Memory::Borrowed(_) => unreachable!("a scan is launched"),
        }
    }

    /// Copies the first `count` items to host memory, and waits for the copy.
    pub(crate) fn fetch(&self, items: &Memory<'_, M::Item>, count: usize) -> Result<Vec<M::Item>, Error>
    where
        M::Item: Value<Stored = M::Item>,
    {
        let private = self.kernels.private_stream()?;
        match items {
            // Intermediate values may follow the first `count` items.
            Memory::Own(items) => private.download_all(&items.slice(..count)),
            Memory::Borrowed(_) => private.download_all(items),
        }
    }
}

impl<'a, M: DeviceMonoid> Launcher for GpuLauncher<'a, M> {
    type Memory = Memory<'a, M::Item>;
    type Error = Error;

    fn launch(&mut self, step: &Step, input: &Self::Memory) -> Result<Self::Memory, Error> {
        let LadderKernels { kernels, .. } = self.kernels;
        let fail = |reason| Error::Rung { rung: step.rung.name(), reason };
        let count = i32::try_from(step.blocks).map_err(|_| fail("has no room for so many blocks: pass a shorter input, or set more threads by `Ladder::threads`"))?;
        let loaded = self.kernels.loaded::<M>(step.rung, step.threads, self.adds)?;
        let mut output = self.allocate(step.written as usize)?;
        let workspace = kernels.workspaces.of_stream(self.stream)?;
        let mut workspace = lock(&workspace);
        check("binding the context", kernels.context.bind_to_thread())?;
        let shared = workspace.memory(ScratchRequest::of(SHARED_BYTES))?;
        {
            let (input, _read) = input.device_ptr(self.stream);
            let (output, _written) = output.device_ptr_mut(self.stream);
            let arguments = RungArguments {
                input,
                length: step.length,
                output,
                shared,
                block_level: step.block_items.ilog2().into(),
                identity: self.identity,
            };
            let blocks = Blocks {
                count: count.unsigned_abs(),
                warps: step.threads.div_ceil(32),
                shared_bytes: step.rung.shared_bytes(step.threads, &kernels.data.item),
                early: false,
            };
            // SAFETY: these are the arguments of a rung. It reads `length` items. If it completes a
            // scan, it also reads the items behind them, which the previous launch wrote. It writes
            // `written` items, which the output has. All this memory and the workspace are kept
            // until the launch has ended.
            unsafe { loaded.launch(blocks, arguments, self.operator, &mut Queue::of_stream(self.stream)) }?;
        }
        check_not_captured(self.stream)?;
        workspace.record_use(self.stream)?;
        Ok(Memory::Own(output))
    }

    fn part(&mut self, of: &Self::Memory, first: u64, count: u64) -> Result<Self::Memory, Error> {
        let mut part = self.allocate(count as usize)?;
        let Memory::Own(of) = of else {
            unreachable!("only what a launch wrote has parts");
        };
        let from = of.slice(first as usize..(first + count) as usize);
        check("copying on the device", self.stream.memcpy_dtod(&from, &mut part))?;
        check_not_captured(self.stream)?;
        Ok(Memory::Own(part))
    }

    fn put(
        &mut self,
        items: &Self::Memory,
        to: &mut Self::Memory,
        first: u64,
        count: u64,
    ) -> Result<(), Error> {
        let Memory::Own(to) = to else {
            unreachable!("what is given is not written");
        };
        let mut to = to.slice_mut(first as usize..(first + count) as usize);
        check("copying on the device", self.stream.memcpy_dtod(items, &mut to))?;
        check_not_captured(self.stream)
    }
}
