//! Aggregates of `f32` in device memory, in one read: rows of time `graph` and `first`.
//!
//! Beside them stands a plain read of the same bytes (`read`), and the sum of the same elements.
//! `first` is a first call without a disk cache, in ms.

use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use anyhow::{Context, Result};
use warpfold::aggregates::*;
use warpfold::cudarc::driver::{CudaSlice, CudaView, PushKernelArg};
use warpfold::operators::{Max, Min, Sum};
use warpfold::{Aggregate, DeviceAggregate, DeviceType, Reduction, Scan, Value, device};

use super::{COLD_BYTES, Gpu, MAX_CALLS, Subject, changed, row, wide};

/// Powers of two of bytes of all arrays together.
const SIZES: [u32; 9] = [12, 14, 16, 18, 20, 22, 24, 28, 30];
const SAMPLES: usize = 25;
/// The kernel of `items.cu` that fills an array.
const FILL: &str = "uniform_f32";

#[device(type = IsPositive)]
fn is_positive(x: f32) -> bool {
    x > 0.0
}

#[device(type = Square)]
fn square(x: f32) -> f32 {
    x * x
}

pub type Stored<A> = <<A as Aggregate>::Output as Value>::Stored;

/// Six answers in one read.
type Six = (Sum<f32>, Min<f32>, Max<f32>, ArgMax<f32>, Mean<f32>, Variance<f32>);

/// What is measured, and where its rows go.
pub struct Asked<'a> {
    pub gpu: &'a Gpu,
    pub out: &'a mut BufWriter<File>,
    /// Powers of two of bytes. `None`: all.
    pub sizes: Option<Vec<u32>>,
    /// Changes of the policies.
    pub policy: &'a [(String, u32)],
    /// Names of aggregates. Empty: all.
    pub only: &'a [String],
}

impl<'g> Asked<'g> {
    /// The views of an aggregate, unless it is left out.
    fn views<T: DeviceType>(&self, subject: &Subject<'_>) -> Result<Option<Vec<CudaView<'g, T>>>> {
        let is_asked = self.only.is_empty() || self.only.iter().any(|name| name == subject.operator);
        is_asked.then(|| views::<T>(self.gpu, subject)).transpose()
    }
}

/// Writes a row for each aggregate and size, and for each first call.
pub fn all(asked: &mut Asked<'_>) -> Result<()> {
    for log2 in asked.sizes.clone().unwrap_or(SIZES.to_vec()) {
        let bytes = 1 << log2;
        reading(asked, bytes)?;
        one::<Sum<f32>>(asked, "sum", bytes, Sum::new())?;
        one(asked, "mean", bytes, Mean::<f32>::new())?;
        one(asked, "min and max", bytes, MinMax::<f32>::new())?;
        one(asked, "argmax", bytes, ArgMax::<f32>::new())?;
        one(asked, "norm", bytes, Norm::<f32>::new())?;
        one(asked, "count if", bytes, CountIf::<IsPositive>::default())?;
        one(asked, "variance", bytes, Variance::<f32>::new())?;
        one(asked, "log-sum-exp", bytes, LogSumExp::<f32>::new())?;
        one(asked, "compensated sum", bytes, SumCompensated::<f32>::new())?;
        one(asked, "histogram of 16", bytes, Histogram::<f32, 16>::new(-1.0, 1.0))?;
        one(asked, "top 8", bytes, TopK::<f32, 8>::new())?;
        one(asked, "six", bytes, Six::default())?;
        points(asked, "bounding box", bytes, BoundingBox::<f32, 3>::new())?;
        points(asked, "centroid", bytes, Centroid::<f32, 3>::new())?;
        pairs(asked, "dot product", bytes, Dot::<f32>::new())?;
        pairs(asked, "linear fit", bytes, LinearFit::<f32>::new())?;
        pairs(asked, "covariance", bytes, Covariance::<f32>::new())?;
        measure(asked, subject("wide sum", "u8", 1, bytes), SumWide::<u8>::new())?;
        measure(asked, subject("wide sum of f16", "f16", 2, bytes), SumWide::<half::f16>::new())?;
    }
    Ok(())
}

/// Writes a row for each scan of aggregates, beside that of the sum, which copies its items.
pub fn scans(asked: &mut Asked<'_>) -> Result<()> {
    for log2 in asked.sizes.clone().unwrap_or(vec![12, 20, 24, 28]) {
        let bytes = 1 << log2;
        scan(asked, "scan of sums", bytes, Sum::<f32>::new())?;
        scan(asked, "scan of squares", bytes, Mapped::<Square, Sum<f32>>::default())?;
        scan(asked, "scan of counts", bytes, CountIf::<IsPositive>::default())?;
        scan(asked, "scan of means", bytes, Mean::<f32>::new())?;
        scan(asked, "scan of argmax", bytes, ArgMax::<f32>::new())?;
    }
    Ok(())
}

fn scan<A: DeviceAggregate<Input = f32>>(
    asked: &mut Asked<'_>,
    name: &'static str,
    bytes: usize,
    aggregate: A,
) -> Result<()> {
    let gpu = asked.gpu;
    let subject = subject(name, "f32", 4, bytes);
    let Some(views) = asked.views::<f32>(&subject)? else { return Ok(()) };
    let scan = Scan::with(gpu.stream.clone(), aggregate);
    scan.compile()?;
    let mut places = gpu.device().zeros(views[0].len())?;
    let times = gpu.graph_times(bytes, SAMPLES, |call| {
        // SAFETY: the graph is dropped before the slices.
        Ok(unsafe { scan.record_inclusive_into(&views[call % views.len()], &mut places) }?)
    })?;
    row(asked.out, "warpfold", &subject, "graph", times)
}

pub fn subject<'a>(name: &'a str, item: &'a str, item_bytes: usize, bytes: usize) -> Subject<'a> {
    Subject { operator: name, item, item_bytes, bytes, offset: 0, result: "-".to_owned() }
}

fn copies(bytes: usize) -> usize {
    COLD_BYTES.div_ceil(bytes).clamp(2, MAX_CALLS)
}

/// Bytes of memory as elements of type `T`, filled with numbers.
pub fn views<'g, T: DeviceType>(gpu: &'g Gpu, subject: &Subject<'_>) -> Result<Vec<CudaView<'g, T>>> {
    let numbers = Subject { item_bytes: 4, result: String::new(), ..*subject };
    let filled = gpu.views::<f32>(&numbers, copies(subject.bytes), FILL)?;
    let as_elements = |index: usize| {
        let part = gpu.arena.slice(index * subject.room()..);
        // SAFETY: the slice is aligned for `T`, and any bits are a valid `T`.
        unsafe { part.transmute::<T>(subject.bytes / size_of::<T>()) }.context("the arena is too small")
    };
    (0..filled.len()).map(as_elements).collect()
}

fn output<A: DeviceAggregate>(gpu: &Gpu) -> Result<CudaSlice<Stored<A>>> {
    Ok(gpu.device().zeros(1)?)
}

/// The time of a first call, and a reduction whose tuned kernels are loaded.
fn compiled<A: DeviceAggregate>(
    asked: &mut Asked<'_>,
    subject: &Subject<'_>,
    aggregate: A,
    run: impl Fn(&Reduction<A>) -> Result<()>,
) -> Result<Reduction<A>> {
    let gpu = asked.gpu;
    let start = Instant::now();
    let reduction = Reduction::with(gpu.stream.clone(), aggregate);
    let policy = changed(*reduction.policy(), asked.policy)?;
    let reduction = reduction.with_policy(policy);
    run(&reduction)?;
    let first = start.elapsed().as_secs_f64() * 1e6;
    if asked.policy.is_empty() && subject.bytes == 1 << SIZES[0] {
        row(asked.out, "warpfold", subject, "first", vec![first])?;
    }
    reduction.compile()?;
    Ok(reduction)
}

fn one<A: DeviceAggregate<Input = f32>>(
    asked: &mut Asked<'_>,
    name: &'static str,
    bytes: usize,
    aggregate: A,
) -> Result<()> {
    measure(asked, subject(name, "f32", 4, bytes), aggregate)
}

fn points<A: DeviceAggregate<Input = [f32; 3]>>(
    asked: &mut Asked<'_>,
    name: &'static str,
    bytes: usize,
    aggregate: A,
) -> Result<()> {
    measure(asked, subject(name, "f32x3", 12, bytes / 12 * 12), aggregate)
}

fn measure<A: DeviceAggregate<Input: DeviceType>>(
    asked: &mut Asked<'_>,
    subject: Subject<'_>,
    aggregate: A,
) -> Result<()> {
    let gpu = asked.gpu;
    let Some(views) = asked.views::<A::Input>(&subject)? else { return Ok(()) };
    let run = |reduction: &Reduction<A>| {
        reduction.run(&views[0])?;
        Ok(())
    };
    let reduction = compiled(asked, &subject, aggregate, run)?;
    let mut result = output::<A>(gpu)?;
    let times = gpu.graph_times(subject.bytes, SAMPLES, |call| {
        // SAFETY: the graph is dropped before the slices.
        Ok(unsafe { reduction.record_into(&views[call % views.len()], &mut result) }?)
    })?;
    row(asked.out, "warpfold", &subject, "graph", times)
}

/// Two arrays in step, each half of the bytes.
fn pairs<A: DeviceAggregate<Input = (f32, f32)>>(
    asked: &mut Asked<'_>,
    name: &'static str,
    bytes: usize,
    aggregate: A,
) -> Result<()> {
    let gpu = asked.gpu;
    let subject = subject(name, "f32", 4, bytes);
    let Some(views) = asked.views::<f32>(&subject)? else { return Ok(()) };
    let halves = |view: usize| {
        let (view, middle) = (&views[view], views[view].len() / 2);
        (view.slice(..middle), view.slice(middle..))
    };
    let run = |reduction: &Reduction<A>| {
        let (x, y) = halves(0);
        reduction.run((&x, &y))?;
        Ok(())
    };
    let reduction = compiled(asked, &subject, aggregate, run)?;
    let mut result = output::<A>(gpu)?;
    let times = gpu.graph_times(bytes, SAMPLES, |call| {
        let (x, y) = halves(call % views.len());
        // SAFETY: the graph is dropped before the slices.
        Ok(unsafe { reduction.record_into((&x, &y), &mut result) }?)
    })?;
    row(asked.out, "warpfold", &subject, "graph", times)
}

/// A kernel that only reads.
fn reading(asked: &mut Asked<'_>, bytes: usize) -> Result<()> {
    let gpu = asked.gpu;
    let subject = subject("read", "f32", 4, bytes);
    let views = views::<f32>(gpu, &subject)?;
    let (kernel, words) = (gpu.kernel("read_into_cache")?, (bytes / 16) as u64);
    let times = gpu.graph_times(bytes, SAMPLES, |call| {
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&views[call % views.len()]).arg(&words).arg(&gpu.other);
        // SAFETY: the kernel reads the view, and writes only if its words have one value of 2^32.
        unsafe { launch.launch(wide()) }?;
        Ok(())
    })?;
    row(asked.out, "read", &subject, "graph", times)
}
