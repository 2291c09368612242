//! Tests of reductions that are recorded into a CUDA graph.

use super::*;

/// The resources of a graph outlive the reduction that recorded it. Two recorded reductions of one
/// graph do not disturb each other.
pub(crate) fn a_graph_outlives_its_reduction() {
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
            // SAFETY: the slices outlive the graph, and its launches do not overlap.
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

/// A graph is launched several times, on new values. Between its launches the same reduction runs
/// on the same stream.
pub(crate) fn a_graph_replays() {
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

    // Thread-local mode, because a global capture forbids other tests to allocate.
    let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
    stream.begin_capture(mode).expect("begins to record");
    let refused = reduction.run(&copy);
    assert!(matches!(refused, Err(Error::StreamIsCapturing)), "{refused:?}");
    let refused = reduction.run_into(&copy, &mut result);
    assert!(matches!(refused, Err(Error::StreamIsCapturing)), "{refused:?}");
    // SAFETY: the input's stream is not capturing, so the call fails and records nothing.
    let refused = unsafe { reduction.record_into(&beside, &mut result) };
    assert!(matches!(refused, Err(Error::StreamIsNotCapturing)), "{refused:?}");
    // SAFETY: the slices outlive the graph, and its launches do not overlap.
    unsafe { reduction.record_into(&copy, &mut result) }.expect("records");
    // The first run on another stream allocates its workspace during the capture.
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

/// The scenario of a child process: while a stream records in the global mode, no other thread of
/// the process may allocate memory, and other tests do.
pub(crate) const RECORDS: &str = "records";

pub(crate) fn host_memory_while_a_stream_records() {
    let (succeeded, said) = in_child(RECORDS, &[]);
    assert!(succeeded, "{said}");
}

/// During a capture the same thread reduces and scans host memory, and drops the objects that did
/// so. The capture stays active.
pub(crate) fn record_beside_host_memory() {
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

/// A graph may also record the copy that fills the reduction's input.
pub(crate) fn a_graph_that_fills_its_input_replays() {
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
    // SAFETY: one stream orders all work of this test. With event tracking, cudarc would wait for
    // events from before the capture, which would invalidate it.
    unsafe { context.disable_event_tracking() };
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("begins");
    stream.memcpy_dtod(&source_copy, &mut input).expect("records");
    // SAFETY: the slices outlive the graph, and its launches do not overlap.
    unsafe { reduction.record_into(&input, &mut result) }.expect("records");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).expect("ends recording").expect("a graph");
    graph.launch().expect("launches");
    let result = stream.clone_dtoh(&result).expect("copies")[0];
    assert_same(result, tree::bracket(&Sum::<u64>::new(), &source), "graph");
}

/// A recorded reduction reads values that earlier reductions of the same graph have written.
pub(crate) fn a_graph_reduces_what_its_reductions_write() {
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
    // The partials of these lengths are gathered by an extra block. Some lengths leave the last
    // block incomplete.
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
        // SAFETY: one stream orders all work of this test. With event tracking, cudarc would wait
        // for events from before the capture, which would invalidate it.
        unsafe { context.disable_event_tracking() };
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("begins");
        let places = |round: usize| round * (length / ROUNDS);
        for round in 0..ROUNDS {
            // The same operator writes an item that it then reduces. In every third round another
            // operator runs in between.
            let place = places(round);
            // SAFETY: the slices outlive the graph, and its launches do not overlap.
            unsafe { reduction.record_into(&other_on_device, &mut on_device.slice_mut(place..=place)) }
                .expect("records");
            if round % 3 == 0 {
                // SAFETY: the slices outlive the graph, and its launches do not overlap.
                unsafe { sums.record_into(&numbers_on_device, &mut sum) }.expect("records");
            }
            // SAFETY: the slices outlive the graph, and its launches do not overlap.
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

/// In a graph, the work that writes a reduction's items ends before the reduction reads them. That
/// work is one of these:
///
/// - a scan;
/// - a copy on another stream, after a reduction on that stream;
/// - another reduction.
pub(crate) fn a_graph_reduces_what_it_has_just_written() {
    let _alone = alone();
    use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
    type Maps = AffineComposition<u64>;
    // Lengths of one row, of one block, of several blocks and of tiles. Another launch reduces the
    // partials of tiles. The longest inputs fill an H200 with blocks, with and without tickets for
    // chunks.
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
    // SAFETY: one stream orders all work of this test, and `join` orders the work of the other
    // stream. With event tracking, cudarc would wait for events from before the capture, which
    // would invalidate it.
    unsafe { context.disable_event_tracking() };
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("begins");
    for (index, &length) in lengths.iter().enumerate() {
        stream.memset_zeros(&mut input).expect("records");
        let (from, mut to) = (on_device.slice(..length), input.slice_mut(..length));
        if index % 2 == 0 {
            // SAFETY: the slices outlive the graph, and its launches do not overlap.
            unsafe { scan.record_inclusive_into(&from, &mut to) }.expect("records");
        } else {
            other.join(&stream).expect("records");
            // SAFETY: the slices outlive the graph, and its launches do not overlap.
            unsafe { reduction.record_into(&of_other, &mut beside) }.expect("records");
            other.memcpy_dtod(&from, &mut to).expect("records");
            stream.join(&other).expect("records");
        }
        // Reductions with the same kernel and with another kernel follow each other.
        let (input, some) = (input.slice(..length), on_device.slice(..100_000));
        for (items, results) in
            [(&input, &mut first), (&input, &mut second), (&some, &mut of_source), (&input, &mut results)]
        {
            // SAFETY: the slices outlive the graph, and its launches do not overlap.
            unsafe { reduction.record_into(items, &mut results.slice_mut(index..=index)) }.expect("records");
        }
        let so_far = results.slice(..=index);
        // SAFETY: the slices outlive the graph, and its launches do not overlap.
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
