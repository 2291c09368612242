//! How launches get to a stream: one by one, or as a graph of their own that is kept, which a host gives a driver in less time.

use std::ffi::c_void;

use cudarc::driver::{CudaStream, DriverError, result, sys};

use super::driver::check;
use super::module::{Function, Grid};
use crate::Error;
use crate::plan::Kernel;

/// Where launches are given, the first one first.
pub(super) enum Queue<'a> {
    /// To a stream, which has each at once. If a user's graph records it, they are that graph's. They may overlap where
    /// no other thread gives the stream work between them.
    Stream { stream: sys::CUstream, overlap: bool },
    /// To one that records a chain of them.
    Recording { stream: sys::CUstream, launches: &'a mut Vec<(Function, Grid)> },
    /// To the nodes of a chain. It is launched when each has what it is to be launched with.
    Nodes { chain: &'a Chain, given: usize },
}

impl Queue<'_> {
    /// To a stream that records a user's graph: no other thread gives it work meanwhile.
    pub(super) fn of_recording(stream: &CudaStream) -> Self {
        Self::Stream { stream: stream.cu_stream(), overlap: true }
    }

    /// To a stream that other threads may give work at any time: each launch begins when all before it has ended.
    pub(super) fn of_stream(stream: &CudaStream) -> Self {
        Self::Stream { stream: stream.cu_stream(), overlap: false }
    }

    /// # Safety
    ///
    /// The kernel's module is loaded in the stream's context, which is current, `parameters` point to values of the kernel's parameter
    /// types, and every device address among them stays valid until the launched work has run.
    pub(super) unsafe fn give(
        &mut self,
        function: Function,
        grid: Grid,
        parameters: &mut [*mut c_void],
    ) -> Result<(), Error> {
        match self {
            // SAFETY: the caller's promise.
            Self::Stream { stream, overlap } => unsafe {
                let early = grid.early && *overlap;
                function.launch(*stream, &Grid { early, ..grid }, parameters)
            },
            Self::Recording { stream, launches } => {
                launches.push((function, grid));
                // SAFETY: the caller's promise; nothing runs before the graph is launched, with what is given then.
                unsafe { function.launch(*stream, &grid, parameters) }
            }
            Self::Nodes { chain, given } => {
                let node = chain.nodes[*given];
                *given += 1;
                // SAFETY: the caller's promise; the node is one of the instance's graph.
                unsafe { function.set(chain.instance, node, &grid, parameters) }
            }
        }
    }
}

/// The chains of a workspace: one for each sequence of kernels that its stream was given.
#[derive(Debug, Default)]
pub(super) struct Chains {
    known: Vec<Chain>,
    /// A driver refused one: there are no others.
    are_refused: bool,
}

impl Chains {
    /// Gives a stream the launches that `give` gives a queue, one of each of `kernels`, all at once. The context is current.
    pub(super) fn launch(
        &mut self,
        kernels: impl Iterator<Item = Kernel> + Clone,
        stream: &CudaStream,
        mut give: impl FnMut(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        // The baseline runs until others are there: a chain of it would be left.
        let are_kept = !self.are_refused && kernels.clone().all(|kernel| kernel != Kernel::Baseline);
        if are_kept {
            match self.launch_chain(kernels, stream, &mut give) {
                Ok(()) => return Ok(()),
                Err(reason) => {
                    log::warn!("kernels are launched one by one: {reason}");
                    self.refuse();
                }
            }
        }
        // What is wrong with the launches themselves is said here.
        give(&mut Queue::of_stream(stream))
    }

    /// If it fails, the stream has got nothing.
    fn launch_chain(
        &mut self,
        kernels: impl Iterator<Item = Kernel> + Clone,
        stream: &CudaStream,
        give: &mut impl FnMut(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let is_known = |chain: &Chain| chain.kernels.iter().copied().eq(kernels.clone());
        let at = match self.known.iter().position(is_known) {
            Some(at) => at,
            None => {
                self.known.push(Chain::record(kernels.collect(), give)?);
                self.known.len() - 1
            }
        };
        let chain = &self.known[at];
        let mut queue = Queue::Nodes { chain, given: 0 };
        give(&mut queue)?;
        let is_whole = matches!(queue, Queue::Nodes { given, .. } if given == chain.nodes.len());
        assert!(is_whole, "each kernel of a chain is given a launch");
        // SAFETY: the instance is alive, and so is the stream; each node has what it was given now, and no address of an earlier call.
        check("launching a graph", unsafe { result::graph::launch(chain.instance, stream.cu_stream()) })
    }

    /// How many chains are known.
    #[cfg(all(test, feature = "laws"))]
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }

    /// Gives chains up: from now on launches go one by one.
    pub(super) fn refuse(&mut self) {
        (self.known, self.are_refused) = (Vec::new(), true);
    }
}

/// Launches as a graph: recorded once, and launched again and again, each time with other arguments.
#[derive(Debug)]
pub(super) struct Chain {
    kernels: Vec<Kernel>,
    graph: sys::CUgraph,
    instance: sys::CUgraphExec,
    /// Of the graph, by which the instance knows its own. One for each kernel.
    nodes: Vec<sys::CUgraphNode>,
}

impl Chain {
    fn record(
        kernels: Vec<Kernel>,
        give: &mut impl FnMut(&mut Queue<'_>) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let side = check("creating a stream", SideStream::new())?;
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is alive, and nobody else knows of it.
        check("beginning to record", unsafe { result::stream::begin_capture(side.0, mode) })?;
        let mut launches = Vec::new();
        let given = give(&mut Queue::Recording { stream: side.0, launches: &mut launches });
        // SAFETY: as above.
        let graph = check("ending a recording", unsafe { result::stream::end_capture(side.0) })?;
        let mut chain = Self { kernels, graph, instance: std::ptr::null_mut(), nodes: Vec::new() };
        given?;
        chain.nodes = chain.nodes_of(&launches)?;
        // SAFETY: the graph is alive, and the instance is written to.
        let instantiated = unsafe { sys::cuGraphInstantiateWithFlags(&mut chain.instance, graph, 0) };
        check("instantiating a graph", instantiated.result())?;
        Ok(chain)
    }

    /// The nodes of launches, in their order, in which a graph need not list them.
    fn nodes_of(&self, launches: &[(Function, Grid)]) -> Result<Vec<sys::CUgraphNode>, Error> {
        let mut count = launches.len();
        let mut nodes = vec![std::ptr::null_mut(); count];
        // SAFETY: the graph is alive, and there is room for so many nodes.
        let listed = unsafe { sys::cuGraphGetNodes(self.graph, nodes.as_mut_ptr(), &mut count) };
        check("listing the nodes of a graph", listed.result())?;
        nodes.truncate(count);
        let node_of = |&(function, grid): &(Function, Grid)| {
            // No two are alike: of one kernel, each launch has fewer blocks than the one before.
            let at = nodes.iter().position(|&node| {
                // SAFETY: the graph is alive, and the nodes are its.
                unsafe { function.is_launched_by(node, &grid) }
            })?;
            Some(nodes[at])
        };
        let found: Option<_> = launches.iter().map(node_of).collect();
        let missing = DriverError(sys::CUresult::CUDA_ERROR_NOT_FOUND);
        check("looking for launches among the nodes of a graph", found.ok_or(missing))
    }
}

impl Drop for Chain {
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

/// A stream that records and runs nothing. Not cudarc's, which would have it that there are several streams to order from now on.
struct SideStream(sys::CUstream);

impl SideStream {
    fn new() -> Result<Self, DriverError> {
        result::stream::create(result::stream::StreamKind::NonBlocking).map(Self)
    }
}

impl Drop for SideStream {
    fn drop(&mut self) {
        // SAFETY: nobody else knows of it.
        let _ = unsafe { result::stream::destroy(self.0) };
    }
}
