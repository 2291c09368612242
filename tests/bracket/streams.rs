//! Tests of reductions on several streams and threads, and of their allocations.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use glam::Vec3;
use warpfold::aggregates::Last;
use warpfold::cudarc::driver::CudaContext;
use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use warpfold::{Error, Maybe};

use super::*;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system allocator, with a count of each thread's allocations.
struct Counting;

// SAFETY: every call is forwarded to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends may allocate after its thread-local storage is gone, which `try_with`
        // permits.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Eight threads share one reduction. Each thread uses a stream of its own, and one shared stream.
pub(crate) fn threads_and_streams() {
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

/// 64 threads with a stream each share a reduction, while other threads create contexts, reduce in
/// them, and drop their handles. The kernels keep the contexts.
pub(crate) fn contexts_come_and_go() {
    let _alone = alone();
    let context = CudaContext::new(0).expect("a GPU");
    let reduction = Reduction::<Sum<u64>>::new(context.clone());
    reduction.compile().expect("compiles");
    std::thread::scope(|scope| {
        for thread in 0..64_u64 {
            let (context, reduction) = (&context, &reduction);
            scope.spawn(move || {
                let stream = context.new_stream().expect("a stream");
                for round in 0..10 {
                    let all: Vec<u64> = (0..20_000 + thread * 500).map(|i| i ^ round).collect();
                    let copy = stream.clone_htod(&all).expect("copies");
                    assert_eq!(reduction.run(&copy).expect("runs"), all.iter().sum::<u64>());
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 0..3_u64 {
                    let context = CudaContext::new_non_primary(0, 0).expect("a context");
                    let sum = Reduction::<Sum<u64>>::new(context.clone());
                    let copy = context.default_stream().clone_htod(&[round, 2, 3]).expect("copies");
                    assert_eq!(sum.run(&copy).expect("runs"), round + 5);
                    drop((sum, copy, context));
                }
            });
        }
    });
}

/// `run_into` writes results to device memory, in stream order.
pub(crate) fn run_into_writes_in_stream_order() {
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
        // If the output belongs to another stream, that stream waits for the result.
        let mut far = elsewhere.clone_htod(&[[[-7; 2]; 2]]).expect("copies");
        reduction.run_into(&copy, &mut far).expect("enqueues");
        let far = elsewhere.clone_dtoh(&far).expect("copies")[0];
        assert_same(far, tree::bracket(&operator, &all), "another stream");
        // For an empty input `run_into` writes the identity.
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

/// After its first run on a stream, a reduction makes no allocation on the host.
pub(crate) fn a_run_allocates_nothing() {
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

/// What a call has copied to the device is there when another stream reads it at once: an upload, and
/// the offsets of segments. The memory has other values before.
pub(crate) fn copies_are_whole_when_they_are_read() {
    let device = device(Tier::Gpu);
    let sums = Reduction::<Sum<u32>>::new(device.clone());
    sums.compile_segments().expect("compiles");
    for length in [20_000, 100_000, 1 << 20, 16 << 20] {
        let resident = device.upload(&vec![1_u32; length]).expect("copies");
        for run in 1..=30_u32 {
            let copy = device.upload(&vec![run; length]).expect("copies");
            let sum = sums.run(&copy).expect("runs");
            assert_eq!(sum, run * length as u32, "run {run} of {length}");
            // Segments of `run` elements each.
            let offsets: Vec<u32> = (0..=length as u32 / run).map(|segment| segment * run).collect();
            let segments = sums.segments(&resident, &offsets).expect("runs");
            let lengths = device.download::<u32>(&segments).expect("copies");
            assert!(lengths.iter().all(|&length| length == run), "segments of run {run} of {length}");
        }
    }
}

/// Begins and ends of segments on a stream each, of another `CudaContext`, whose slices cudarc does not
/// track here: what overwrites them afterwards waits for the kernel.
pub(crate) fn offsets_on_other_streams_stay_until_they_are_read() {
    let device = device(Tier::Gpu);
    let context = CudaContext::new(0).expect("a context");
    let [of_begins, of_ends] = [(); 2].map(|()| context.new_stream().expect("a stream"));
    let offsets = |first: u32| -> Vec<u32> { (0..100).map(|segment| 10 * segment + first).collect() };
    let sums = Reduction::<Sum<u32>>::new(device.clone());
    sums.compile().expect("compiles");
    sums.compile_segments().expect("compiles");
    let large = device.zeros::<u32>(1 << 26).expect("allocates");
    let numbers = device.upload(&vec![1_u32; 1000]).expect("copies");
    let mut single = device.zeros::<u32>(1).expect("allocates");
    for overwritten in [0, 1] {
        let mut begins = of_begins.clone_htod(&offsets(0)).expect("copies");
        let mut ends = of_ends.clone_htod(&offsets(10)).expect("copies");
        let mut out = device.zeros::<u32>(100).expect("allocates");
        // Work of some milliseconds before the segments.
        (0..200).for_each(|_| sums.run_into(&large, &mut single).expect("enqueues"));
        sums.segments_into(&numbers, (&begins, &ends), &mut out).expect("enqueues");
        match overwritten {
            0 => of_begins.memset_zeros(&mut begins).expect("enqueues"),
            _ => of_ends.memset_zeros(&mut ends).expect("enqueues"),
        }
        assert_eq!(device.download::<u32>(&out).expect("copies"), [10; 100], "array {overwritten}");
    }
}

/// Device memory of a type of another crate, which cudarc does not copy.
pub(crate) fn memory_of_any_device_type() {
    let device = device(Tier::Gpu);
    let vectors: Vec<Vec3> = (0..100_000).map(|k| Vec3::new(k as f32, 0.5, -1.0)).collect();
    let copy = device.upload(&vectors).expect("copies");
    assert_eq!(device.download::<Vec3>(&copy).expect("copies"), vectors);
    assert_eq!(device.download::<Vec3>(&copy.slice(7..9)).expect("copies"), vectors[7..9]);
    let mut last = device.zeros::<Maybe<Vec3>>(2).expect("allocates");
    assert_eq!(device.download::<Option<Vec3>>(&last).expect("copies"), [None; 2]);
    let reduction = Reduction::<Last<Vec3>>::new(device.clone());
    reduction.run_into(&copy, &mut last.slice_mut(1..2)).expect("enqueues");
    assert_eq!(device.download::<Option<Vec3>>(&last).expect("copies"), [None, vectors.last().copied()]);
    assert_eq!(device.upload::<Vec3>(&[]).expect("allocates").len(), 0);
    assert_eq!(device.zeros::<Vec3>(0).expect("allocates").len(), 0);

    let too_long = device.zeros::<Vec3>(usize::MAX);
    assert!(matches!(too_long, Err(Error::InputLength { .. })), "{too_long:?}");
    let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
    stream.begin_capture(mode).expect("captures");
    let beside = Device::from(stream.clone()).upload(&vectors).expect("copies on a stream of its own");
    let captured = device.download::<Vec3>(&beside);
    assert!(matches!(captured, Err(Error::StreamIsCapturing)), "{captured:?}");
    // The capture is still valid.
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    stream.end_capture(flags).expect("ends the capture");
}
