//! Rows, columns and segments in device memory: rows of time `graph`.
//!
//! An operator's name ends with the columns, as in `sum by rows of 5` or `sum by 16 columns`. Beside each stands a kernel
//! that reads and writes as many bytes (`copy`).

use anyhow::Result;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::aggregates::{ArgMax, BoundingBox, LogSumExp, Mean, Variance};
use warpfold::cudarc::driver::{CudaSlice, CudaView, PushKernelArg};
use warpfold::operators::{Max, Min, Sum};
use warpfold::plan::SegmentPolicy;
use warpfold::source::data_of_aggregate;
use warpfold::{DeviceAggregate, DeviceType, Reduction};

use super::aggregates::{Asked, Stored, subject};
use super::{Subject, row, wide};

const SAMPLES: usize = 15;
/// Columns that are no power of two.
const COLUMNS: [usize; 9] = [3, 5, 7, 10, 33, 100, 1000, 5120, 100_003];
/// Columns of the other aggregates and elements.
const FEW: [usize; 12] = [2, 4, 10, 32, 64, 100, 512, 1000, 1024, 4096, 100_003, 1 << 24];
/// Rows and columns of small matrices.
const SMALL: [(usize, usize); 12] = [
    (1, 10),
    (10, 10),
    (100, 10),
    (1000, 10),
    (1, 1000),
    (10, 1000),
    (100, 1000),
    (1000, 1000),
    (1, 10_000),
    (10, 10_000),
    (100, 10_000),
    (1000, 10_000),
];

/// Writes a row for each aggregate and number of columns.
pub fn all(asked: &mut Asked<'_>) -> Result<()> {
    for log2 in asked.sizes.clone().unwrap_or(vec![30]) {
        let bytes: usize = 1 << log2;
        let mut columns: Vec<usize> = (1..=log2 - 2).map(|level| 1 << level).collect();
        columns.extend(COLUMNS);
        columns.sort_unstable();
        for columns in columns {
            measure(asked, "sum", "f32", columns, bytes, Sum::<f32>::new())?;
        }
        for columns in FEW {
            measure(asked, "bounding box", "f32x3", columns, bytes, BoundingBox::<f32, 3>::new())?;
            measure(asked, "sum", "f64", columns, bytes, Sum::<f64>::new())?;
            measure(asked, "max", "u8", columns, bytes, Max::<u8>::new())?;
            measure(asked, "variance", "f32", columns, bytes, Variance::<f32>::new())?;
            measure(asked, "argmax", "f32", columns, bytes, ArgMax::<f32>::new())?;
            measure(asked, "log-sum-exp", "f32", columns, bytes, LogSumExp::<f32>::new())?;
            let three = (Min::<f32>::new(), Max::<f32>::new(), Mean::<f32>::new());
            measure(asked, "min max and mean", "f32", columns, bytes, three)?;
        }
    }
    for columns in [16, 1 << 14, 1 << 24] {
        measure_columns(asked, "sum", columns, Sum::<f32>::new())?;
        measure_columns(asked, "variance", columns, Variance::<f32>::new())?;
        measure_columns(asked, "argmax", columns, ArgMax::<f32>::new())?;
    }
    for length in [4, 16, 128, 1024, 1 << 20, 1 << 24, 1 << 26, 1 << 28] {
        let lengths = std::iter::repeat_n(length, (1 << 28) / length).collect();
        measure_segments(asked, &format!("sum by segments of {length}"), lengths)?;
    }
    measure_segments(asked, "sum by segments of a power law", power_law())?;
    let mut one_long = vec![1; 1_000_000];
    one_long.insert(500_000, 1 << 27);
    measure_segments(asked, "sum by segments of 1 and one of 2^27", one_long)?;
    for (rows, columns) in SMALL {
        measure(asked, "sum", "f32", columns, 4 * rows * columns, Sum::<f32>::new())?;
    }
    Ok(())
}

fn measure<A: DeviceAggregate<Input: DeviceType>>(
    asked: &mut Asked<'_>,
    name: &str,
    item: &'static str,
    columns: usize,
    bytes: usize,
    aggregate: A,
) -> Result<()> {
    let gpu = asked.gpu;
    let size = size_of::<A::Input>();
    let rows = bytes / (columns * size);
    let of_rows = format!("{name} by rows of {columns}");
    if rows == 0 || !is_asked(asked, name, &of_rows) {
        return Ok(());
    }
    let subject = subject(&of_rows, item, size, rows * columns * size);
    let views = super::aggregates::views::<A::Input>(gpu, &subject)?;
    let reduction = Reduction::with(gpu.stream.clone(), aggregate);
    reduction.compile_rows()?;
    let mut results = gpu.device().zeros(rows)?;
    time_rows(asked, "warpfold", &subject, &reduction, &views, &mut results)?;
    copy::<A>(asked, &subject, &views, &mut results)
}

/// Writes the row of a reduction of as many rows as there are results.
fn time_rows<A: DeviceAggregate<Input: DeviceType>>(
    asked: &mut Asked<'_>,
    who: &str,
    subject: &Subject<'_>,
    reduction: &Reduction<A>,
    views: &[CudaView<'_, A::Input>],
    results: &mut CudaSlice<Stored<A>>,
) -> Result<()> {
    let columns = subject.bytes / subject.item_bytes / results.len();
    let times = asked.gpu.graph_times(subject.bytes, SAMPLES, |call| {
        // SAFETY: the graph is dropped before the slices.
        Ok(unsafe { reduction.record_rows_into(&views[call % views.len()], columns, &mut *results) }?)
    })?;
    row(asked.out, who, subject, "graph", times)
}

/// Where the plan's choice changes: rows by either kernel, and columns of which a lane reduces more or
/// fewer elements. `who` is the choice.
pub fn search(asked: &mut Asked<'_>) -> Result<()> {
    let policy = SegmentPolicy::for_data(&data_of_aggregate::<Sum<f32>>());
    let stream = &asked.gpu.stream;
    let sum = |policy| Reduction::<Sum<f32>>::new(stream.clone()).with_segment_policy(policy);
    for columns in [64, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096] {
        let rows = (1 << 28) / columns;
        let name = format!("sum by rows of {columns}");
        let subject = subject(&name, "f32", 4, 4 * rows * columns);
        let views = super::aggregates::views::<f32>(asked.gpu, &subject)?;
        // SAFETY: the output is written before it is read.
        let mut results = unsafe { stream.alloc::<f32>(rows) }?;
        let (mut lanes, mut warps) = (policy, policy);
        // Windows that have a row, and as much shared memory for each block.
        lanes.by_lanes.window_items = policy.by_lanes.window_items.max(columns as u32);
        lanes.by_lanes.most_run = policy.by_lanes.most_run.max((columns as u32 / 32).next_power_of_two());
        lanes.by_lanes.warps =
            policy.by_lanes.warps * policy.by_lanes.window_items / lanes.by_lanes.window_items;
        warps.by_lanes.window_items = 32;
        warps.by_lanes.most_run = warps.by_lanes.unit_items;
        for (who, policy) in [("by lanes", lanes), ("by warps", warps)] {
            time_rows(asked, who, &subject, &sum(policy), &views, &mut results)?;
        }
    }
    for columns in [16, 1 << 14, 1 << 24] {
        let name = format!("sum by {columns} columns");
        let subject = subject(&name, "f32", 4, 4 << 28);
        let views = super::aggregates::views::<f32>(asked.gpu, &subject)?;
        // SAFETY: the output is written before it is read.
        let mut results = unsafe { stream.alloc::<f32>(columns) }?;
        for column_run in [32, 128, 256, 512, 1024, 4096] {
            let sum = sum(SegmentPolicy { column_run, ..policy });
            let times = asked.gpu.graph_times(subject.bytes, SAMPLES, |call| {
                let view = &views[call % views.len()];
                // SAFETY: the graph is dropped before the slices.
                Ok(unsafe { sum.record_columns_into(view, columns, &mut results) }?)
            })?;
            row(asked.out, &format!("up to {column_run} rows a lane"), &subject, "graph", times)?;
        }
    }
    Ok(())
}

fn is_asked(asked: &Asked<'_>, name: &str, whole: &str) -> bool {
    asked.only.is_empty() || asked.only.iter().any(|only| only == name || *only == whole)
}

/// The columns of a matrix of 1 GiB.
fn measure_columns<A: DeviceAggregate<Input = f32>>(
    asked: &mut Asked<'_>,
    name: &str,
    columns: usize,
    aggregate: A,
) -> Result<()> {
    let gpu = asked.gpu;
    let of_columns = format!("{name} by {columns} columns");
    if !is_asked(asked, name, &of_columns) {
        return Ok(());
    }
    let subject = subject(&of_columns, "f32", 4, 1 << 30);
    let views = super::aggregates::views::<f32>(gpu, &subject)?;
    let reduction = Reduction::with(gpu.stream.clone(), aggregate);
    reduction.compile_columns()?;
    let mut results = gpu.device().zeros(columns)?;
    let times = gpu.graph_times(subject.bytes, SAMPLES, |call| {
        // SAFETY: the graph is dropped before the slices.
        Ok(unsafe { reduction.record_columns_into(&views[call % views.len()], columns, &mut results) }?)
    })?;
    row(asked.out, "warpfold", &subject, "graph", times)?;
    copy::<A>(asked, &subject, &views, &mut results)
}

/// Lengths from 1 to 2^20, of 2^28 elements together: of a length x there are proportionally x^-2.
fn power_law() -> Vec<usize> {
    let (mut random, mut left, mut lengths) = (SmallRng::seed_from_u64(1), 1_usize << 28, Vec::new());
    while left > 0 {
        let uniform: f64 = random.random_range(0.0..1.0);
        let length = ((1.0 / (1.0 - uniform)) as usize).clamp(1, 1 << 20).min(left);
        left -= length;
        lengths.push(length);
    }
    lengths
}

/// Sums of segments that offsets in device memory give.
fn measure_segments(asked: &mut Asked<'_>, name: &str, lengths: Vec<usize>) -> Result<()> {
    let gpu = asked.gpu;
    if !is_asked(asked, "sum", name) {
        return Ok(());
    }
    let subject = subject(name, "f32", 4, 4 * lengths.iter().sum::<usize>());
    let views = super::aggregates::views::<f32>(gpu, &subject)?;
    let ends = lengths.iter().scan(0_u32, |end, &length| {
        *end += length as u32;
        Some(*end)
    });
    let offsets: Vec<u32> = std::iter::once(0).chain(ends).collect();
    let offsets = gpu.stream.clone_htod(&offsets)?;
    let sum = Reduction::<Sum<f32>>::new(gpu.stream.clone());
    sum.compile_segments()?;
    // SAFETY: the output is written before it is read.
    let mut results = unsafe { gpu.stream.alloc::<f32>(lengths.len()) }?;
    let times = gpu.graph_times(subject.bytes, SAMPLES, |call| {
        // SAFETY: the graph is dropped before the slices.
        Ok(unsafe { sum.record_segments_into(&views[call % views.len()], &offsets, &mut results) }?)
    })?;
    row(asked.out, "warpfold", &subject, "graph", times)?;
    // The copy writes as many bytes as offsets and results have.
    // SAFETY: as above.
    let mut written = unsafe { gpu.stream.alloc::<f32>(2 * lengths.len()) }?;
    copy::<Sum<f32>>(asked, &subject, &views, &mut written)
}

/// A kernel that reads and writes as many bytes.
fn copy<A: DeviceAggregate<Input: DeviceType>>(
    asked: &mut Asked<'_>,
    subject: &Subject<'_>,
    views: &[CudaView<'_, A::Input>],
    results: &mut CudaSlice<Stored<A>>,
) -> Result<()> {
    let (gpu, rows) = (asked.gpu, results.len());
    let (words, written) = ((subject.bytes / 16) as u64, rows * size_of::<Stored<A>>());
    let per_warp = (written / 16) as f64 / (words / 32).max(1) as f64;
    let kernel = gpu.kernel("read_and_write")?;
    let times = gpu.graph_times(subject.bytes, SAMPLES, |call| {
        let mut launch = gpu.stream.launch_builder(&kernel);
        launch.arg(&views[call % views.len()]).arg(&words).arg(&per_warp).arg(&mut *results);
        // SAFETY: the kernel reads the view, and writes at most as many bytes as the results have.
        unsafe { launch.launch(wide()) }?;
        Ok(())
    })?;
    row(asked.out, "copy", subject, "graph", times)
}
