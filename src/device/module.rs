//! A loaded image, its kernels, and their launch.

use std::ffi::{CString, c_void};
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, result, sys};

use super::driver::{RelaxedCapture, check};
use crate::Error;
use crate::jit::{Form, Image};

/// An image in a context. Its kernels live as long as it does.
#[derive(Debug)]
pub(super) struct Module {
    context: Arc<CudaContext>,
    module: sys::CUmodule,
}

// SAFETY: a module's handle may be used by any thread whose current context is the module's.
unsafe impl Send for Module {}
// SAFETY: as above; loading kernels from it changes nothing that others see.
unsafe impl Sync for Module {}

/// A kernel of a [`Module`], which its holder keeps alive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kernel(sys::CUfunction);

// SAFETY: a kernel's handle may be used by any thread whose current context is the module's.
unsafe impl Send for Kernel {}
// SAFETY: as above; launching does not change it.
unsafe impl Sync for Kernel {}

impl Module {
    pub(super) fn load(context: &Arc<CudaContext>, image: &Image) -> Result<Self, Error> {
        check("binding the context", context.bind_to_thread())?;
        let mut bytes = image.bytes.clone();
        if image.form == Form::Ptx && bytes.last() != Some(&0) {
            bytes.push(0);
        }
        // SAFETY: the image is a whole CUBIN, whose header has its length, or PTX that ends with a zero byte.
        let module = unsafe { result::module::load_data(bytes.as_ptr().cast()) };
        Ok(Self { context: context.clone(), module: check("loading the kernels", module)? })
    }

    pub(super) fn kernel(&self, name: &'static str) -> Result<Kernel, Error> {
        let c_name = CString::new(name).unwrap_or_default();
        check("binding the context", self.context.bind_to_thread())?;
        // SAFETY: the module is loaded.
        let function = unsafe { result::module::get_function(self.module, c_name) };
        check("finding a kernel", function).map(Kernel)
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let bound = self.context.bind_to_thread();
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: whoever holds the module's kernels drops it last, and `cuModuleUnload` lets launched work end.
        self.context.record_err(bound.and_then(|()| unsafe { result::module::unload(self.module) }));
    }
}

impl Kernel {
    /// # Safety
    ///
    /// The kernel's module is loaded in the stream's context, `parameters` point to values of the kernel's parameter
    /// types, and every device address among them stays valid until the launched work has run.
    pub(super) unsafe fn launch(
        self,
        stream: &CudaStream,
        blocks: u32,
        threads: u32,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        // SAFETY: the caller's promise.
        let launched = unsafe {
            result::launch_kernel(self.0, (blocks, 1, 1), (threads, 1, 1), 0, stream.cu_stream(), parameters)
        };
        check("launching a kernel", launched)
    }
}
