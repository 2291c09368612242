//! Times reductions on a GPU. The rows of CSV, the items and the method are those of
//! `benches/peers`.
//!
//! ```text
//! figures CSV [--aggregates [--scan] | --rows [--search] | --cpu | --cold | --enqueue | --search | --scan [--search]] [--quick]
//!         [--sizes 10,20] [--policy large.rows=2,small_bytes=0] [OPERATOR...]
//! ```
//!
//! Sizes are powers of two of bytes. An input of `bytes` has bytes / item_bytes items. An operator
//! is named by its name, its item's name, or both: `max`, `u8`, `max:u8`.
//!
//! Times of GPU rows:
//!
//! - `graph`: a replayed graph of many calls, divided by the number of calls.
//! - `stream`: a call, where calls are enqueued singly while the GPU is busy.
//! - `host`: from a call to its result.
//!
//! Inputs are cold: the calls of a sample alternate between copies of the input. Before each sample
//! of `graph` and `stream` a kernel reads other memory to evict them from the cache. Results of
//! exact operators are first compared with the CPU's, for inputs of up to 2^28 bytes. Each operator
//! of this measurement runs in a process of its own (see `processes.rs`).
//!
//! Other measurements:
//!
//! - `--cpu`: calls on the CPU (`cpu`), also of rayon, the standard library, and a loop that only
//!   reads.
//! - `--cold`: first calls (`cold.rs`).
//! - `--host`: reductions of host memory (`host.rs`).
//! - `--aggregates`: aggregates, in one read; with `--scan`, scans of aggregates (`aggregates.rs`).
//! - `--rows`: rows, columns and segments; with `--search`, where the plan's choice changes (`rows.rs`).
//! - `--enqueue`: the host's time to enqueue a call (`enqueue.rs`).
//! - `--search`: policies (`search.rs`).
//! - `--scan`: scans (`scan.rs`).

mod aggregates;
mod ceiling;
mod cold;
mod cpu;
mod enqueue;
mod host;
mod operators;
mod processes;
mod rows;
mod scan;
mod search;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use warpfold::cudarc::driver::{
    CudaEvent, CudaFunction, CudaSlice, CudaStream, CudaView, LaunchConfig, PushKernelArg, sys,
};
use warpfold::{Device, DeviceType, Policy, Reduction};

use self::operators::{Measured, Visitor};

/// Least bytes of all copies of an input: several times the cache of any GPU.
const COLD_BYTES: usize = 256 << 20;
const MAX_BYTES: usize = 1 << 34;
const MAX_CALLS: usize = 2000;
/// Calls in a sample of `stream`, and reads of `COLD_BYTES` before them. A read takes about 60 us,
/// so the GPU is busy while the calls are enqueued.
const IN_STREAM: usize = 100;
const BUSY: usize = 12;
/// Bytes of the largest input whose result is compared with the CPU's.
const CHECKED_BYTES: usize = 1 << 28;

struct Gpu {
    stream: Arc<CudaStream>,
    module: Arc<warpfold::cudarc::driver::CudaModule>,
    arena: CudaSlice<u8>,
    other: CudaSlice<u8>,
}

struct Figures {
    gpu: Gpu,
    out: BufWriter<File>,
    quick: bool,
    sizes: Option<Vec<u32>>,
    policy: Vec<(String, u32)>,
    only: Vec<String>,
}

/// The operator and input of a row.
struct Subject<'a> {
    operator: &'a str,
    item: &'a str,
    item_bytes: usize,
    bytes: usize,
    offset: usize,
    result: String,
}

impl Subject<'_> {
    /// Bytes from the start of one view to the start of the next.
    fn room(&self) -> usize {
        (self.bytes + self.offset).next_multiple_of(256)
    }
}

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !matches!(argument.as_str(), "--bench" | "--test"))
        .collect();
    let mut flag = |name: &str| {
        let before = arguments.len();
        arguments.retain(|argument| argument != name);
        arguments.len() < before
    };
    let (quick, on_cpu, cold, search) = (flag("--quick"), flag("--cpu"), flag("--cold"), flag("--search"));
    let (enqueue, scan, alone) = (flag("--enqueue"), flag("--scan"), flag(processes::FLAG));
    let (host, of_aggregates, of_rows) = (flag("--host"), flag("--aggregates"), flag("--rows"));
    if flag("--cold-process") {
        let [operator, item, bytes] = &arguments[..] else {
            anyhow::bail!("--cold-process OPERATOR ITEM BYTES");
        };
        return cold::process(operator, item, bytes);
    }
    let mut option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.remove(at);
        (at < arguments.len()).then(|| arguments.remove(at))
    };
    let sizes = option("--sizes");
    let changes = option("--policy");
    let given = [("--sizes", &sizes), ("--policy", &changes)];
    let given = given.into_iter().filter_map(|(name, value)| Some([name.to_owned(), value.clone()?]));
    let options: Vec<String> = given.flatten().chain(quick.then(|| "--quick".to_owned())).collect();
    let sizes: Option<Vec<u32>> =
        sizes.map(|sizes| sizes.split(',').map(str::parse).collect::<Result<_, _>>()).transpose()?;
    let mut policy = Vec::new();
    for setting in changes.unwrap_or_default().split(',').filter(|setting| !setting.is_empty()) {
        let (name, value) =
            setting.split_once('=').context("a policy is written as large.rows=2,small_bytes=0")?;
        policy.push((name.to_owned(), value.parse()?));
    }
    let device = Device::cuda(0).ok();
    if device.is_none() && !on_cpu {
        println!("figures: no GPU");
        return Ok(());
    }
    if arguments.is_empty() {
        arguments.push("figures.csv".to_owned());
    }
    let mut out = BufWriter::new(File::create(arguments.remove(0))?);
    if search && !scan && !of_rows {
        let gpu = Gpu::new(&device.context("there is no GPU")?)?;
        return search::all(search::Search { gpu: &gpu, out: &mut out, sizes, only: &arguments });
    }
    writeln!(out, "who,operator,item,item_bytes,bytes,offset,time,median_us,p10_us,p90_us,samples,result")?;
    if on_cpu {
        for log2 in sizes.unwrap_or(if quick { vec![30] } else { vec![10, 14, 17, 20, 24, 28, 30] }) {
            cpu::Cpu { out: &mut out, bytes: 1 << log2, only: &arguments }.all()?;
        }
        return Ok(out.flush()?);
    }
    let device = device.context("there is no GPU")?;
    if of_aggregates || of_rows {
        let gpu = Gpu::new(&device)?;
        let asked =
            &mut aggregates::Asked { gpu: &gpu, out: &mut out, sizes, policy: &policy, only: &arguments };
        match (of_rows, scan) {
            (true, _) if search => rows::search(asked)?,
            (true, _) => rows::all(asked)?,
            (false, true) => aggregates::scans(asked)?,
            (false, false) => aggregates::all(asked)?,
        }
        return Ok(out.flush()?);
    }
    if scan {
        let gpu = &Gpu::new(&device)?;
        let sizes = sizes.or(quick.then(|| vec![20, 24, 28, 30]));
        return scan::Scans { gpu, out: &mut out, sizes, policy: &policy, search, only: &arguments }.all();
    }
    if cold {
        cold::all(&mut out)?;
        return Ok(out.flush()?);
    }
    if host {
        host::all(&mut out)?;
        return Ok(out.flush()?);
    }
    if enqueue {
        enqueue::all(&Gpu::new(&device)?, &mut out)?;
        return Ok(out.flush()?);
    }
    if !alone {
        drop(device);
        processes::all(&mut out, &arguments, &options)?;
        return Ok(out.flush()?);
    }
    let mut figures = Figures { gpu: Gpu::new(&device)?, out, quick, sizes, policy, only: arguments };
    operators::all(&mut figures);
    figures.out.flush()?;
    Ok(())
}

impl Visitor for Figures {
    fn visit<M: Measured>(&mut self, operator: &str, item: &str, fill: &str) {
        if !operators::is_asked(&self.only, operator, item) {
            return;
        }
        let start = Instant::now();
        self.measure::<M>(operator, item, fill)
            .unwrap_or_else(|error| panic!("{operator} of {item}: {error:#}"));
        eprintln!("{operator} of {item}: {:.1?}", start.elapsed());
    }
}

impl Figures {
    fn measure<M: Measured>(&mut self, operator: &str, item: &str, fill: &str) -> Result<()> {
        let sizes: &[u32] = match (self.quick, (operator, item)) {
            (true, _) => &[10, 20, 22, 26, 28, 30],
            (false, ("sum", "f32")) => &[
                10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
                33, 34,
            ],
            (false, _) => &[10, 14, 16, 17, 18, 19, 20, 22, 24, 26, 28, 30, 32, 34],
        };
        let sizes = self.sizes.clone().unwrap_or(sizes.to_vec());
        let item_bytes = size_of::<M::Item>();
        for log2 in sizes {
            let offsets: &[usize] = if matches!(log2, 28 | 30) { &[0, align_of::<M::Item>()] } else { &[0] };
            for &offset in offsets {
                let bytes = 1 << log2;
                let subject = Subject { operator, item, item_bytes, bytes, offset, result: String::new() };
                self.measure_one::<M>(subject, fill)?;
            }
        }
        Ok(())
    }

    fn measure_one<M: Measured>(&mut self, mut subject: Subject, fill: &str) -> Result<()> {
        let (bytes, room) = (subject.bytes, subject.room());
        let views = COLD_BYTES.div_ceil(bytes).clamp(2, MAX_CALLS).min(self.gpu.arena.len() / room);
        let views = self.gpu.views::<M::Item>(&subject, views, fill)?;
        let reduction = Reduction::<M>::new(self.gpu.stream.clone());
        let policy = changed(*reduction.policy(), &self.policy)?;
        let reduction = reduction.with_policy(policy);
        reduction.compile()?;
        let result = reduction.run(&views[0])?;
        if bytes <= CHECKED_BYTES {
            let items = self.gpu.device().download::<M::Item>(&views[0])?;
            let expected = Reduction::<M>::new(Device::cpu()).run(&items)?;
            ensure!(
                !M::EXACT || M::Item::same_bits(&result, &expected),
                "{bytes} bytes: not the CPU's result"
            );
        }
        subject.result = hexadecimal(&result);
        let samples = if bytes > 1 << 31 { 7 } else { 25 };
        let graph = self.gpu.reduction_times(&reduction, &views, samples)?;
        row(&mut self.out, "warpfold", &subject, "graph", graph)?;
        let mut output = self.gpu.device().zeros(1)?;
        let stream = self.gpu.stream_times(bytes, samples, |call| {
            Ok(reduction.run_into(&views[call % views.len()], &mut output)?)
        })?;
        row(&mut self.out, "warpfold", &subject, "stream", stream)?;
        let mut host = Vec::new();
        // Short calls need many samples, because host times vary by more than the differences of
        // interest.
        for sample in 0..if bytes <= 1 << 24 { 1000 } else { samples * 4 } + 8 {
            let start = Instant::now();
            std::hint::black_box(reduction.run(&views[sample % views.len()])?);
            host.push(start.elapsed().as_secs_f64() * 1e6);
        }
        host.drain(..8);
        row(&mut self.out, "warpfold", &subject, "host", host)
    }
}

impl Gpu {
    /// The GPU, with the stream of the measurements.
    fn device(&self) -> Device {
        self.stream.clone().into()
    }

    fn new(device: &Device) -> Result<Self> {
        let context = device.stream().context("a GPU has a stream")?.context();
        // The default stream cannot capture graphs.
        let stream = context.new_stream()?;
        // SAFETY: all work here is in one stream.
        unsafe { context.disable_event_tracking() };
        let (major, minor) = context.compute_capability()?;
        let options = warpfold::cudarc::nvrtc::CompileOptions {
            options: vec![format!("--gpu-architecture=compute_{major}{minor}")],
            ..Default::default()
        };
        let image = warpfold::cudarc::nvrtc::compile_ptx_with_opts(include_str!("items.cu"), options)?;
        let module = context.load_module(image)?;
        let free = warpfold::cudarc::driver::result::mem_get_info()?.0;
        let bytes = (2 * MAX_BYTES + (1 << 20)).min(free / 2);
        Ok(Self { arena: stream.alloc_zeros(bytes)?, other: stream.alloc_zeros(COLD_BYTES)?, module, stream })
    }

    fn kernel(&self, name: &str) -> Result<CudaFunction> {
        Ok(self.module.load_function(name)?)
    }

    fn fill<T: DeviceType>(&self, kernel: &str, view: &CudaView<'_, T>) -> Result<()> {
        let (kernel, count) = (self.kernel(kernel)?, view.len() as u64);
        let mut launch = self.stream.launch_builder(&kernel);
        launch.arg(view).arg(&count);
        // SAFETY: the kernel writes the `count` items of the view, which nothing else uses now.
        unsafe { launch.launch(wide()) }?;
        self.stream.synchronize()?;
        Ok(())
    }

    /// `count` views of an input, filled with its items.
    fn views<T: DeviceType>(
        &self,
        subject: &Subject,
        count: usize,
        fill: &str,
    ) -> Result<Vec<CudaView<'_, T>>> {
        let items = subject.bytes / subject.item_bytes;
        let view = |view: usize| {
            let part = self.arena.slice(view * subject.room() + subject.offset..);
            // SAFETY: the slice is aligned for the item, and filled with items before it is read.
            unsafe { part.transmute::<T>(items) }.context("the arena is too small")
        };
        let views: Vec<CudaView<'_, T>> = (0..count).map(view).collect::<Result<_>>()?;
        views.iter().try_for_each(|view| self.fill(fill, view))?;
        Ok(views)
    }

    fn evict(&self) -> Result<()> {
        let (kernel, words) = (self.kernel("read_into_cache")?, (COLD_BYTES / 16) as u64);
        let mut launch = self.stream.launch_builder(&kernel);
        launch.arg(&self.other).arg(&words).arg(&self.arena);
        // SAFETY: the kernel reads all of `other`, which holds zeros, and so never writes.
        unsafe { launch.launch(wide()) }?;
        Ok(())
    }

    fn reduction_times<M: Measured>(
        &self,
        reduction: &Reduction<M>,
        views: &[CudaView<'_, M::Item>],
        samples: usize,
    ) -> Result<Vec<f64>> {
        let bytes = views[0].len() * size_of::<M::Item>();
        let mut output = self.device().zeros(1)?;
        self.graph_times(bytes, samples, |call| {
            // SAFETY: the graph is dropped before the slices.
            Ok(unsafe { reduction.record_into(&views[call % views.len()], &mut output) }?)
        })
    }

    /// GPU time of a call in microseconds. Calls are enqueued singly while the GPU is busy with
    /// other work.
    fn stream_times(
        &self,
        bytes: usize,
        samples: usize,
        mut call: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let calls = calls_of(bytes).min(IN_STREAM);
        let (start, stop) = (self.event()?, self.event()?);
        let mut times = Vec::new();
        for _ in 0..samples + 2 {
            (0..BUSY).try_for_each(|_| self.evict())?;
            start.record(&self.stream)?;
            (0..calls).try_for_each(&mut call)?;
            stop.record(&self.stream)?;
            stop.synchronize()?;
            times.push(f64::from(start.elapsed_ms(&stop)?) * 1e3 / calls as f64);
        }
        times.drain(..2);
        Ok(times)
    }

    fn event(&self) -> Result<CudaEvent> {
        Ok(self.stream.context().new_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))?)
    }

    /// GPU time of a call in microseconds, by a graph of calls. `call` enqueues work on the stream.
    /// It must have run before, so that nothing is compiled during the capture.
    fn graph_times(
        &self,
        bytes: usize,
        samples: usize,
        mut call: impl FnMut(usize) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let calls = calls_of(bytes);
        self.stream.synchronize()?;
        self.stream.begin_capture(sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        (0..calls).try_for_each(&mut call)?;
        let graph = self
            .stream
            .end_capture(sys::CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)?
            .context("nothing was recorded")?;
        graph.upload()?;
        let (start, stop) = (self.event()?, self.event()?);
        let mut times = Vec::new();
        for _ in 0..samples + 2 {
            self.evict()?;
            start.record(&self.stream)?;
            graph.launch()?;
            stop.record(&self.stream)?;
            stop.synchronize()?;
            times.push(f64::from(start.elapsed_ms(&stop)?) * 1e3 / calls as f64);
        }
        times.drain(..2);
        Ok(times)
    }
}

/// Number of calls that take a few milliseconds together, at 4 TB/s and 2 us a call.
fn calls_of(bytes: usize) -> usize {
    ((4000.0 / (2.0 + bytes as f64 / 4e6)) as usize).clamp(2, MAX_CALLS)
}

/// The policy with the given settings.
fn changed(mut policy: Policy, settings: &[(String, u32)]) -> Result<Policy> {
    for (name, value) in settings {
        let shape = match name.split_once('.') {
            Some(("small", setting)) => Some((&mut policy.small, setting)),
            Some(("large", setting)) => Some((&mut policy.large, setting)),
            Some(("baseline", setting)) => Some((&mut policy.baseline, setting)),
            _ => None,
        };
        match (shape, name.as_str()) {
            (Some((shape, "width")), _) => shape.width = *value,
            (Some((shape, "group_items")), _) => shape.group_items = *value,
            (Some((shape, "rows")), _) => shape.rows = *value,
            (Some((shape, "merged_tiles")), _) => shape.merged_tiles = *value,
            (Some((shape, "runs")), _) => shape.runs = *value,
            (Some((shape, "warps")), _) => shape.warps = *value,
            (Some((shape, "blocks_per_multiprocessor")), _) => shape.blocks_per_multiprocessor = *value,
            (None, "tuned") => policy.tuned = *value != 0,
            (None, "tiles_per_warp") => policy.tiles_per_warp = *value,
            (None, "max_full_waves") => policy.max_full_waves = *value,
            (None, "small_blocks") => policy.small_blocks = *value,
            (None, "small_gathered") => policy.small_gathered = *value,
            (None, "gathered_chunks") => policy.gathered_chunks = *value,
            (None, "one_block_items") => policy.one_block_items = u64::from(*value),
            (None, "lane_each_items") => policy.lane_each_items = u64::from(*value),
            (None, "small_bytes") => policy.small_bytes = u64::from(*value),
            (None, "max_chunks") => policy.max_chunks = *value,
            _ => anyhow::bail!("a policy has no `{name}`"),
        }
    }
    Ok(policy)
}

fn wide() -> LaunchConfig {
    LaunchConfig { grid_dim: (1056, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 }
}

fn row(out: &mut impl Write, who: &str, subject: &Subject, time: &str, mut times: Vec<f64>) -> Result<()> {
    times.sort_by(f64::total_cmp);
    let at = |part: f64| times[(part * (times.len() - 1) as f64).round() as usize];
    let Subject { operator, item, item_bytes, bytes, offset, result } = subject;
    let (median, low, high, samples) = (at(0.5), at(0.1), at(0.9), times.len());
    writeln!(
        out,
        "{who},{operator},{item},{item_bytes},{bytes},{offset},{time},{median:.3},{low:.3},{high:.3},{samples},{result}"
    )?;
    // A run that ends early keeps its rows.
    Ok(out.flush()?)
}

/// The bytes of an item in memory order.
fn hexadecimal<T: DeviceType>(item: &T) -> String {
    // SAFETY: the items measured have no padding, so all of their bytes are initialised.
    let bytes = unsafe { std::slice::from_raw_parts((&raw const *item).cast::<u8>(), size_of::<T>()) };
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
