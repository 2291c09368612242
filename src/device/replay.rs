//! How launches get to a stream: one by one, or as a graph that a workspace keeps, which a driver is given in less time.
//!
//! On the host of an H200 a launch takes 3.3 us, and a graph of one kernel, with new arguments, 1.5; each further kernel of it 0.2.

use std::ffi::c_void;

use cudarc::driver::{CudaStream, DriverError, result, sys};

use super::driver::check;
use super::module::{Function, Grid};
use crate::Error;
use crate::policy::Kernel;

/// Where launches go, the first one first.
pub(super) enum Queue<'a> {
    /// To a stream, each at once. If it records a graph, they are the graph's.
    Stream(sys::CUstream),
    /// To one that records, and is told apart by what is noted here.
    Recording { stream: sys::CUstream, recorded: &'a mut Vec<(Function, Grid)> },
    /// To the nodes of a graph that were recorded of such launches. It is launched when all have what they are to be launched with.
    Replay { replay: &'a Replay, next: usize },
}

impl<'a> Queue<'a> {
    pub(super) fn of_stream(stream: &CudaStream) -> Self {
        Self::Stream(stream.cu_stream())
    }

    /// # Safety
    ///
    /// The kernel's module is loaded in the stream's context, which is current, `parameters` point to values of the kernel's parameter
    /// types, and every device address among them stays valid until the launched work has run.
    pub(super) unsafe fn launch(
        &mut self,
        function: Function,
        grid: Grid,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        match self {
            // SAFETY: the caller's promise.
            Self::Stream(stream) => unsafe { function.launch(*stream, &grid, parameters) },
            Self::Recording { stream, recorded } => {
                recorded.push((function, grid));
                // SAFETY: the caller's promise; nothing runs before the graph is launched.
                unsafe { function.launch(*stream, &grid, parameters) }
            }
            Self::Replay { replay, next } => {
                let node = replay.nodes[*next];
                *next += 1;
                // SAFETY: the caller's promise; the node is one of the instance's graph.
                unsafe { function.set(replay.instance, node, &grid, parameters) }
            }
        }
    }
}

/// The graphs of a workspace: one for each chain of kernels that its stream was given.
#[derive(Debug, Default)]
pub(super) struct Replays {
    known: Vec<Replay>,
    /// A driver did not record one: there are no others.
    are_refused: bool,
}

impl Replays {
    /// Gives a stream what `give` gives to a queue, launches of `kernels`, all at once. The context is current.
    pub(super) fn launch(
        &mut self,
        kernels: impl Iterator<Item = Kernel> + Clone,
        stream: &CudaStream,
        mut give: impl FnMut(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_known = |replay: &Replay| replay.kernels.iter().copied().eq(kernels.clone());
        let at = match self.known.iter().position(is_known) {
            Some(at) => at,
            // The baseline runs until others are there: a graph of it would be left.
            None if self.are_refused || kernels.clone().any(|kernel| kernel == Kernel::Baseline) => {
                return give(&mut Queue::of_stream(stream));
            }
            None => match Replay::record(kernels.collect(), stream, &mut give) {
                Ok(replay) => {
                    self.known.push(replay);
                    self.known.len() - 1
                }
                Err(reason) => {
                    log::debug!("kernels are launched one by one: {reason}");
                    self.are_refused = true;
                    return give(&mut Queue::of_stream(stream));
                }
            },
        };
        let replay = &self.known[at];
        give(&mut Queue::Replay { replay, next: 0 })?;
        // SAFETY: the instance is alive, and so is the stream.
        check("launching a graph", unsafe { result::graph::launch(replay.instance, stream.cu_stream()) })
    }

    /// How many chains are recorded, unless a driver does not record them.
    #[cfg(all(test, feature = "laws"))]
    pub(super) fn recorded(&self) -> Option<usize> {
        (!self.are_refused).then_some(self.known.len())
    }

    /// As where a driver does not record chains.
    #[cfg(all(test, feature = "laws"))]
    pub(super) fn refuse(&mut self) {
        (self.known, self.are_refused) = (Vec::new(), true);
    }
}

/// A chain of launches as a graph: recorded once, and launched again and again, each time with other arguments.
#[derive(Debug)]
pub(super) struct Replay {
    kernels: Vec<Kernel>,
    graph: sys::CUgraph,
    instance: sys::CUgraphExec,
    /// Of the graph, by which the instance knows its own. One for each kernel.
    nodes: Vec<sys::CUgraphNode>,
}

impl Replay {
    fn record(
        kernels: Vec<Kernel>,
        stream: &CudaStream,
        give: impl FnOnce(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let side = check("creating a stream", SideStream::like(stream))?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive, and nobody else knows of it.
        check("beginning to record", unsafe { result::stream::begin_capture(side.0, mode) })?;
        let mut recorded = Vec::new();
        let given = give(&mut Queue::Recording { stream: side.0, recorded: &mut recorded });
        // SAFETY: as above.
        let graph = check("ending a recording", unsafe { result::stream::end_capture(side.0) });
        let graph = given.and(graph)?;
        let mut replay = Self { kernels, graph, instance: std::ptr::null_mut(), nodes: Vec::new() };
        replay.nodes = replay.nodes_of(&recorded)?;
        // SAFETY: the graph is alive, and the instance is written to.
        let instantiated = unsafe { sys::cuGraphInstantiateWithFlags(&mut replay.instance, graph, 0) };
        check("instantiating a graph", instantiated.result())?;
        Ok(replay)
    }

    /// The nodes of some launches, in their order, which a graph's nodes have not.
    fn nodes_of(&self, launches: &[(Function, Grid)]) -> Result<Vec<sys::CUgraphNode>, Error> {
        let mut count = launches.len();
        let mut nodes = vec![std::ptr::null_mut(); count];
        // SAFETY: the graph is alive, and there is room for so many nodes.
        let listed = unsafe { sys::cuGraphGetNodes(self.graph, nodes.as_mut_ptr(), &mut count) };
        check("listing the nodes of a graph", listed.result())?;
        nodes.truncate(count);
        let node_of = |&(function, grid): &(Function, Grid)| {
            // No two are alike: of one kernel, each launch has fewer blocks than the one before.
            let at = nodes.iter().position(|&node| function.is_launched_by(node, &grid))?;
            Some(nodes[at])
        };
        let found: Option<_> = launches.iter().map(node_of).collect();
        let missing = DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND);
        check("looking for launches among the nodes of a graph", found.ok_or(missing))
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        // SAFETY: nobody else knows of them, and a driver lets what is under way end.
        unsafe {
            if !self.instance.is_null() {
                let _ = result::graph::exec_destroy(self.instance);
            }
            let _ = result::graph::destroy(self.graph);
        }
    }
}

/// A stream that records and runs nothing.
struct SideStream(sys::CUstream);

impl SideStream {
    /// With the priority of another, which nodes keep.
    fn like(stream: &CudaStream) -> Result<Self, DriverError> {
        let mut priority = 0;
        // SAFETY: the stream is alive, and the priority is written to.
        unsafe { sys::cuStreamGetPriority(stream.cu_stream(), &mut priority) }.result()?;
        let kind = result::stream::StreamKind::NonBlocking;
        result::stream::create_with_priority(kind, priority).map(Self)
    }
}

impl Drop for SideStream {
    fn drop(&mut self) {
        // SAFETY: nobody else knows of it.
        let _ = unsafe { result::stream::destroy(self.0) };
    }
}
