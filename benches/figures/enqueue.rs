//! The host's time to enqueue a reduction, beside the time of the driver's calls alone: rows of
//! time `enqueue`.
//!
//! `warpfold` is `run_into`. `driver` is the sequence of driver calls that `run_into` makes. Its
//! graph has the same launches, of a kernel that does nothing. The difference is the cost of
//! warpfold itself.

use std::ffi::c_void;
use std::io::Write;
use std::time::Instant;

use anyhow::Result;
use warpfold::cudarc::driver::{CudaView, result, sys};
use warpfold::operators::Sum;
use warpfold::plan::Launch;
use warpfold::{DeviceType, Reduction};

use super::{Gpu, Subject, row};

/// Bytes of inputs that take one launch, two with few blocks, and two with many blocks.
const SIZES: [usize; 3] = [1 << 10, 1 << 20, 1 << 22];
const SAMPLES: usize = 101;
const WARM_UP: usize = 20;
/// Calls in a sample. A stream accepts this many without blocking the host.
const CALLS: usize = 100;

/// PTX of a kernel that does nothing. It has as many bytes of parameters as a reduction.
const NOTHING: &std::ffi::CStr =
    c".version 6.3\n.target sm_50\n.address_size 64\n.visible .entry nothing(.param .align 8 .b8 a[56], .param .b8 b[1]) { ret; }\n";

pub fn all(gpu: &Gpu, out: &mut impl Write) -> Result<()> {
    // SAFETY: the text ends with a zero byte.
    let module = unsafe { result::module::load_data(NOTHING.as_ptr().cast()) }?;
    // SAFETY: the module is loaded, and is never unloaded.
    let nothing = unsafe { result::module::get_function(module, c"nothing".to_owned()) }?;
    let begins_early = gpu.stream.context().compute_capability()?.0 >= 9;
    for bytes in SIZES {
        let subject =
            Subject { operator: "sum", item: "f32", item_bytes: 4, bytes, offset: 0, result: "-".to_owned() };
        let part = gpu.arena.slice(..bytes);
        // SAFETY: the slice is aligned for `f32`, and any bits are a valid `f32`.
        let Some(items) = (unsafe { part.transmute::<f32>(bytes / 4) }) else { continue };
        let items: CudaView<'_, f32> = items;
        let reduction = Reduction::<Sum<f32>>::new(gpu.stream.clone());
        reduction.compile()?;
        let launches: Vec<Launch> = reduction.policy().launches(&f32::layout(), items.len() as u64).collect();
        let mut output = gpu.stream.alloc_zeros::<f32>(1)?;
        let used = gpu.stream.context().new_event(None)?;
        let mut chain = Chain::record(gpu, nothing, &launches, begins_early)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        // The two alternate, because a processor is slower at first after a pause.
        for _ in 0..SAMPLES + WARM_UP {
            ours.push(gpu.time(|| Ok(reduction.run_into(&items, &mut output)?))?);
            theirs.push(gpu.time(|| enqueue(gpu, &mut chain, &used))?);
        }
        row(out, "warpfold", &subject, "enqueue", ours.split_off(WARM_UP))?;
        row(out, "driver", &subject, "enqueue", theirs.split_off(WARM_UP))?;
        gpu.stream.synchronize()?;
    }
    Ok(())
}

impl Gpu {
    /// Average microseconds of a call that enqueues work.
    fn time(&self, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
        self.stream.synchronize()?;
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        Ok(start.elapsed().as_secs_f64() * 1e6 / CALLS as f64)
    }
}

/// A graph of kernel launches, like the one that a reduction keeps.
struct Chain {
    instance: sys::CUgraphExec,
    /// Each node, and the parameters of its launch.
    nodes: Vec<(sys::CUgraphNode, sys::CUDA_KERNEL_NODE_PARAMS)>,
}

impl Chain {
    fn record(gpu: &Gpu, kernel: sys::CUfunction, launches: &[Launch], begins_early: bool) -> Result<Self> {
        let (mut arguments, mut state) = ([0_u64; 7], 0_u8);
        let mut parameters: [*mut c_void; 2] = [(&raw mut arguments).cast(), (&raw mut state).cast()];
        let stream = gpu.stream.cu_stream();
        gpu.stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED)?;
        for (number, launch) in launches.iter().enumerate() {
            let mut early = sys::CUlaunchAttribute {
                id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                pad: [0; 4],
                value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
            };
            let config = sys::CUlaunchConfig {
                gridDimX: launch.chunks,
                gridDimY: 1,
                gridDimZ: 1,
                blockDimX: launch.warps * 32,
                blockDimY: 1,
                blockDimZ: 1,
                sharedMemBytes: 0,
                hStream: stream,
                attrs: &raw mut early,
                // The first launch waits for all earlier work.
                numAttrs: (begins_early && number > 0).into(),
            };
            // SAFETY: the stream and the kernel are alive, and every pointer is valid for the call.
            unsafe { sys::cuLaunchKernelEx(&config, kernel, parameters.as_mut_ptr(), std::ptr::null_mut()) }
                .result()?;
        }
        // SAFETY: the stream is capturing. The graph and its instance live as long as the process.
        let graph = unsafe { result::stream::end_capture(stream) }?;
        let mut nodes = vec![std::ptr::null_mut(); launches.len()];
        let (mut count, mut instance) = (nodes.len(), std::ptr::null_mut());
        // SAFETY: the graph is alive, and every pointer is valid for writes.
        unsafe {
            sys::cuGraphGetNodes(graph, nodes.as_mut_ptr(), &mut count).result()?;
            sys::cuGraphInstantiateWithFlags(&mut instance, graph, 0).result()?;
        }
        let with_parameters = |node| {
            let mut of = std::mem::MaybeUninit::uninit();
            // SAFETY: the node belongs to the graph, and the call writes all of the parameters.
            unsafe {
                sys::cuGraphKernelNodeGetParams_v2(node, of.as_mut_ptr()).result()?;
                Ok((node, of.assume_init()))
            }
        };
        let nodes = nodes.into_iter().map(with_parameters).collect::<Result<_>>()?;
        Ok(Self { instance, nodes })
    }
}

/// Makes the driver calls of one `run_into`.
fn enqueue(gpu: &Gpu, chain: &mut Chain, used: &warpfold::cudarc::driver::CudaEvent) -> Result<()> {
    let (mut arguments, mut state) = ([0_u64; 7], 0_u8);
    let mut parameters: [*mut c_void; 2] = [(&raw mut arguments).cast(), (&raw mut state).cast()];
    let stream = gpu.stream.cu_stream();
    let mut mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    let (mut capture, mut id) = (sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE, 0);
    // SAFETY: the stream, the event and the graph are alive, and every pointer is valid for writes.
    unsafe {
        sys::cuThreadExchangeStreamCaptureMode(&mut mode).result()?;
        sys::cuStreamIsCapturing(stream, &mut capture).result()?;
        result::ctx::get_current()?;
        sys::cuStreamIsCapturing(stream, &mut capture).result()?;
        sys::cuStreamGetId(stream, &mut id).result()?;
        sys::cuStreamIsCapturing(stream, &mut capture).result()?;
        result::ctx::get_current()?;
        for (node, of) in &mut chain.nodes {
            of.kernelParams = parameters.as_mut_ptr();
            sys::cuGraphExecKernelNodeSetParams_v2(chain.instance, *node, of).result()?;
        }
        result::graph::launch(chain.instance, stream)?;
        sys::cuStreamIsCapturing(stream, &mut capture).result()?;
    }
    used.record(&gpu.stream)?;
    // SAFETY: as above.
    unsafe { sys::cuThreadExchangeStreamCaptureMode(&mut mode) }.result()?;
    Ok(())
}
