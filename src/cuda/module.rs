//! Loaded images and their kernels: launches, and updates of graph nodes.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::{CudaContext, result, sys};

use super::driver::{RelaxedCapture, check};
use crate::Error;
use crate::jit::{Image, ImageFormat};

/// An image that is loaded into a context. Its kernels are valid while it is loaded.
#[derive(Debug)]
pub(super) struct Module {
    context: Arc<CudaContext>,
    module: sys::CUmodule,
}

// SAFETY: any thread may use a module's handle while the module's context is current.
unsafe impl Send for Module {}
// SAFETY: as for `Send`. Finding a kernel does not change the module.
unsafe impl Sync for Module {}

/// The grid of a launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) blocks: u32,
    pub(super) threads: u32,
    /// Shared memory of each block, in bytes.
    pub(super) shared_bytes: u32,
    /// Whether the launch may begin before the previous one has ended. The kernel then waits for
    /// that launch itself.
    pub(super) early: bool,
}

/// A kernel of a [`Module`]. The owner of this handle keeps the module loaded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function(sys::CUfunction);

// SAFETY: any thread may use a kernel's handle while the module's context is current.
unsafe impl Send for Function {}
// SAFETY: as for `Send`. A launch does not change the kernel.
unsafe impl Sync for Function {}

impl Module {
    pub(super) fn load(context: &Arc<CudaContext>, image: &Image) -> Result<Self, Error> {
        check("binding the context", context.bind_to_thread())?;
        let mut bytes = image.bytes.clone();
        if image.format == ImageFormat::Ptx && bytes.last() != Some(&0) {
            bytes.push(0);
        }
        // SAFETY: the image is a complete CUBIN, whose header has its length, or PTX that ends with
        // a zero byte.
        let module = unsafe { result::module::load_data(bytes.as_ptr().cast()) };
        Ok(Self { context: context.clone(), module: check("loading the kernels", module)? })
    }

    pub(super) fn function(&self, name: &'static str) -> Result<Function, Error> {
        let c_name = CString::new(name).unwrap_or_default();
        check("binding the context", self.context.bind_to_thread())?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.module, c_name) };
        check("finding a kernel", function).map(Function)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let bound = self.context.bind_to_thread();
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: the owner of the module's kernels drops the module last, and `cuModuleUnload`
        // lets launched work end.
        self.context.record_err(bound.and_then(|()| unsafe { result::module::unload(self.module) }));
    }
}

impl Function {
    /// Raises the limit of a block's shared memory to `bytes`.
    pub(super) fn allow_shared_bytes(self, bytes: u32) -> Result<(), Error> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the kernel's module is loaded.
        let set = unsafe { sys::cuFuncSetAttribute(self.0, attribute, bytes as i32) };
        check("asking for shared memory", set.result())
    }

    /// The registers of a thread, and the bytes of its local memory.
    pub(super) fn resources(self) -> Result<(u32, u32), Error> {
        use sys::CUfunction_attribute::{CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, CU_FUNC_ATTRIBUTE_NUM_REGS};
        let get = |attribute| {
            let mut value = 0;
            // SAFETY: the kernel's module is loaded, and the pointer is valid for writes.
            let got = unsafe { sys::cuFuncGetAttribute(&mut value, attribute, self.0) };
            check("reading a kernel's resources", got.result()).map(|()| value.unsigned_abs())
        };
        Ok((get(CU_FUNC_ATTRIBUTE_NUM_REGS)?, get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?))
    }

    /// The number of blocks that a multiprocessor holds at once. Blocks have the kernel's maximum
    /// number of threads and `shared_bytes` bytes of shared memory.
    pub(super) fn resident_blocks(self, shared_bytes: usize) -> Result<u32, Error> {
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        let (mut threads, mut blocks) = (0, 0);
        // SAFETY: the kernel's module is loaded, and both pointers are valid for writes.
        let asked = unsafe {
            let asked = sys::cuFuncGetAttribute(&mut threads, attribute, self.0).result();
            asked.and_then(|()| {
                sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.0, threads, shared_bytes)
                    .result()
            })
        };
        check("asking how many blocks a multiprocessor holds", asked)?;
        Ok(blocks.unsigned_abs())
    }

    /// Launches the kernel on a stream.
    ///
    /// # Safety
    ///
    /// 1. The kernel's module is loaded in the stream's context.
    /// 2. `parameters` point to values of the kernel's parameter types.
    /// 3. Each device address among them stays valid until the launched work has ended.
    pub(super) unsafe fn launch(
        self,
        stream: sys::CUstream,
        grid: &Grid,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let mut early = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: grid.blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: grid.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: grid.shared_bytes,
            hStream: stream,
            attrs: &raw mut early,
            numAttrs: grid.early.into(),
        };
        // SAFETY: the caller guarantees the conditions above. The configuration and its attribute
        // outlive the call.
        let launched =
            unsafe { sys::cuLaunchKernelEx(&config, self.0, parameters.as_mut_ptr(), std::ptr::null_mut()) };
        check("launching a kernel", launched.result())
    }

    /// Sets the arguments and the grid of a graph node for later launches of an instance. The node
    /// launches this kernel. Whether it may begin early stays as recorded.
    ///
    /// # Safety
    ///
    /// 1. The conditions of [`launch`](Self::launch), for each stream that the instance is launched
    ///    on.
    /// 2. The node belongs to the graph of the instance.
    /// 3. The context is current.
    pub(super) unsafe fn set(
        self,
        instance: sys::CUgraphExec,
        node: sys::CUgraphNode,
        grid: &Grid,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        let parameters = sys::CUDA_KERNEL_NODE_PARAMS {
            func: self.0,
            gridDimX: grid.blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: grid.threads,
            blockDimY: 1,
            blockDimZ: 1,
            sharedMemBytes: grid.shared_bytes,
            kernelParams: parameters.as_mut_ptr(),
            extra: std::ptr::null_mut(),
            kern: std::ptr::null_mut(),
            ctx: std::ptr::null_mut(),
        };
        // SAFETY: the caller guarantees the conditions above. The driver copies the parameters.
        let set = unsafe { sys::cuGraphExecKernelNodeSetParams_v2(instance, node, &parameters) };
        check("giving a node of a graph its arguments", set.result())
    }

    /// Whether a graph node launches this kernel with this grid.
    ///
    /// # Safety
    ///
    /// The node belongs to a graph that is alive.
    pub(super) unsafe fn is_launched_by(self, node: sys::CUgraphNode, grid: &Grid) -> bool {
        let mut of = std::mem::MaybeUninit::<sys::CUDA_KERNEL_NODE_PARAMS>::uninit();
        // SAFETY: the caller guarantees the node, and `of` is valid for writes. On success, all of
        // it has been written.
        let of = unsafe {
            match sys::cuGraphKernelNodeGetParams_v2(node, of.as_mut_ptr()).result() {
                Ok(()) => of.assume_init(),
                Err(_) => return false,
            }
        };
        (of.func, of.gridDimX, of.blockDimX) == (self.0, grid.blocks, grid.threads)
    }
}
