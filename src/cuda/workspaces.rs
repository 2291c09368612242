//! The workspaces of an operator's kernels: one for each stream, and those that graphs keep.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use cudarc::driver::{CudaContext, CudaStream};

use super::driver::{check_not_capturing, stream_id};
use super::recording::Capture;
use super::scratch::{Keeps, Room};
use super::workspace::Workspace;
use crate::Error;
use crate::cuda::lock::lock;

/// How many streams keep a workspace. Past that, those not in use are freed: the streams may be long gone.
const STREAMS: usize = 64;

/// The workspaces of an operator's kernels.
#[derive(Debug)]
pub(super) struct Workspaces {
    context: Arc<CudaContext>,
    /// Of an item.
    result_bytes: usize,
    of_streams: Mutex<HashMap<u64, Arc<Mutex<Workspace>>>>,
    of_graphs: Arc<Mutex<OfGraphs>>,
}

/// A graph may be replayed on any stream, at any time: what it uses is its own, until it is gone.
#[derive(Debug, Default)]
struct OfGraphs {
    /// What the runs of one stream in one recording use, one after the other.
    used: HashMap<Recorder, Vec<Workspace>>,
    free: Vec<Workspace>,
}

/// A recording, one of its streams, and the thread that records.
type Recorder = (u64, usize, ThreadId);

/// What a graph keeps: a workspace that is free when the graph is gone.
struct Lease {
    of_graphs: Arc<Mutex<OfGraphs>>,
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

    /// The workspace of a stream. Whoever holds its lock may give the stream work that uses it.
    pub(super) fn of_stream(&self, stream: &CudaStream) -> Result<Arc<Mutex<Workspace>>, Error> {
        // A driver does not tell the number of a stream that records.
        check_not_capturing(stream)?;
        let id = stream_id(stream)?;
        let mut of_streams = lock(&self.of_streams);
        if let Some(workspace) = of_streams.get(&id) {
            return Ok(workspace.clone());
        }
        if of_streams.len() >= STREAMS {
            let unused: Vec<_> =
                of_streams.extract_if(|_, workspace| Arc::strong_count(workspace) == 1).collect();
            // Not under the lock: each waits for the last work that uses it.
            drop(of_streams);
            drop(unused);
            of_streams = lock(&self.of_streams);
        }
        let workspace = Arc::new(Mutex::new(Workspace::new(&self.context, self.result_bytes)?));
        Ok(of_streams.entry(id).or_insert(workspace).clone())
    }

    /// How many workspaces graphs use, and how many they have used.
    #[cfg(all(test, feature = "laws"))]
    pub(super) fn in_graphs(&self) -> (usize, usize) {
        let of_graphs = lock(&self.of_graphs);
        (of_graphs.used.len(), of_graphs.free.len())
    }

    /// A recording has got some launches of a call, and not all: what it leaves, should somebody replay it, no later recording finds.
    pub(super) fn give_up_of_graph(&self, stream: &CudaStream, capture: &Capture) {
        let recorder = (capture.id, stream.cu_stream() as usize, std::thread::current().id());
        let mut of_graphs = lock(&self.of_graphs);
        of_graphs
            .used
            .get_mut(&recorder)
            .into_iter()
            .flatten()
            .for_each(|used| used.scratch.give_up(Keeps::Zeros));
    }

    /// The device address of as many bytes as are needed, for what a stream gives to the graph that is recorded.
    pub(super) fn memory_of_graph(
        &self,
        stream: &CudaStream,
        capture: &Capture,
        room: Room,
    ) -> Result<u64, Error> {
        // A stream that is recorded does not tell its number; and the default stream of each thread has one handle.
        let recorder = (capture.id, stream.cu_stream() as usize, std::thread::current().id());
        // No call of the driver under the lock, which a thread of the driver takes to give a workspace back.
        let (free, is_first) = {
            let mut of_graphs = lock(&self.of_graphs);
            let used = of_graphs.used.get(&recorder);
            // What was recorded before keeps its own.
            if let Some(address) = used.into_iter().flatten().find_map(|used| used.scratch.address(room)) {
                return Ok(address);
            }
            let is_first = used.is_none();
            (of_graphs.free.pop(), is_first)
        };
        let mut workspace = match free {
            Some(free) => free,
            None => Workspace::new(&self.context, self.result_bytes)?,
        };
        let memory = workspace.memory(room)?;
        lock(&self.of_graphs).used.entry(recorder).or_default().push(workspace);
        if is_first {
            // A lease that the graph does not take is dropped, and the workspace free again.
            // SAFETY: the stream records until the call that records returns.
            unsafe { capture.keep(Lease { of_graphs: self.of_graphs.clone(), recorder })? };
        }
        Ok(memory)
    }
}
