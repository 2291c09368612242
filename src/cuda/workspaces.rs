//! The workspaces of an operator's kernels: one for each stream, and those of captured graphs.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use cudarc::driver::{CudaContext, CudaStream};

use super::driver::{check_not_capturing, stream_id};
use super::recording::Capture;
use super::scratch::{ScratchInit, ScratchRequest};
use super::workspace::Workspace;
use crate::Error;
use crate::cuda::lock::lock;

/// Number of streams that keep a workspace. When another stream needs one, unused workspaces are
/// freed: their streams may no longer exist.
const STREAMS: usize = 64;

/// The workspaces of an operator's kernels.
#[derive(Debug)]
pub(super) struct Workspaces {
    context: Arc<CudaContext>,
    /// The size of an item, in bytes.
    result_bytes: usize,
    of_streams: Mutex<HashMap<u64, Arc<Mutex<Workspace>>>>,
    of_graphs: Arc<Mutex<GraphWorkspaces>>,
}

/// The workspaces of captured graphs. A graph may be launched on any stream at any time, so no
/// other work uses its workspaces until the graph is destroyed.
#[derive(Debug, Default)]
struct GraphWorkspaces {
    /// The workspaces that graphs own. The calls of one recorder share them, because they run in
    /// order.
    used: HashMap<Recorder, Vec<Workspace>>,
    free: Vec<Workspace>,
}

/// The key of a recorder: capture, stream handle, and the thread that records.
type Recorder = (u64, usize, ThreadId);

/// An object that the graph owns. Its drop makes the recorder's workspaces free for other graphs.
struct Lease {
    of_graphs: Arc<Mutex<GraphWorkspaces>>,
    recorder: Recorder,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut of_graphs = lock(&self.of_graphs);
        let freed = of_graphs.used.remove(&self.recorder);
        of_graphs.free.extend(freed.into_iter().flatten());
    }
}

impl Workspaces {
    pub(super) fn new(context: &Arc<CudaContext>, result_bytes: usize) -> Self {
        Self {
            context: context.clone(),
            result_bytes,
            of_streams: Mutex::default(),
            of_graphs: Arc::default(),
        }
    }

    pub(super) fn context(&self) -> &Arc<CudaContext> {
        &self.context
    }

    /// The workspace of a stream. The thread that holds its lock may enqueue work that uses it.
    pub(super) fn of_stream(&self, stream: &CudaStream) -> Result<Arc<Mutex<Workspace>>, Error> {
        // The driver gives no id of a stream that is capturing.
        check_not_capturing(stream)?;
        let id = stream_id(stream)?;
        let mut of_streams = lock(&self.of_streams);
        if let Some(workspace) = of_streams.get(&id) {
            return Ok(workspace.clone());
        }
        if of_streams.len() >= STREAMS {
            let unused: Vec<_> =
                of_streams.extract_if(|_, workspace| Arc::strong_count(workspace) == 1).collect();
            // Dropped without the lock, because each waits for the last work that uses it.
            drop(of_streams);
            drop(unused);
            of_streams = lock(&self.of_streams);
        }
        let workspace = Arc::new(Mutex::new(Workspace::new(&self.context, self.result_bytes)?));
        Ok(of_streams.entry(id).or_insert(workspace).clone())
    }

    /// The number of recorders whose workspaces graphs own, and the number of free workspaces.
    #[cfg(all(test, feature = "laws"))]
    pub(super) fn in_graphs(&self) -> (usize, usize) {
        let of_graphs = lock(&self.of_graphs);
        (of_graphs.used.len(), of_graphs.free.len())
    }

    /// Retires the memory of a recorder after a call that recorded only some of its launches. If the
    /// graph is launched, this memory may not have the contents that a call needs, so no later call may
    /// get it.
    pub(super) fn retire_graph_scratch(&self, stream: &CudaStream, capture: &Capture, init: ScratchInit) {
        let recorder = (capture.id, stream.cu_stream() as usize, std::thread::current().id());
        let mut of_graphs = lock(&self.of_graphs);
        of_graphs.used.get_mut(&recorder).into_iter().flatten().for_each(|used| used.scratch.retire(init));
    }

    /// The device address of scratch memory for launches that a stream records into a graph.
    pub(super) fn graph_scratch(
        &self,
        stream: &CudaStream,
        capture: &Capture,
        request: ScratchRequest,
    ) -> Result<u64, Error> {
        // The handle identifies the stream, because the driver gives no id of a capturing stream.
        // The default streams of all threads have one handle, so the thread is part of the key.
        let recorder = (capture.id, stream.cu_stream() as usize, std::thread::current().id());
        // No call of the driver under this lock: a thread of the driver takes it to return a
        // workspace.
        let (free, is_first) = {
            let mut of_graphs = lock(&self.of_graphs);
            let used = of_graphs.used.get(&recorder);
            // Earlier launches of the graph keep their memory, so a workspace that is too small
            // stays.
            if let Some(address) = used.into_iter().flatten().find_map(|used| used.scratch.address(request)) {
                return Ok(address);
            }
            let is_first = used.is_none();
            (of_graphs.free.pop(), is_first)
        };
        let mut workspace = match free {
            Some(free) => free,
            None => Workspace::new(&self.context, self.result_bytes)?,
        };
        let memory = workspace.memory(request)?;
        lock(&self.of_graphs).used.entry(recorder).or_default().push(workspace);
        if is_first {
            // If the graph does not take the lease, the lease is dropped, and the workspace is free
            // again.
            // SAFETY: the stream captures until the call that records returns.
            unsafe { capture.keep(Lease { of_graphs: self.of_graphs.clone(), recorder })? };
        }
        Ok(memory)
    }
}
