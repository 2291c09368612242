//! Tests of rows, columns and segments: on every backend the result of each is what a reduction of it
//! alone gives.

#[path = "rows/mutations.rs"]
mod mutations;
#[path = "rows/random.rs"]
mod random;
#[path = "rows/segments.rs"]
mod segments;

use std::fmt::Debug;
use std::marker::PhantomData;
use std::process::ExitCode;
use std::sync::Arc;

use mutations::MUTATIONS;
use support::aggregates::{
    self, Accumulated, AccumulatedIndices, AccumulatedPairs, OfIndex, Placed, Product, Scaled, Visitor,
};
use support::checks::{Check, code_of, digest};
use support::drawn::Drawn;
use support::input_bytes::bytes;
use support::items::{Sample, items};
use support::mutations::{MutationSuite, Trial, Trials};
use support::programs::{Checks, Kernels};
use support::segments::SegmentCase;
use support::simt::{Executor, Tests};
use support::tiers::{Suite, Tier, alone, device};
use warpfold::aggregates::Masked;
use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use warpfold::jit::{self, Architecture};
use warpfold::operators::Sum;
use warpfold::plan::{Kernel, SegmentPolicy, Segments};
use warpfold::source::{Source, data_of_aggregate};
use warpfold::{Aggregate, Bit, DeviceAggregate, Error, Item, Maybe, Reduction, Rows, tree};

/// The results by definition.
fn expected<A: Aggregate>(aggregate: &A, elements: &[A::Input], segments: Segments) -> Vec<A::Output> {
    let Segments { length, pitch, stride, .. } = segments;
    let row = |row: usize| {
        let prepare =
            |index: u64| aggregate.prepare(index, elements[(row as u64 * pitch + index * stride) as usize]);
        let prepared: Vec<Item<A>> = (0..length).map(prepare).collect();
        aggregate.present(tree::bracket(&aggregate.monoid(), &prepared), segments.length)
    };
    (0..segments.count as usize).map(row).collect()
}

/// Fails at the first result that differs. Zeros differ by their signs, and all NaNs are equal.
fn check<T: Debug>(got: &[T], expected: &[T]) -> Result<(), String> {
    if got.len() != expected.len() {
        return Err(format!("{} results, not {}", got.len(), expected.len()));
    }
    if bytes(got) == bytes(expected) {
        return Ok(());
    }
    let differs = |(got, expected): (&T, &T)| format!("{got:?}") != format!("{expected:?}");
    match got.iter().zip(expected).position(differs) {
        None => Ok(()),
        Some(at) => Err(format!("row {at} is {:?}, and the definition gives {:?}", got[at], expected[at])),
    }
}

/// Matrices of up to `most` elements: of one row and of many, of short rows and of long ones, with
/// and without gaps, next to the limits of a window, a tile and a chunk.
fn shapes(policy: &SegmentPolicy, most: usize) -> Vec<Segments> {
    let window = u64::from(policy.by_lanes.window_items);
    let (tile, chunk) = (policy.by_warps.tile_items(), policy.chunk_items);
    let mut shapes = vec![(1, 1, 1), (70, 1, 1), (300, 2, 2), (65, 3, 3), (33, 4, 4), (40, 5, 7), (9, 8, 8)];
    shapes.extend([(31, 10, 10), (5, 31, 31), (4, 32, 50), (6, 33, 33), (3, 100, 100), (2, 127, 129)]);
    shapes.extend([(3, window - 1, window - 1), (2, window, window), (3, window + 1, window + 5)]);
    shapes.extend([(2, tile, tile), (3, tile + 1, tile + 1), (2, 2 * tile + 7, 2 * tile + 7)]);
    shapes.extend([(1, chunk, chunk), (2, chunk + 1, chunk + 1), (1, 3 * chunk - 1, 3 * chunk)]);
    let of = |(count, length, pitch): (u64, u64, u64)| Segments { count, length, pitch, stride: 1 };
    let fits = |segments: &Segments| segments.length > 0 && segments.count * segments.pitch <= most as u64;
    let mut shapes: Vec<Segments> = shapes.into_iter().map(of).filter(fits).collect();
    let run = u64::from(policy.column_run);
    let columns = [(1, 1, 1), (3, 0, 3), (33, 2, 33), (5, 16, 7), (40, 33, 40), (1, 100, 1), (31, 15, 31)];
    let long = [(7, run, 7), (3, run + 1, 4), (2, 3 * run - 1, 2), (1, 17 * run, 1), (300, 5, 300)];
    let of = |(count, length, stride)| Segments { count, length, pitch: 1, stride };
    shapes.extend(columns.into_iter().chain(long).map(of).filter(|columns| extent(columns) <= most));
    shapes
}

/// The elements from the first one to the last one.
fn extent(of: &Segments) -> usize {
    match of.count.min(of.length) {
        0 => 0,
        _ => ((of.count - 1) * of.pitch + (of.length - 1) * of.stride + 1) as usize,
    }
}

/// A change of a policy.
type Change = fn(SegmentPolicy) -> SegmentPolicy;

/// The default policy; small windows, and chunks of one tile or row.
const POLICIES: [(&str, Change); 2] = [
    ("all", |policy| policy),
    ("chunks", |policy| {
        let mut small = policy;
        small.by_lanes.window_items = 40.min(policy.by_lanes.window_items);
        (small.by_lanes.most_run, small.by_lanes.unit_items) = (4, 4);
        SegmentPolicy { chunk_items: policy.by_warps.tile_items(), column_run: 16, ..small }
    }),
];

fn wrong_on_executor<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: SegmentCase<A>,
) -> Result<(), String> {
    let most = (48 << 10) / size_of::<A::Input>().max(size_of::<Item<A>>() / 8).max(4);
    let all = items(13, most + 3, A::Input::draw);
    for (number, segments) in shapes(&case.elements.policy, most).into_iter().enumerate() {
        let misalignment = [0, 1, 3][number % 3];
        let elements = &all[misalignment..misalignment + extent(&segments)];
        wrong_rows(executor, case, elements, segments, misalignment)?;
    }
    Ok(())
}

fn wrong_rows<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: SegmentCase<A>,
    elements: &[A::Input],
    segments: Segments,
    misalignment: usize,
) -> Result<(), String> {
    let expected = expected(&case.elements.operator, elements, segments);
    let seed = executor.seed;
    let what = |wrong| {
        format!(
            "{segments:?}, {misalignment} alignments past an aligned address, WARPFOLD_SIMT_SEED={seed}: {wrong}"
        )
    };
    let got = executor.segments(case, elements, segments, misalignment).map_err(what)?;
    check(&got, &expected).map_err(what)
}

/// With the end of the tests' names.
struct OnExecutor<'a, 'b>(&'a mut Tests<'b>, &'static str);

impl Visitor for OnExecutor<'_, '_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        for (policy, change) in POLICIES {
            let add = |kernels: &mut Kernels| SegmentCase::add(kernels, aggregate, change);
            let subject = self.0.subject(name, Vec::new(), add);
            let title = format!("{name}_by_{policy}_{}", self.1);
            let with = |check: Check| check.factor("policy", policy);
            self.0.check(&subject, title, with, move |executor, case| {
                wrong_on_executor(executor, case).unwrap_or_else(|wrong| panic!("{wrong}"));
            });
        }
    }
}

/// Compiles the kernels of each aggregate to machine code.
struct Compile<'a>(&'a mut Suite);

impl Visitor for Compile<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, _: A) {
        let policy = SegmentPolicy::for_data(&data_of_aggregate::<A>());
        for kernel in Kernel::OF_SEGMENTS {
            let source = Arc::new(Source::of_segments::<A>(&policy, kernel).expect("renders"));
            let check = Check::of("compilations of rows")
                .aspect("aggregate", name)
                .aspect("kernel", format!("{kernel:?}"))
                .determined_by(code_of(source.text()))
                .determined_by(digest(&["src/cuda/jit/nvrtc.rs", "src/cuda/jit/options.rs"]));
            self.0.check(Tier::Nvrtc, check, format!("{kernel:?}_rows_of_{name}_compile"), move || {
                for architecture in [Architecture::new(7, 5), Architecture::new(9, 0)] {
                    let target = jit::target(architecture).expect("known to this NVRTC");
                    jit::resources(&source, target).unwrap_or_else(|error| panic!("{error}"));
                }
            });
        }
    }
}

/// Reduces rows with each aggregate through the public calls.
struct Runs<'a>(&'a mut Suite);

impl Visitor for Runs<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        for tier in [Tier::Cpu, Tier::Gpu] {
            self.0.test(tier, format!("rows_of_{name}_are_what_they_are_by_definition"), move || {
                runs(tier, aggregate);
            });
        }
    }
}

fn runs<A: DeviceAggregate<Input: Drawn, Output: Debug>>(tier: Tier, aggregate: A) {
    let device = device(tier);
    // On a GPU several chunks a row, on the CPU several parts.
    let most = (2 << 20) / size_of::<A::Input>().max(size_of::<Item<A>>()).max(4);
    let all = items(37, most + 3, A::Input::draw);
    // The CPU has no policy.
    let policies = if device.is_gpu() { &POLICIES[..] } else { &POLICIES[..1] };
    for (policy, change) in policies {
        let policy_of = change(SegmentPolicy::for_data(&data_of_aggregate::<A>()));
        let reduction = Reduction::with(device.clone(), aggregate).with_segment_policy(policy_of);
        let mut shapes = shapes(&policy_of, most);
        let (wide, tall) = (most as u64 / 3, most as u64 / 5);
        shapes.push(Segments { count: 3, length: wide, pitch: wide, stride: 1 });
        shapes.push(Segments { count: tall, length: 5, pitch: 5, stride: 1 });
        shapes.push(Segments { count: 3, length: wide, pitch: 1, stride: 3 });
        shapes.push(Segments { count: tall, length: 5, pitch: 1, stride: tall });
        for (number, segments) in shapes.into_iter().enumerate() {
            let start = [0, 3, 1][number % 3];
            let elements = &all[start..start + extent(&segments)];
            rows_are_right(&reduction, &aggregate, elements, segments, start)
                .unwrap_or_else(|wrong| panic!("{segments:?} by {policy}, {wrong}"));
        }
    }
}

/// Reduces rows or columns by the public calls: into new memory, into given memory, and in device memory
/// if there is one.
fn rows_are_right<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    reduction: &Reduction<A>,
    aggregate: &A,
    elements: &[A::Input],
    segments: Segments,
    start: usize,
) -> Result<(), String> {
    let is_rows = segments.stride == 1 && (1..=segments.pitch).contains(&segments.length);
    let (columns, pitch) =
        if is_rows { (segments.length, segments.pitch) } else { (segments.count, segments.stride) };
    let rows = Rows::of(columns as usize).with_pitch(pitch as usize);
    let (expected, host) = (expected(aggregate, elements, segments), A::Input::split(elements));
    let same =
        |how: &str, got: &[A::Output]| check(got, &expected).map_err(|wrong| format!("{how}: {wrong}"));
    let input = || A::Input::of_host(&host);
    let mut results = match is_rows {
        true => reduction.rows(input(), rows).expect("runs"),
        false => reduction.columns(input(), rows).expect("runs"),
    };
    same("new memory", &results)?;
    results.reverse();
    match is_rows {
        true => reduction.rows_into(input(), rows, &mut results).expect("runs"),
        false => reduction.columns_into(input(), rows, &mut results).expect("runs"),
    }
    same("given memory", &results)?;
    let Some(stream) = reduction.device().stream().filter(|_| A::Input::COUNT > 0) else { return Ok(()) };
    let copies = A::Input::upload(stream, &host, start);
    let results = A::Input::rows(reduction, &copies, start, rows, is_rows).expect("runs");
    let got = reduction.device().download::<A::Output>(&results).expect("copies");
    same("on the device", &got)
}

/// A row's result does not depend on the number of rows, nor on their place.
fn batches(tier: Tier) {
    let device = device(tier);
    let sum = Reduction::<Sum<f32>>::new(device.clone());
    for columns in [3, 37, 1000, 1100] {
        let most = if columns > 100 { 2000 } else { 100_000 };
        let row = items(columns as u64, columns, f32::sample);
        let alone = sum.run(&row).expect("runs");
        let matrix: Vec<f32> = row.iter().copied().cycle().take(columns * most + 8).collect();
        for rows in [1, 7, 256, most] {
            for start in 0..4 {
                // Each row is the same, from another place on.
                let mut shifted = vec![0.5; start];
                shifted.extend(&matrix[..columns * rows]);
                let sums = match device.stream() {
                    None => sum.rows(&shifted[start..], columns).expect("runs"),
                    Some(stream) => {
                        let copy = stream.clone_htod(&shifted).expect("copies");
                        let sums = sum.rows(&copy.slice(start..), columns).expect("runs");
                        stream.clone_dtoh(&sums).expect("copies")
                    }
                };
                let same = sums.iter().all(|sum| sum.to_bits() == alone.to_bits());
                assert!(sums.len() == rows && same, "{rows} rows of {columns} from {start}");
            }
        }
    }
}

/// From host memory to device memory, from device memory to host memory, and in a graph.
fn between_places_and_in_a_graph() {
    let _alone = alone();
    let stream = device(Tier::Gpu).stream().expect("a GPU").context().new_stream().expect("a stream");
    let aggregate = Scaled { modulus: 1_000_003, scale: 3 };
    let reduction = Reduction::with(stream.clone(), aggregate);
    reduction.compile_rows().expect("compiles");
    for (rows, columns) in [(1, 1), (100, 7), (3, 300_001)] {
        let elements = items(5, rows * columns, u32::sample);
        let segments =
            Segments { count: rows as u64, length: columns as u64, pitch: columns as u64, stride: 1 };
        let expected = expected(&aggregate, &elements, segments);
        let stored = |got: &_| -> Vec<Option<[u32; 2]>> {
            stream.clone_dtoh(got).expect("copies").into_iter().map(Maybe::get).collect()
        };
        let mut out = stream.clone_htod(&vec![Maybe::from(None::<[u32; 2]>); rows]).expect("copies");
        reduction.rows_into(&elements, columns, &mut out).expect("runs");
        assert_eq!(stored(&out), expected, "{rows} rows to the device");
        let input = stream.clone_htod(&elements).expect("copies");
        let mut places = vec![None; rows];
        reduction.rows_into(&input, columns, &mut places).expect("runs");
        assert_eq!(places, expected, "{rows} rows to the host");
        let mut out = stream.clone_htod(&vec![Maybe::from(None::<[u32; 2]>); rows]).expect("copies");
        stream.synchronize().expect("waits");
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("begins");
        assert!(matches!(reduction.rows(&input, columns), Err(Error::StreamIsCapturing)));
        // SAFETY: both slices outlive the graph, which this stream alone launches.
        unsafe { reduction.record_rows_into(&input, columns, &mut out) }.expect("records");
        let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(flags).expect("ends").expect("has launches");
        for _ in 0..3 {
            graph.launch().expect("launches");
        }
        assert_eq!(stored(&out), expected, "{rows} rows in a graph");
    }
}

/// More than 2^32 rows, and rows of more than 2^32 elements.
fn numbers_of_more_than_32_bits() {
    let device = device(Tier::Gpu);
    let stream = device.stream().expect("a GPU");
    let length = (1_usize << 32) + 4 * 7;
    let mut bytes = stream.alloc_zeros::<u8>(length).expect("allocates");
    let marked = [5, (1 << 32) + 3, length - 1];
    for at in marked {
        stream.memcpy_htod(&[at as u8 | 1], &mut bytes.slice_mut(at..at + 1)).expect("copies");
    }
    let sum = Reduction::<Sum<u8>>::new(device.clone());
    let rows = sum.rows(&bytes, 1).expect("runs");
    for at in marked {
        assert_eq!(stream.clone_dtoh(&rows.slice(at..at + 1)).expect("copies"), [at as u8 | 1]);
    }
    assert_eq!(sum.run(&rows).expect("runs"), sum.run(&bytes).expect("runs"));
    drop(rows);
    let whole = sum.rows(&bytes, length).expect("runs");
    assert_eq!(stream.clone_dtoh(&whole).expect("copies"), [sum.run(&bytes).expect("runs")]);
    let indices = Reduction::<OfIndex>::new(device.clone());
    let columns = (1_u64 << 32) + 5;
    let row = indices.run(0..columns).expect("runs");
    assert_eq!(indices.rows(0..2 * columns, columns as usize).expect("runs"), [row; 2]);
}

/// Errors of shapes and of outputs.
fn shapes_are_checked() {
    let sum = Reduction::<Sum<u32>>::new(device(Tier::Cpu));
    let none: [u32; 0] = [];
    assert_eq!(sum.rows(&none, 3).expect("runs"), none);
    assert!(matches!(sum.rows(&none, 0), Err(Error::NoColumns)));
    assert!(matches!(sum.rows(&[1, 2, 3], 2), Err(Error::IncompleteRow { length: 3, columns: 2, pitch: 2 })));
    let padded = Rows::of(2).with_pitch(3);
    assert_eq!(sum.rows(&[1, 2, 9, 3, 4], padded).expect("runs"), [3, 7]);
    assert_eq!(sum.rows(&[1, 2, 9, 3, 4, 9], padded).expect("runs"), [3, 7]);
    assert!(matches!(sum.rows(&[1, 2, 9, 3], padded), Err(Error::IncompleteRow { .. })));
    let overlapping = Rows::of(3).with_pitch(2);
    assert!(matches!(sum.rows(&[1; 6], overlapping), Err(Error::ShortPitch { pitch: 2, columns: 3 })));
    let mut places = [7; 3];
    match sum.rows_into(&[1, 2, 3, 4], 2, &mut places) {
        Err(Error::OutputLength { expected: 2, length: 3 }) => assert_eq!(places, [7; 3]),
        other => panic!("{other:?}"),
    }
    let product = Reduction::with(device(Tier::Cpu), Product(PhantomData::<(u8, u32)>));
    match product.rows((&[1_u8, 2, 3], &[1_u32, 2]), 1) {
        Err(Error::UnequalLengths { array: 1, length: 2, expected: 3 }) => {}
        other => panic!("{other:?}"),
    }
}

fn add_trials(trials: &mut Trials<'_>) {
    fn trial<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
        kernels: &mut Kernels,
        aggregate: A,
    ) -> Vec<Trial> {
        let by = |(_, change): (_, Change)| -> Trial {
            let case = SegmentCase::add(kernels, aggregate, change);
            Box::new(move |executor| wrong_on_executor(executor, case))
        };
        POLICIES.map(by).into()
    }
    trials.add(|kernels| trial(kernels, Placed::<u32, 3>(PhantomData)));
    trials.add(|kernels| trial(kernels, Product(PhantomData::<(u8, u32)>)));
    trials.add(|kernels| {
        let mut trials = trial(kernels, Accumulated { scale: 7, unused: 0 });
        trials.extend(trial(kernels, AccumulatedPairs));
        trials.extend(trial(kernels, AccumulatedIndices));
        trials
    });
    trials.add(|kernels| trial(kernels, Placed::<u8, 1>(PhantomData)));
    trials.add(|kernels| trial(kernels, OfIndex));
    trials.add(|kernels| segments::trials(kernels, Placed::<u32, 3>(PhantomData)));
    trials.add(|kernels| {
        let scaled = Scaled { modulus: 1_000_003, scale: 77 };
        trial(kernels, Masked::<Scaled, Bit>(scaled, PhantomData))
    });
}

/// Files that determine how rows are tested.
const FILES: &[&str] = &[
    "tests/rows.rs",
    "tests/rows/random.rs",
    "tests/rows/segments.rs",
    "tests/support/segments.rs",
    "tests/support/aggregates.rs",
    "tests/support/drawn.rs",
    "tests/support/tuples.rs",
    "src/plan/segments.rs",
    "src/plan/shape.rs",
    "src/plan/measured.rs",
];

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let mut tests = Tests::new(&mut suite, "rows", Checks::Accesses, FILES);
    aggregates::all(&mut OnExecutor(&mut tests, "is_what_it_is_by_definition"));
    let mut tests = Tests::new(&mut suite, "sanitized rows", Checks::Sanitizers, FILES);
    aggregates::some(&mut OnExecutor(&mut tests, "is_clean_under_the_sanitizers"));
    aggregates::all(&mut Compile(&mut suite));
    aggregates::all(&mut Runs(&mut suite));
    segments::add_to(&mut suite, FILES);
    random::add_to(&mut suite);
    suite.test(Tier::Cpu, "shapes_are_checked", shapes_are_checked);
    for tier in [Tier::Cpu, Tier::Gpu] {
        suite.test(tier, "a_row_has_the_same_bits_in_every_batch", move || batches(tier));
    }
    suite.test(Tier::Gpu, "rows_between_places_and_in_a_graph", between_places_and_in_a_graph);
    suite.test(Tier::Gpu, "numbers_of_more_than_32_bits", numbers_of_more_than_32_bits);
    MutationSuite { name: "mutations of rows", mutations: MUTATIONS, add_trials, files: FILES }
        .add_to(&mut suite);
    suite.run()
}
