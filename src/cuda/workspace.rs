//! A workspace: what the work of one stream, or of one graph, uses beside its input and its output.

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaEvent, CudaStream, result};

use super::chain::Chains;
use super::driver::{RelaxedCapture, check};
use super::result_slot::ResultSlot;
use super::scratch::{Room, Scratch};
use crate::Error;

/// What one stream's work, which runs in order, may use.
#[derive(Debug)]
pub(super) struct Workspace {
    context: Arc<CudaContext>,
    pub(super) scratch: Scratch,
    pub(super) slot: ResultSlot,
    /// The end of the work that was last given it and not waited for.
    used: CudaEvent,
    /// By which the stream is given its launches.
    pub(super) chains: Chains,
}

// SAFETY: the addresses and the graphs are owned, and the driver's calls on them may come from any thread.
unsafe impl Send for Workspace {}

impl Workspace {
    /// With room for a result of some bytes.
    pub(super) fn new(context: &Arc<CudaContext>, result_bytes: usize) -> Result<Self, Error> {
        check("binding the context", context.bind_to_thread())?;
        let used = check("creating an event", context.new_event(None))?;
        let (scratch, slot) = (Scratch::default(), ResultSlot::new(result_bytes)?);
        Ok(Self { context: context.clone(), scratch, slot, used, chains: Chains::default() })
    }

    /// The device address of as much scratch as is asked for. The context is current.
    pub(super) fn memory(&mut self, room: Room) -> Result<u64, Error> {
        self.scratch.allocate(&self.context, room)
    }

    /// Notes that the work of a stream so far uses the workspace, and that nobody waits for its end.
    pub(super) fn record_use(&self, stream: &CudaStream) -> Result<(), Error> {
        check("recording an event", self.used.record(stream))
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        let _relaxed = RelaxedCapture::enter();
        // SAFETY: the context is alive. Not `bind_to_thread`, which would report, here, an error of somebody else's.
        let bound = unsafe { result::ctx::set_current(self.context.cu_ctx()) };
        self.context.record_err(bound);
        // A kernel's error comes back here, and to whoever waits for its stream; the memory is freed all the same. Not
        // cudarc's `synchronize`, which does not wait where somebody else's error is to be reported.
        // SAFETY: the event is alive.
        let _ = unsafe { result::event::synchronize(self.used.cu_event()) };
        // Before what their nodes speak of.
        self.chains = Chains::default();
        // SAFETY: the context is current, or its error was recorded. All work that could use the memory has ended, or is waited for when it is freed: a kernel that
        // has sent its result.
        unsafe {
            self.scratch.free(&self.context);
            self.slot.free(&self.context);
        }
    }
}
