//! Launches on a stream: one by one, or as a CUDA graph.
//!
//! A workspace keeps the graph of a sequence of kernels and launches it again with new arguments. A
//! graph launch costs the host less time than single launches.

use std::ffi::c_void;

use cudarc::driver::{CudaStream, DriverError, result, sys};

use super::driver::check;
use super::module::{Function, Grid};
use crate::Error;
use crate::plan::Kernel;

/// The destination of launches, in launch order.
pub(super) enum Queue<'a> {
    /// A stream that runs or captures each launch at once. With `overlap`, a launch may begin
    /// before the previous one has ended. This requires that no other thread enqueues work between
    /// them.
    Stream { stream: sys::CUstream, overlap: bool },
    /// A side stream that records a kept graph.
    Recording { stream: sys::CUstream, launches: &'a mut Vec<(Function, Grid)> },
    /// The nodes of a kept graph. It is launched after each node has its arguments. `given` is
    /// the number of nodes that have them.
    Nodes { graph: &'a LaunchGraph, given: usize },
}

impl Queue<'_> {
    /// A stream that captures a user's graph. No other thread enqueues work on it meanwhile.
    pub(super) fn of_recording(stream: &CudaStream) -> Self {
        Self::Stream { stream: stream.cu_stream(), overlap: true }
    }

    /// A stream on which other threads may enqueue work at any time. Each launch begins after all
    /// earlier work of the stream has ended.
    pub(super) fn of_stream(stream: &CudaStream) -> Self {
        Self::Stream { stream: stream.cu_stream(), overlap: false }
    }

    /// Adds a launch.
    ///
    /// # Safety
    ///
    /// 1. The kernel's module is loaded in the stream's context, which is current.
    /// 2. `parameters` point to values of the kernel's parameter types.
    /// 3. Each device address among them stays valid until the launched work has ended.
    pub(super) unsafe fn launch(
        &mut self,
        function: Function,
        grid: Grid,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        match self {
            // SAFETY: the caller guarantees the conditions above.
            Self::Stream { stream, overlap } => unsafe {
                let early = grid.early && *overlap;
                function.launch(*stream, &Grid { early, ..grid }, parameters)
            },
            Self::Recording { stream, launches } => {
                // Blocks of its own tell the node of each launch. Later calls set its grid, too.
                let grid = Grid { blocks: launches.len() as u32 + 1, ..grid };
                launches.push((function, grid));
                // SAFETY: the caller guarantees the conditions above. The launch is only recorded.
                // The graph runs with the arguments that its nodes are given later.
                unsafe { function.launch(*stream, &grid, parameters) }
            }
            Self::Nodes { graph, given } => {
                let node = graph.nodes[*given];
                *given += 1;
                // SAFETY: the caller guarantees the conditions above. The node belongs to the
                // instance's graph.
                unsafe { function.set(graph.instance, node, &grid, parameters) }
            }
        }
    }
}

/// The graphs of a workspace: one for each sequence of kernels that its stream has run.
#[derive(Debug, Default)]
pub(super) struct LaunchGraphs {
    known: Vec<LaunchGraph>,
    /// Whether a graph has failed. If so, kernels are launched one by one.
    are_refused: bool,
}

impl LaunchGraphs {
    /// Launches one grid of each of `kernels`, as one graph if possible. The context is
    /// current. `enqueue` adds the launches to a queue, and may be called more than once.
    pub(super) fn launch(
        &mut self,
        kernels: &[Kernel],
        stream: &CudaStream,
        enqueue: &mut dyn FnMut(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // Tuned kernels soon replace the baseline, so its graph would remain unused.
        let are_kept = !self.are_refused && !kernels.contains(&Kernel::Baseline);
        if are_kept {
            match self.launch_as_graph(kernels, stream, enqueue) {
                Ok(()) => return Ok(()),
                Err(reason) => {
                    log::warn!("kernels are launched one by one: {reason}");
                    self.refuse();
                }
            }
        }
        // An error in the launches themselves is returned here.
        enqueue(&mut Queue::of_stream(stream))
    }

    /// Launches the kernels as one graph. After an error, no launch has been enqueued.
    fn launch_as_graph(
        &mut self,
        kernels: &[Kernel],
        stream: &CudaStream,
        enqueue: &mut dyn FnMut(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_known = |graph: &LaunchGraph| graph.kernels == kernels;
        let at = match self.known.iter().position(is_known) {
            Some(at) => at,
            None => {
                self.known.push(LaunchGraph::record(kernels.to_vec(), enqueue)?);
                self.known.len() - 1
            }
        };
        let graph = &self.known[at];
        let mut queue = Queue::Nodes { graph, given: 0 };
        enqueue(&mut queue)?;
        let is_whole = matches!(queue, Queue::Nodes { given, .. } if given == graph.nodes.len());
        assert!(is_whole, "each kernel of a graph is given a launch");
        // SAFETY: the instance and the stream are alive. Each node has the arguments of this call.
        check("launching a graph", unsafe { result::graph::launch(graph.instance, stream.cu_stream()) })
    }

    /// The number of graphs.
    #[cfg(all(test, feature = "laws"))]
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Drops all graphs. From now on kernels are launched one by one.
    pub(super) fn refuse(&mut self) {
        (self.known, self.are_refused) = (Vec::new(), true);
    }
}

/// A sequence of launches as a CUDA graph: recorded once, launched many times with new arguments.
#[derive(Debug)]
pub(super) struct LaunchGraph {
    kernels: Vec<Kernel>,
    handle: sys::CUgraph,
    instance: sys::CUgraphExec,
    /// The graph's nodes, one for each kernel, which also identify the instance's nodes.
    nodes: Vec<sys::CUgraphNode>,
}

impl LaunchGraph {
    fn record(
        kernels: Vec<Kernel>,
        enqueue: &mut dyn FnMut(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let side = check("creating a stream", SideStream::new())?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive, and no other code uses it.
        check("beginning to record", unsafe { result::stream::begin_capture(side.0, mode) })?;
        let mut launches = Vec::new();
        let enqueued = enqueue(&mut Queue::Recording { stream: side.0, launches: &mut launches });
        // SAFETY: as above.
        let handle = check("ending a recording", unsafe { result::stream::end_capture(side.0) })?;
        let mut graph = Self { kernels, handle, instance: std::ptr::null_mut(), nodes: Vec::new() };
        enqueued?;
        graph.nodes = graph.nodes_of(&launches)?;
        // SAFETY: the graph is alive, and `instance` is valid for writes.
        let instantiated = unsafe { sys::cuGraphInstantiateWithFlags(&mut graph.instance, handle, 0) };
        check("instantiating a graph", instantiated.result())?;
        Ok(graph)
    }

    /// The nodes of the launches, in launch order. The driver may list nodes in another order.
    fn nodes_of(&self, launches: &[(Function, Grid)]) -> Result<Vec<sys::CUgraphNode>, Error> {
        let mut count = launches.len();
        let mut nodes = vec![std::ptr::null_mut(); count];
        // SAFETY: the graph is alive, and the vector has `count` nodes.
        let listed = unsafe { sys::cuGraphGetNodes(self.handle, nodes.as_mut_ptr(), &mut count) };
        check("listing the nodes of a graph", listed.result())?;
        nodes.truncate(count);
        let node_of = |&(function, grid): &(Function, Grid)| {
            // The match is unique: no two launches are recorded with as many blocks.
            let at = nodes.iter().position(|&node| {
                // SAFETY: the graph is alive, and the nodes belong to it.
                unsafe { function.is_launched_by(node, &grid) }
            })?;
            Some(nodes[at])
        };
        let found: Option<_> = launches.iter().map(node_of).collect();
        let missing = DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND);
        check("looking for launches among the nodes of a graph", found.ok_or(missing))
    }
}

impl Drop for LaunchGraph {
    fn drop(&mut self) {
        // SAFETY: no other code uses the handles, and the driver lets launched work end.
        unsafe {
            if !self.instance.is_null() {
                let _ = result::graph::exec_destroy(self.instance);
            }
            let _ = result::graph::destroy(self.handle);
        }
    }
}

/// A stream that only records. Not a stream of cudarc: from its first one on, cudarc orders the
/// uses of slices among streams.
struct SideStream(sys::CUstream);

impl SideStream {
    fn new() -> Result<Self, DriverError> {
        result::stream::create(result::stream::StreamKind::NonBlocking).map(Self)
    }
}

impl Drop for SideStream {
    fn drop(&mut self) {
        // SAFETY: no other code uses the stream.
        let _ = unsafe { result::stream::destroy(self.0) };
    }
}
