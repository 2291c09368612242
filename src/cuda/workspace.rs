//! A workspace: scratch memory, result slot and graphs of the work of one stream or captured graph.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result};

use super::driver::{RelaxedCapture, check};
use super::launch_graph::LaunchGraphs;
use super::result_slot::ResultSlot;
use super::scratch::{Scratch, ScratchRequest};
use crate::Error;

/// The resources of one stream's work. This work runs in order, so it can share them.
#[derive(Debug)]
pub(super) struct Workspace {
    context: Arc<CudaContext>,
    pub(super) scratch: Scratch,
    pub(super) slot: ResultSlot,
    /// Recorded after the last work that uses the workspace and that no call has waited for.
    used: CudaEvent,
    /// The graphs that the stream launches.
    pub(super) graphs: LaunchGraphs,
}

// SAFETY: the workspace owns its addresses and graphs, and any thread may pass them to the driver.
unsafe impl Send for Workspace {}

impl Workspace {
    /// A workspace with a slot for results of `result_bytes` bytes.
    pub(super) fn new(context: &Arc<CudaContext>, result_bytes: usize) -> Result<Self, Error> {
        check("binding the context", context.bind_to_thread())?;
        let used = check("creating an event", context.new_event(None))?;
        let (scratch, slot) = (Scratch::default(), ResultSlot::new(result_bytes)?);
        Ok(Self { context: context.clone(), scratch, slot, used, graphs: LaunchGraphs::default() })
    }

    /// The device address of scratch memory that satisfies a request. The context is current.
    pub(super) fn memory(&mut self, request: ScratchRequest) -> Result<u64, Error> {
        self.scratch.allocate(&self.context, request)
    }

    /// Records that the stream's work so far uses the workspace. No call waits for the end of this
    /// work.
    pub(super) fn record_use(&self, stream: &CudaStream) -> Result<(), Error> {
        check("recording an event", self.used.record(stream))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: the context is alive. cudarc's `bind_to_thread` is not used, because it would
        // report an earlier error of other code here.
        let bound = unsafe { result::ctx::set_current(self.context.cu_ctx()) };
        self.context.record_err(bound);
        // An error of a kernel also reaches the caller that waits for its stream. It is ignored
        // here, and the memory is freed. Not cudarc's `synchronize`, which returns without waiting
        // if cudarc has an earlier error to report.
        // SAFETY: the event is alive.
        let _ = unsafe { result::event::synchronize(self.used.cu_event()) };
        // Dropped before the memory that the nodes point to.
        self.graphs = LaunchGraphs::default();
        // SAFETY: the context is current, or its error was recorded. All work that could use the
        // memory has ended, except kernels that have sent their result. Freeing waits for these.
        unsafe {
            self.scratch.free(&self.context);
            self.slot.free(&self.context);
        }
    }
}
