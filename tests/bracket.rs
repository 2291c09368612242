//! Every backend returns the bits of `tree::bracket`: every operator, every length that an edge of
//! a tile, block or launch lies near, every alignment, several policies, threads and streams.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::process::ExitCode;
use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use support::checks::{Check, digest};
use support::inputs::Inputs;
use support::items::{Point, Sample, Sampler, Unit, items, standing_out};
use support::operators::{self, Joined, Lanewise, MaxByNorm, ModularAffine, Visitor};
use support::policies::{MOST, baseline, full_runs, large_kernels, lengths, merging, policies};
use support::tiers::{Suite, Tier, alone, device};
use warpfold::ladder::{Finish, Ladder, Rung};
use warpfold::operators::{AffineComposition, All, Any, BitAnd, BitOr, Matrix2Product, Max, Min, Sum};
use warpfold::{
    Device, DeviceInput, DeviceMonoid, DeviceType, Error, Monoid, Policy, Reduction, Scan, cudarc, tree,
};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts what each thread asks of it.
struct Counting;

// SAFETY: all of it is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Not where the thread has ended.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The reduction by its tuned kernels, not by what answers until they are compiled.
fn compiled<M: DeviceMonoid>(reduction: Reduction<M>) -> Reduction<M> {
    reduction.compile().unwrap_or_else(|error| panic!("{error}"));
    reduction
}

#[track_caller]
fn assert_same<T: DeviceType + std::fmt::Debug>(got: T, expected: T, what: impl std::fmt::Display) {
    assert!(T::same_bits(&got, &expected), "{what}: got {got:?}, the bracket is {expected:?}");
}

struct EveryOperator<'a>(&'a mut Suite);

impl Visitor for EveryOperator<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        for tier in [Tier::Cpu, Tier::Gpu] {
            self.0.test(tier, format!("{name}_is_the_bracket_at_every_length"), move || {
                every_length(tier, operator, sampler, Policy::for_item(&M::Item::layout()));
            });
        }
        self.0.test(
            Tier::Gpu,
            format!("{name}_is_the_bracket_at_every_length_by_the_large_kernels"),
            move || {
                every_length(Tier::Gpu, operator, sampler, large_kernels::<M::Item>());
            },
        );
        self.0.test(Tier::Gpu, format!("{name}_is_the_bracket_at_every_length_by_the_baseline"), move || {
            every_length(Tier::Gpu, operator, sampler, baseline::<M::Item>());
        });
        self.0.test(Tier::Gpu, format!("{name}_is_the_bracket_at_every_alignment"), move || {
            every_alignment(operator, sampler);
        });
    }
}

fn every_length<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>, policy: Policy)
where
    M::Item: Sample,
{
    let device = device(tier);
    let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
    let most = MOST.min((16 << 20) / size_of::<M::Item>());
    // Edge values in short inputs, where they do not swallow everything; in long ones values that
    // all count.
    for (sampler, most) in [(M::Item::sample as Sampler<M::Item>, 300), (sampler, most)] {
        let all: Vec<M::Item> = items(1, most, sampler);
        let inputs = Inputs::on(&device, &all);
        for length in lengths(&policy, most, 2) {
            assert_same(
                inputs.reduce(&reduction, 0..length),
                tree::bracket(&operator, &all[..length]),
                length,
            );
        }
    }
}

/// At each multiple of an item's alignment, of which an item of several words has many.
fn every_alignment<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(3, 20_000, sampler);
    let device = device(Tier::Gpu);
    let under = |policy| compiled(Reduction::with(device.clone(), operator).with_policy(policy));
    let merging = merging::<M::Item>();
    let in_runs = under(merging);
    let others = [Policy::for_item(&M::Item::layout()), large_kernels::<M::Item>(), baseline::<M::Item>()];
    let others = others.map(under);
    let full = full_runs(&merging).into_iter().filter(|&length| length <= all.len());
    let cases = full.map(|length| (length, std::slice::from_ref(&in_runs)));
    let row = merging.small.row_items() as usize;
    let lengths = [1, 2, 31, 32, 33, 257, row - 1, row, row + 1, 1000, 1024, 4096, 19_000];
    let cases = cases.chain(lengths.map(|length| (length, &others[..])));
    let cases: Vec<_> =
        cases.map(|(length, under)| (length, tree::bracket(&operator, &all[..length]), under)).collect();
    let stream = device.stream().expect("a GPU");
    let room = size_of_val(&all[..]) + 17 * align_of::<M::Item>();
    let mut memory = stream.alloc_zeros::<u8>(room).expect("room for the items");
    for start in 0..17 {
        let mut memory = memory.slice_mut(start * align_of::<M::Item>()..);
        // SAFETY: they are aligned, and written before they are read.
        let mut view = unsafe { memory.transmute_mut::<M::Item>(all.len()) }.expect("room for the items");
        stream.memcpy_htod(&all, &mut view).expect("copies");
        for (length, expected, under) in &cases {
            for reduction in *under {
                let got = reduction.run(&view.slice(..*length)).unwrap_or_else(|error| panic!("{error}"));
                let policy = reduction.policy();
                assert_same(got, *expected, format!("{length} items, {start} alignments on, {policy:?}"));
            }
        }
    }
}

/// Whole tiles, where most items decide nothing.
fn one_stands_out<M: DeviceMonoid>(tier: Tier, operator: M, pairs: [(M::Item, M::Item); 2])
where
    M::Item: Sample,
{
    let device = device(tier);
    let policy = merging::<M::Item>();
    let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
    for all in standing_out(full_runs(&policy)[1] + 1, pairs) {
        let inputs = Inputs::on(&device, &all);
        for part in [0..all.len() - 1, 1..all.len()] {
            let expected = tree::bracket(&operator, &all[part.clone()]);
            assert_same(inputs.reduce(&reduction, part.clone()), expected, format!("{part:?}"));
        }
    }
}

/// Random lengths up to 2^24, and one just beyond.
fn long_inputs<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(4, (1 << 24) + 1, sampler);
    let device = device(tier);
    let inputs = Inputs::on(&device, &all);
    let mut random = SmallRng::seed_from_u64(5);
    let random_lengths = (0..4).map(|_| random.random_range(1 << 16..1 << 24));
    let lengths: Vec<usize> = random_lengths.chain([(1 << 24) - 1, (1 << 24) + 1]).collect();
    let expected: Vec<M::Item> =
        lengths.par_iter().map(|&length| tree::bracket(&operator, &all[..length])).collect();
    let policies =
        if tier == Tier::Cpu { vec![Policy::for_item(&M::Item::layout())] } else { policies::<M::Item>() };
    for policy in policies {
        let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
        for (&length, &expected) in lengths.iter().zip(&expected) {
            assert_same(inputs.reduce(&reduction, 0..length), expected, format!("{length} under {policy:?}"));
        }
    }
}

fn policies_do_not_move_a_bit<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    for policy in policies::<M::Item>() {
        every_length(Tier::Gpu, operator, sampler, policy);
    }
}

/// The bracket of chunks of 2^k items, each bracketed by the device, is the bracket of all.
fn chunks_compose<M: DeviceMonoid>(tier: Tier, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all: Vec<M::Item> = items(6, 40_001, sampler);
    let device = device(tier);
    let inputs = Inputs::on(&device, &all);
    let reduction = compiled(Reduction::with(device, operator));
    let whole = inputs.reduce(&reduction, 0..all.len());
    for k in 5..16 {
        let chunks: Vec<M::Item> = (0..all.len())
            .step_by(1 << k)
            .map(|start| inputs.reduce(&reduction, start..all.len().min(start + (1 << k))))
            .collect();
        assert_same(reduction.run(&chunks).expect("runs"), whole, format!("chunks of 2^{k}"));
    }
}

/// Host memory, arrays, vectors and device memory give the same.
fn every_input_kind(tier: Tier) {
    let all: Vec<Point> = items(7, 3000, Point::sample);
    let device = device(tier);
    let reduction = compiled(Reduction::<MaxByNorm>::new(device.clone()));
    let expected = tree::bracket(&MaxByNorm, &all);
    let array: [Point; 3000] = all.clone().try_into().expect("3000 items");
    assert_same(reduction.run(&all).expect("runs"), expected, "vector");
    assert_same(reduction.run(&all[..]).expect("runs"), expected, "slice");
    assert_same(reduction.run(&array).expect("runs"), expected, "array");
    assert_same(reduction.run(&[]).expect("runs"), MaxByNorm.identity(), "empty");
    let Some(stream) = device.stream() else { return };
    let copy = stream.clone_htod(&all).expect("copies");
    assert_same(reduction.run(&copy).expect("runs"), expected, "device slice");
    assert_same(reduction.run(&copy.as_view()).expect("runs"), expected, "device view");
    stream.synchronize().expect("synchronises");
    let (address, _read) = cudarc::driver::DevicePtr::device_ptr(&copy, stream);
    // SAFETY: the items of `copy`, which outlives this; the default stream of the device's own context.
    let raw = unsafe { DeviceInput::<Point>::from_raw(&device, address, all.len(), std::ptr::null_mut()) };
    assert_same(reduction.run(&raw.expect("aligned")).expect("runs"), expected, "raw address");
}

/// One reduction, many threads, each with streams of its own and one that all share.
fn threads_and_streams() {
    let _alone = alone();
    let context = CudaContext::new(0).expect("a GPU");
    let shared = context.new_stream().expect("a stream");
    let operator = ModularAffine { modulus: 65_537, padding: 0 };
    let reduction = Reduction::with(context.clone(), operator);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (context, shared, reduction) = (&context, &shared, &reduction);
            scope.spawn(move || {
                let own = context.new_stream().expect("a stream");
                for round in 0..20 {
                    let all: Vec<[u32; 2]> =
                        items(100 * thread + round, 1 + 7919 * (round as usize % 7), Sample::sample);
                    let expected = tree::bracket(&operator, &all);
                    for stream in [&own, shared] {
                        let copy = stream.clone_htod(&all).expect("copies");
                        assert_same(reduction.run(&copy).expect("runs"), expected, "device input");
                    }
                    assert_same(reduction.run(&all).expect("runs"), expected, "host input");
                }
            });
        }
    });
}

/// Results are left on the device, in stream order.
fn run_into_writes_in_stream_order() {
    let _alone = alone();
    let context = CudaContext::new(0).expect("a GPU");
    let elsewhere = context.new_stream().expect("a stream");
    let streams: [Arc<CudaStream>; 2] = [context.new_stream().expect("a stream"), context.default_stream()];
    let operator = Matrix2Product::<i32>::new();
    let reduction = Reduction::with(context.clone(), operator);
    for stream in streams {
        let all: Vec<[[i32; 2]; 2]> = items(8, 100_000, i32::matrix);
        let copy = stream.clone_htod(&all).expect("copies");
        let mut results = stream.clone_htod(&[[[-7; 2]; 2]; 40]).expect("copies");
        let ends = |i: usize| i * 2500..100_000 - 7 * i;
        for i in 0..40 {
            let mut place = results.slice_mut(i..=i);
            reduction.run_into(&copy.slice(ends(i)), &mut place).expect("enqueues");
        }
        // An output that lives on another stream is there when that stream reads it.
        let mut far = elsewhere.clone_htod(&[[[-7; 2]; 2]]).expect("copies");
        reduction.run_into(&copy, &mut far).expect("enqueues");
        let far = elsewhere.clone_dtoh(&far).expect("copies")[0];
        assert_same(far, tree::bracket(&operator, &all), "another stream");
        // Nothing at all is the identity, there too.
        let mut nothing = stream.clone_htod(&[[[7; 2]; 2]]).expect("copies");
        reduction.run_into(&copy.slice(5..5), &mut nothing).expect("enqueues");
        let results = stream.clone_dtoh(&results).expect("copies");
        for (i, &result) in results.iter().enumerate() {
            assert_same(result, tree::bracket(&operator, &all[ends(i)]), i);
        }
        let nothing = stream.clone_dtoh(&nothing).expect("copies")[0];
        assert_same(nothing, operator.identity(), "empty");
    }
}

/// Once a reduction has run on a stream, it asks for no memory again.
fn a_run_allocates_nothing() {
    let _alone = alone();
    let stream = CudaContext::new(0).expect("a GPU").new_stream().expect("a stream");
    let reduction = compiled(Reduction::<MaxByNorm>::new(stream.clone()));
    for length in [1, 1000, 100_000, 10_000_000] {
        let all: Vec<Point> = items(13, length, Point::sample);
        let copy = stream.clone_htod(&all).expect("copies");
        let first = reduction.run(&copy).expect("runs");
        let before = ALLOCATIONS.get();
        let second = reduction.run(&copy).expect("runs");
        assert_eq!(ALLOCATIONS.get() - before, 0, "{length} items");
        let mut result = stream.clone_htod(&[first]).expect("copies");
        let before = ALLOCATIONS.get();
        reduction.run_into(&copy, &mut result).expect("enqueues");
        assert_eq!(ALLOCATIONS.get() - before, 0, "{length} items, enqueued");
        let expected = tree::bracket(&MaxByNorm, &all);
        assert_same(first, expected, length);
        assert_same(second, expected, length);
    }
}

/// What a graph uses outlives the reduction that recorded it, and two runs of one recording do not
/// disturb each other.
fn a_graph_outlives_its_reduction() {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    let stream = CudaContext::new(0).expect("a GPU").new_stream().expect("a stream");
    let (mode, flags) = (
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH,
    );
    let operator = AffineComposition::<u64>::new();
    let inputs = [21, 22].map(|seed| items::<[u64; 2]>(seed, 200_000, u64::map));
    let copies = inputs.each_ref().map(|input| stream.clone_htod(input).expect("copies"));
    let mut results = [0, 1].map(|_| stream.clone_htod(&[[0_u64; 2]]).expect("copies"));
    stream.synchronize().expect("synchronises");
    for _ in 0..5 {
        let reduction = Reduction::with(stream.clone(), operator);
        reduction.compile().expect("compiles");
        stream.begin_capture(mode).expect("begins to record");
        for (copy, result) in copies.iter().zip(&mut results) {
            // SAFETY: the graph is gone before the slices.
            unsafe { reduction.record_into(copy, result) }.expect("records");
        }
        let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
        drop(reduction);
        graph.launch().expect("launches");
        for (input, result) in inputs.iter().zip(&results) {
            let result = stream.clone_dtoh(result).expect("copies")[0];
            assert_same(result, tree::bracket(&operator, input), "graph");
        }
    }
}

/// A recorded reduction can be replayed on new values, while the reduction is run on the same
/// stream.
fn a_graph_replays() {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    let context = CudaContext::new(0).expect("a GPU");
    let stream = context.new_stream().expect("a stream");
    let operator = AffineComposition::<u64>::new();
    let reduction = Reduction::with(stream.clone(), operator);
    reduction.compile().expect("compiles");
    let first: Vec<[u64; 2]> = items(9, 300_000, u64::map);
    let mut copy = stream.clone_htod(&first).expect("copies");
    let mut result = stream.clone_htod(&[[0_u64; 2]]).expect("copies");
    stream.synchronize().expect("synchronises");
    let elsewhere = context.new_stream().expect("a stream");
    let beside = elsewhere.clone_htod(&first).expect("copies");
    elsewhere.synchronize().expect("synchronises");

    // Of this thread: the other tests allocate in theirs meanwhile, which a global recording
    // forbids them.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("begins to record");
    let refused = reduction.run(&copy);
    assert!(matches!(refused, Err(Error::StreamIsCapturing)), "{refused:?}");
    let refused = reduction.run_into(&copy, &mut result);
    assert!(matches!(refused, Err(Error::StreamIsCapturing)), "{refused:?}");
    // SAFETY: the other stream does not record, so nothing is recorded.
    let refused = unsafe { reduction.record_into(&beside, &mut result) };
    assert!(matches!(refused, Err(Error::StreamIsNotCapturing)), "{refused:?}");
    // SAFETY: the graph is gone before the slices.
    unsafe { reduction.record_into(&copy, &mut result) }.expect("records");
    // What another stream needs for its first run is made meanwhile.
    let got = reduction.run(&beside).expect("runs");
    assert_same(got, tree::bracket(&operator, &first), "beside the recording");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");

    for seed in 10..14 {
        let all: Vec<[u64; 2]> = items(seed, first.len(), u64::map);
        stream.memcpy_htod(&all, &mut copy).expect("copies");
        graph.launch().expect("launches");
        assert_same(reduction.run(&copy).expect("runs"), tree::bracket(&operator, &all), "beside the graph");
        let result = stream.clone_dtoh(&result).expect("copies")[0];
        assert_same(result, tree::bracket(&operator, &all), "graph");
    }
}

/// A thread whose stream records reduces and scans host memory, and drops what did that: the recording goes on.
fn host_memory_while_a_stream_records() {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode, CUstreamCaptureStatus};
    let stream = CudaContext::new(0).expect("a GPU").new_stream().expect("a stream");
    let all = vec![1_u32; 100_000];
    let sums: Vec<u32> = (1..=100_000).collect();
    let mut places = vec![0; all.len()];
    let mut in_place = all.clone();
    let device = || Device::from(stream.clone());
    let mut calls: [(&str, &mut dyn FnMut() -> bool); 8] = [
        ("run", &mut || Reduction::<Sum<u32>>::new(device()).run(&all).is_ok_and(|sum| sum == 100_000)),
        ("inclusive", &mut || {
            Scan::<Sum<u32>>::new(device()).inclusive(&all).is_ok_and(|scanned| scanned == sums)
        }),
        ("inclusive_into", &mut || {
            Scan::<Sum<u32>>::new(device()).inclusive_into(&all, &mut places).is_ok() && places == sums
        }),
        ("inclusive_in_place", &mut || {
            in_place.copy_from_slice(&all);
            Scan::<Sum<u32>>::new(device()).inclusive_in_place(&mut in_place).is_ok() && in_place == sums
        }),
        ("a policy of its own", &mut || {
            let reduction = Reduction::<Sum<u32>>::new(device()).with_policy(baseline::<u32>());
            reduction.run(&all).is_ok_and(|sum| sum == 100_000)
        }),
        ("a rung", &mut || {
            Ladder::<Sum<u32>>::new(device()).reduce(Rung::Shuffles, &all).is_ok_and(|sum| sum == 100_000)
        }),
        ("the host's rung", &mut || {
            let ladder = Ladder::<Sum<u32>>::new(device()).finish(Finish::Host);
            ladder.reduce(Rung::Shuffles, &all).is_ok_and(|sum| sum == 100_000)
        }),
        ("a rung that scans", &mut || {
            let scanned = Ladder::<Sum<u32>>::new(device()).exclusive(Rung::BrentKung, &all);
            scanned.is_ok_and(|scanned| scanned[1..] == sums[..99_999])
        }),
    ];
    for mode in [
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
        CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_GLOBAL,
    ] {
        stream.begin_capture(mode).expect("begins to record");
        for (name, call) in &mut calls {
            assert!(call(), "{name}");
            let status = stream.capture_status().expect("a status");
            assert_eq!(status, CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE, "{name}");
        }
        let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        stream.end_capture(flags).expect("ends recording");
    }
}

/// What fills the input may be recorded, too, and on another stream of the same capture.
fn a_graph_that_fills_its_input_replays() {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    let context = CudaContext::new(0).expect("a GPU");
    let stream = context.new_stream().expect("a stream");
    let reduction = Reduction::<Sum<u64>>::new(stream.clone());
    reduction.compile().expect("compiles");
    let source: Vec<u64> = items(15, 50_000, u64::unit);
    let source_copy = stream.clone_htod(&source).expect("copies");
    let mut input = stream.clone_htod(&vec![0_u64; source.len()]).expect("copies");
    let mut result = stream.clone_htod(&[0_u64]).expect("copies");
    stream.synchronize().expect("synchronises");
    // SAFETY: everything of this test is ordered by one stream. What cudarc would wait for was recorded before the
    // capture, and would end it.
    unsafe { context.disable_event_tracking() };
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("begins");
    stream.memcpy_dtod(&source_copy, &mut input).expect("records");
    // SAFETY: the graph is gone before the slices.
    unsafe { reduction.record_into(&input, &mut result) }.expect("records");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
    graph.launch().expect("launches");
    let result = stream.clone_dtoh(&result).expect("copies")[0];
    assert_same(result, tree::bracket(&Sum::<u64>::new(), &source), "graph");
}

/// Reductions of a graph read what reductions before them write.
fn a_graph_reduces_what_its_reductions_write() {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    type Maps = AffineComposition<u32>;
    const ROUNDS: usize = 24;
    let context = CudaContext::new(0).expect("a GPU");
    let stream = context.new_stream().expect("a stream");
    let (reduction, sums) =
        (Reduction::<Maps>::new(stream.clone()), Reduction::<Sum<u64>>::new(stream.clone()));
    reduction.compile().expect("compiles");
    sums.compile().expect("compiles");
    // Of as many blocks as a block gathers, whole ones and not.
    for length in [40_000, 65_536, 196_608, 200_001] {
        let mut all: Vec<[u32; 2]> = items(33, length, u32::map);
        let other: Vec<[u32; 2]> = items(34, length, u32::map);
        let numbers: Vec<u64> = items(35, 100_000, u64::unit);
        let mut on_device = stream.clone_htod(&all).expect("copies");
        let other_on_device = stream.clone_htod(&other).expect("copies");
        let numbers_on_device = stream.clone_htod(&numbers).expect("copies");
        let mut results = stream.clone_htod(&[[0_u32; 2]; ROUNDS]).expect("copies");
        let mut sum = stream.clone_htod(&[0_u64]).expect("copies");
        context.synchronize().expect("synchronises");
        // SAFETY: everything of this test is ordered by one stream. What cudarc would wait for was recorded before the capture, and would
        // end it.
        unsafe { context.disable_event_tracking() };
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("begins");
        let places = |round: usize| round * (length / ROUNDS);
        for round in 0..ROUNDS {
            // By the same operator, and, now and then, another's between the two.
            let place = places(round);
            // SAFETY: the graph is gone before the slices.
            unsafe { reduction.record_into(&other_on_device, &mut on_device.slice_mut(place..=place)) }
                .expect("records");
            if round % 3 == 0 {
                // SAFETY: the graph is gone before the slices.
                unsafe { sums.record_into(&numbers_on_device, &mut sum) }.expect("records");
            }
            // SAFETY: the graph is gone before the slices.
            unsafe { reduction.record_into(&on_device, &mut results.slice_mut(round..=round)) }
                .expect("records");
        }
        let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
        let of_other = tree::bracket(&Maps::new(), &other);
        let expected: Vec<[u32; 2]> = (0..ROUNDS)
            .map(|round| {
                all[places(round)] = of_other;
                tree::bracket(&Maps::new(), &all)
            })
            .collect();
        let before = stream.clone_dtoh(&on_device).expect("copies");
        for replay in 0..20 {
            stream.memcpy_htod(&before, &mut on_device).expect("copies");
            graph.launch().expect("launches");
            let got = stream.clone_dtoh(&results).expect("copies");
            assert_eq!(got, expected, "{length} items, replay {replay}");
        }
        assert_eq!(stream.clone_dtoh(&sum).expect("copies"), [tree::bracket(&Sum::<u64>::new(), &numbers)]);
    }
}

/// What writes the items of a reduction in a graph right before it has ended before they are read:
/// a scan, a copy by another stream, which reduces before it, and another reduction.
fn a_graph_reduces_what_it_has_just_written() {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    type Maps = AffineComposition<u64>;
    // A row, a block, several, and tiles, whose partials are gathered: some by blocks that fill an
    // H200, and draw or do not.
    let longest = 12_976_128;
    let lengths = [1, 40, longest, 2_000, 4_320_000, 100_000, 1_000_000];
    let source: Vec<[u64; 2]> = items(31, longest, u64::map);
    let context = CudaContext::new(0).expect("a GPU");
    let stream = context.new_stream().expect("a stream");
    let other = context.new_stream().expect("a stream");
    let (reduction, scan) = (Reduction::<Maps>::new(stream.clone()), Scan::<Maps>::new(stream.clone()));
    reduction.compile().expect("compiles");
    scan.compile().expect("compiles");
    let on_device = stream.clone_htod(&source).expect("copies");
    let of_other = other.clone_htod(&source[..2_000]).expect("copies");
    let zeros = vec![[0_u64; 2]; lengths.len()];
    let mut input = stream.clone_htod(&source).expect("copies");
    let [mut first, mut second, mut of_source, mut results, mut of_results] =
        [0; 5].map(|_| stream.clone_htod(&zeros).expect("copies"));
    let mut beside = other.clone_htod(&zeros[..1]).expect("copies");
    context.synchronize().expect("synchronises");
    // SAFETY: everything of this test is ordered by one stream, and what another one does is ordered by joining it. What cudarc would
    // wait for was recorded before the capture, and would end it.
    unsafe { context.disable_event_tracking() };
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("begins");
    for (index, &length) in lengths.iter().enumerate() {
        stream.memset_zeros(&mut input).expect("records");
        let (from, mut to) = (on_device.slice(..length), input.slice_mut(..length));
        if index % 2 == 0 {
            // SAFETY: the graph is gone before the slices.
            unsafe { scan.record_inclusive_into(&from, &mut to) }.expect("records");
        } else {
            other.join(&stream).expect("records");
            // SAFETY: the graph is gone before the slices.
            unsafe { reduction.record_into(&of_other, &mut beside) }.expect("records");
            other.memcpy_dtod(&from, &mut to).expect("records");
            stream.join(&other).expect("records");
        }
        // After each, one of another kernel, or of the same.
        let (input, some) = (input.slice(..length), on_device.slice(..100_000));
        for (items, results) in
            [(&input, &mut first), (&input, &mut second), (&some, &mut of_source), (&input, &mut results)]
        {
            // SAFETY: the graph is gone before the slices.
            unsafe { reduction.record_into(items, &mut results.slice_mut(index..=index)) }.expect("records");
        }
        let so_far = results.slice(..=index);
        // SAFETY: the graph is gone before the slices.
        unsafe { reduction.record_into(&so_far, &mut of_results.slice_mut(index..=index)) }.expect("records");
    }
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
    let scanned = tree::inclusive_scan(&Maps::new(), &source);
    let written = |index: usize| if index.is_multiple_of(2) { &scanned } else { &source };
    let bracket = |(index, &length): (usize, &usize)| tree::bracket(&Maps::new(), &written(index)[..length]);
    let expected: Vec<[u64; 2]> = lengths.iter().enumerate().map(bracket).collect();
    let of_some = vec![tree::bracket(&Maps::new(), &source[..100_000]); lengths.len()];
    let of_expected: Vec<[u64; 2]> =
        (1..=lengths.len()).map(|count| tree::bracket(&Maps::new(), &expected[..count])).collect();
    for round in 0..20 {
        let all = [&mut first, &mut second, &mut of_source, &mut results, &mut of_results];
        for results in all {
            stream.memcpy_htod(&zeros, results).expect("copies");
        }
        graph.launch().expect("launches");
        let got = [&first, &second, &of_source, &results, &of_results]
            .map(|results| stream.clone_dtoh(results).expect("copies"));
        let expected = [&expected, &expected, &of_some, &expected, &of_expected];
        assert_eq!(got.each_ref(), expected, "replay {round}");
    }
}

fn more_than_two_to_the_32_items(tier: Tier) {
    let length = (1_usize << 32) + 12_345;
    let mut all = vec![[0_u8; 1]; length];
    all.par_iter_mut().enumerate().for_each(|(index, item)| {
        // SplitMix64, one step.
        let mut bits = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        *item = [(bits >> 56) as u8];
    });
    let device = device(tier);
    let operator = Lanewise::<u8, 1>(std::marker::PhantomData);
    // The oracle of chunks, and then of their values: so the oracle takes little memory, and all
    // cores.
    let values: Vec<_> = all.par_chunks(1 << 24).map(|chunk| tree::bracket(&operator, chunk)).collect();
    let expected = tree::bracket(&operator, &values);
    let default = Policy::for_item(&<[u8; 1]>::layout());
    for policy in [default, default.untuned()] {
        let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
        assert_same(reduction.run(&all).expect("runs"), expected, format!("{policy:?}"));
    }
}

/// A little of everything, for tools under which every launch takes long.
fn sanitizer_subset() {
    fn some<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>, lengths: &[usize])
    where
        M::Item: Sample,
    {
        let device = device(Tier::Gpu);
        let all: Vec<M::Item> = items(20, 70_003, sampler);
        let inputs = Inputs::on(&device, &all);
        let default = Policy::for_item(&M::Item::layout());
        for policy in [default, default.untuned()] {
            let reduction = compiled(Reduction::with(device.clone(), operator).with_policy(policy));
            let row = default.small.row_items() as usize;
            for &length in lengths.iter().chain([&row]) {
                for start in [0, 1, 3] {
                    let part = start..start + length;
                    let expected = tree::bracket(&operator, &all[part.clone()]);
                    assert_same(inputs.reduce(&reduction, part), expected, length);
                }
            }
        }
    }
    let lengths = [1, 2, 3, 33, 1000, 4096, 8193, 70_000];
    some(Sum::<f32>::new(), f32::unit, &lengths);
    some(Lanewise::<u8, 1>(std::marker::PhantomData), Sample::sample, &lengths);
    some(MaxByNorm, Point::sample, &lengths);
    some(Matrix2Product::<f64>::new(), f64::matrix, &lengths);
    some(Lanewise::<u8, 101>(std::marker::PhantomData), Sample::sample, &[1, 33, 1000]);
    some(ModularAffine { modulus: 101, padding: 0 }, Sample::sample, &[1, 33, 10_000]);
}

/// The identity is never asked for, where there are items.
fn a_semigroup_reduces(tier: Tier) {
    let joined = Reduction::<Joined>::new(device(tier));
    joined.compile().expect("compiles");
    for length in [1_u32, 2, 31, 33, 1000, 100_001, 3_000_000] {
        let ranges: Vec<[u32; 2]> = (0..length).map(|i| [i + 7, i + 8]).collect();
        assert_eq!(joined.run(&ranges).expect("runs"), [7, length + 7], "{length} ranges");
    }
}

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let mut every = EveryOperator(&mut suite);
    operators::structs(&mut every);
    operators::of_cpu(&mut every);

    for tier in [Tier::Cpu, Tier::Gpu] {
        suite.test(tier, "long_f32_sums_are_the_bracket", move || {
            long_inputs(tier, Sum::<f32>::new(), f32::unit)
        });
        suite.test(tier, "long_runs_of_bytes_are_the_bracket", move || {
            long_inputs(tier, Lanewise::<u8, 1>(std::marker::PhantomData), Sample::sample);
        });
        suite.test(tier, "long_products_of_matrices_are_the_bracket", move || {
            long_inputs(tier, Matrix2Product::<i16>::new(), i16::matrix);
        });
        suite.test(tier, "long_point_sets_are_the_bracket", move || {
            long_inputs(tier, MaxByNorm, Point::sample)
        });
        suite.test(tier, "chunks_of_points_compose", move || chunks_compose(tier, MaxByNorm, Point::sample));
        suite.test(tier, "chunks_of_f32_sums_compose", move || {
            chunks_compose(tier, Sum::<f32>::new(), f32::unit)
        });
        suite.test(tier, "chunks_of_affine_maps_compose", move || {
            chunks_compose(tier, AffineComposition::<i8>::new(), i8::map);
        });
        suite.test(tier, "the_one_that_counts_is_found", move || {
            one_stands_out(tier, Max::<i8>::new(), [(-128, -1), (-1, 1)]);
            one_stands_out(tier, Max::<u8>::new(), [(0, 1), (127, 128)]);
            one_stands_out(tier, Max::<i16>::new(), [(-0x8000, -1), (-1, 1)]);
            one_stands_out(tier, Max::<u16>::new(), [(0, 1), (0x7fff, 0x8000)]);
            one_stands_out(tier, Min::<i8>::new(), [(127, -1), (-1, -128)]);
            one_stands_out(tier, Min::<u8>::new(), [(255, 127), (128, 127)]);
            one_stands_out(tier, Min::<i16>::new(), [(1, -1), (-1, -0x8000)]);
            one_stands_out(tier, Min::<u16>::new(), [(0xffff, 0x7fff), (0x8000, 0x7fff)]);
            one_stands_out(tier, BitAnd::<u8>::new(), [(255, 254), (255, 127)]);
            one_stands_out(tier, BitOr::<u16>::new(), [(0, 0x8000), (0, 1)]);
            one_stands_out(tier, Any, [(false, true), (false, true)]);
            one_stands_out(tier, All, [(true, false), (true, false)]);
        });
        suite.test(tier, "a_semigroup_reduces", move || a_semigroup_reduces(tier));
        suite.test(tier, "every_kind_of_input_gives_the_same", move || every_input_kind(tier));
    }
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_f32_sums", || {
        policies_do_not_move_a_bit(Sum::<f32>::new(), f32::unit);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_points", || {
        policies_do_not_move_a_bit(MaxByNorm, Point::sample)
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_bytes", || {
        policies_do_not_move_a_bit(Lanewise::<u8, 1>(std::marker::PhantomData), Sample::sample);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_100_bytes", || {
        policies_do_not_move_a_bit(Lanewise::<u8, 100>(std::marker::PhantomData), Sample::sample);
    });
    suite.test(Tier::Gpu, "policies_do_not_move_a_bit_of_matrices", || {
        policies_do_not_move_a_bit(Matrix2Product::<f64>::new(), f64::matrix);
    });
    suite.test(Tier::Gpu, "threads_and_streams_share_a_reduction", threads_and_streams);
    suite.test(Tier::Gpu, "run_into_writes_in_stream_order", run_into_writes_in_stream_order);
    suite.test(Tier::Gpu, "a_run_allocates_nothing", a_run_allocates_nothing);
    suite.test(Tier::Gpu, "a_graph_outlives_its_reduction", a_graph_outlives_its_reduction);
    suite.test(Tier::Gpu, "a_graph_replays_on_new_values", a_graph_replays);
    suite.test(
        Tier::Gpu,
        "a_graph_reduces_what_its_reductions_write",
        a_graph_reduces_what_its_reductions_write,
    );
    suite.test(Tier::Gpu, "host_memory_while_a_stream_records", host_memory_while_a_stream_records);
    suite.test(Tier::Gpu, "a_graph_that_fills_its_input_replays", a_graph_that_fills_its_input_replays);
    suite.test(
        Tier::Gpu,
        "a_graph_reduces_what_it_has_just_written",
        a_graph_reduces_what_it_has_just_written,
    );
    let check = Check::of("inputs of 4 GiB").factor("items", 1_u64 << 32);
    let check = check.determined_by(digest(&["src/cpu", "src/operators/tree.rs", "tests/bracket.rs"]));
    suite.check(Tier::Cpu, check, "more_than_two_to_the_32_items_are_the_bracket", || {
        more_than_two_to_the_32_items(Tier::Cpu);
    });
    suite.test(Tier::Gpu, "more_than_two_to_the_32_items_are_the_bracket", || {
        more_than_two_to_the_32_items(Tier::Gpu);
    });
    suite.test(Tier::Gpu, "sanitizer_subset", sanitizer_subset);
    suite.run()
}
