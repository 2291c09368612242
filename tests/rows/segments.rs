//! Tests of segments that offsets give.

use std::fmt::Debug;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use support::aggregates::{OfIndex, Scaled, Visitor};
use support::drawn::Drawn;
use support::input_bytes::bytes;
use support::items::{Sample, items};
use support::mutations::Trial;
use support::programs::Kernels;
use support::segments::{GivenOffsets, SegmentCase};
use support::simt::{Executor, Tests};
use support::tiers::{Suite, Tier, alone, device};
use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use warpfold::operators::Sum;
use warpfold::plan::SegmentPolicy;
use warpfold::{Aggregate, DeviceAggregate, Error, Item, Maybe, Reduction, tree};

use crate::random::runs_on_executor;
use crate::{POLICIES, check};

/// The begin and the end of each segment.
pub(crate) type Bounds = Vec<(usize, usize)>;

/// The results by definition.
fn expected<A: Aggregate>(aggregate: &A, elements: &[A::Input], bounds: &Bounds) -> Vec<A::Output> {
    let segment = |&(begin, end): &(usize, usize)| {
        let prepare = |(index, &element)| aggregate.prepare(index as u64, element);
        let prepared: Vec<Item<A>> = elements[begin..end].iter().enumerate().map(prepare).collect();
        aggregate.present(tree::bracket(&aggregate.monoid(), &prepared), prepared.len() as u64)
    };
    bounds.iter().map(segment).collect()
}

/// Neighbouring segments of random lengths, of these most elements.
pub(crate) fn neighbours(random: &mut SmallRng, count: usize, longest: usize, most: usize) -> Bounds {
    let mut begin = random.random_range(0..3);
    let mut bounds = Vec::new();
    for _ in 0..count {
        // Many short ones, some empty ones, and few long ones.
        let length = match random.random_range(0..8) {
            0 => 0,
            1 => random.random_range(0..longest + 1),
            _ => random.random_range(0..longest / 16 + 2),
        };
        let end = (begin + length).min(most);
        bounds.push((begin.min(most), end));
        begin = end;
    }
    bounds
}

/// Segments of up to `most` elements: neighbours, and pairs with gaps and overlaps.
fn cases(policy: &SegmentPolicy, most: usize) -> Vec<(bool, Bounds)> {
    let random = &mut SmallRng::seed_from_u64(19);
    let window = policy.by_lanes.window_items as usize;
    let mut cases = vec![
        (false, vec![(0, 1)]),
        (false, vec![(0, 0); 40]),
        (false, (0..most.min(100)).map(|at| (at, at + 1)).collect()),
        (false, vec![(0, window.min(most)), (window.min(most), (3 * window + 1).min(most))]),
        (false, vec![(0, most)]),
    ];
    // Few and many segments for each warp of the executor.
    for (count, longest) in [(70, 4), (300, 40), (70, window), (70, 3 * window), (290, window)] {
        cases.push((false, neighbours(random, count, longest, most)));
    }
    let mut pair = |longest: usize| {
        let begin = random.random_range(0..most);
        (begin, most.min(begin + random.random_range(0..longest + 1)))
    };
    cases.push((true, (0..67).map(|_| pair(20)).collect()));
    cases.push((true, (0..35).map(|_| pair(window + window / 2)).collect()));
    cases.push((true, (0..20).map(|_| pair(3 * window)).collect()));
    cases.push((false, neighbours(random, 50, 4 * window, most)));
    cases
}

/// The offsets of segments as integers of a type.
fn given(
    bounds: &Bounds,
    in_pairs: bool,
    kind: usize,
    policy: &SegmentPolicy,
    length: usize,
) -> GivenOffsets {
    fn arrays<T>(bounds: &Bounds, in_pairs: bool, of: impl Fn(usize) -> T) -> Vec<Vec<u8>> {
        let begins = bounds.iter().map(|&(begin, _)| of(begin));
        let ends = || bounds.iter().map(|&(_, end)| of(end));
        match in_pairs {
            true => vec![bytes(&begins.collect::<Vec<T>>()), bytes(&ends().collect::<Vec<T>>())],
            false => vec![bytes(&begins.take(1).chain(ends()).collect::<Vec<T>>())],
        }
    }
    let (arrays, width, is_signed) = match kind % 4 {
        0 => (arrays(bounds, in_pairs, |offset| offset as u32), 4, false),
        1 => (arrays(bounds, in_pairs, |offset| offset as i32), 4, true),
        _ => (arrays(bounds, in_pairs, |offset| offset as u64), 8, false),
    };
    let mut plan = policy.by_offsets(bounds.len() as u64, length as u64);
    match kind % 3 {
        // Short parts.
        1 => (plan.part_level, plan.most_parts) = (3, length as u64 / 4),
        // Too little room for all parts, and few parts of a segment.
        2 => (plan.part_level, plan.most_parts_level, plan.most_parts) = (3, 2, 9),
        _ => {}
    }
    GivenOffsets { arrays, width, is_signed, plan }
}

/// Segments that are no parts of the input count as empty, and one of them is reported.
fn wrong_offsets<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: SegmentCase<A>,
    elements: &[A::Input],
) -> Result<(), String> {
    let length = elements.len();
    let begins = [0, 3, length + 1, 2, usize::MAX - 4];
    let ends = [2, 1, length + 1, length + 9, usize::MAX];
    let given = |begins: &[usize], ends: &[usize]| GivenOffsets {
        arrays: vec![
            bytes(&begins.iter().map(|&begin| begin as u32 as i32).collect::<Vec<_>>()),
            bytes(&ends.iter().map(|&end| end as u32 as i32).collect::<Vec<_>>()),
        ],
        width: 4,
        is_signed: true,
        plan: case.elements.policy.by_offsets(begins.len() as u64, length as u64),
    };
    let bounds = vec![(0, 2), (0, 0), (0, 0), (0, 0), (0, 0)];
    let (got, report) = executor.segments_by_offsets(case, elements, &given(&begins, &ends), 0)?;
    check(&got, &expected(&case.elements.operator, elements, &bounds))?;
    match report {
        2..=5 => Ok(()),
        _ => Err(format!("the report is {report}")),
    }
}

/// `kind` determines the type of the offsets, and how long segments are split.
pub(crate) fn wrong_by_offsets<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: SegmentCase<A>,
    elements: &[A::Input],
    bounds: &Bounds,
    in_pairs: bool,
    misalignment: usize,
    kind: usize,
) -> Result<(), String> {
    let expected = expected(&case.elements.operator, elements, bounds);
    let seed = executor.seed;
    let what = |wrong| format!("WARPFOLD_SIMT_SEED={seed}: {wrong}");
    let offsets = given(bounds, in_pairs, kind, &case.elements.policy, elements.len());
    let (got, report) = executor.segments_by_offsets(case, elements, &offsets, misalignment).map_err(what)?;
    check(&got, &expected).map_err(what)?;
    match report {
        0 => Ok(()),
        number => Err(what(format!("segment {} is reported", number - 1))),
    }
}

pub(crate) fn wrong_on_executor<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: SegmentCase<A>,
) -> Result<(), String> {
    let most = (48 << 10) / size_of::<A::Input>().max(size_of::<Item<A>>() / 8).max(4);
    let all = items(17, most + 3, A::Input::draw);
    for (number, (in_pairs, bounds)) in cases(&case.elements.policy, most).into_iter().enumerate() {
        let misalignment = [0, 1, 3][number % 3];
        let elements = &all[misalignment..misalignment + most];
        wrong_by_offsets(executor, case, elements, &bounds, in_pairs, misalignment, number)
            .map_err(|wrong| format!("case {number}, {wrong}"))?;
    }
    wrong_offsets(executor, case, &all[..100.min(most)])
}

/// With the end of the tests' names.
struct OnExecutor<'a, 'b>(&'a mut Tests<'b>, &'static str);

impl Visitor for OnExecutor<'_, '_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        let (policy, change) = POLICIES[name.len() % 2];
        let add = |kernels: &mut Kernels| SegmentCase::add(kernels, aggregate, change);
        let subject = self.0.subject(name, Vec::new(), add);
        let title = format!("segments_of_{name}_by_{policy}_{}", self.1);
        self.0.check(
            &subject,
            title,
            |check| check.factor("policy", policy),
            move |executor, case| {
                wrong_on_executor(executor, case).unwrap_or_else(|wrong| panic!("{wrong}"));
                runs_on_executor(executor, case);
            },
        );
    }
}

/// Reduces segments with each aggregate through the public calls.
struct Runs<'a>(&'a mut Suite);

impl Visitor for Runs<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        for tier in [Tier::Cpu, Tier::Gpu] {
            self.0.test(tier, format!("segments_of_{name}_are_what_they_are_by_definition"), move || {
                runs(tier, aggregate);
            });
        }
    }
}

fn runs<A: DeviceAggregate<Input: Drawn, Output: Debug>>(tier: Tier, aggregate: A) {
    let device = device(tier);
    let most = (1 << 20) / size_of::<A::Input>().max(size_of::<Item<A>>()).max(4);
    let all = items(37, most + 3, A::Input::draw);
    let reduction = Reduction::with(device.clone(), aggregate);
    let policy = SegmentPolicy::for_data(&warpfold::source::data_of_aggregate::<A>());
    for (number, (in_pairs, bounds)) in cases(&policy, most).into_iter().enumerate() {
        let start = [0, 3, 1][number % 3];
        segments_are_right(&reduction, &aggregate, &all[start..start + most], &bounds, in_pairs, start)
            .unwrap_or_else(|wrong| panic!("case {number}, {wrong}"));
    }
}

/// Reduces segments by the public calls: into new memory, into given memory, and in device memory if
/// there is one.
pub(crate) fn segments_are_right<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    reduction: &Reduction<A>,
    aggregate: &A,
    elements: &[A::Input],
    bounds: &Bounds,
    in_pairs: bool,
    start: usize,
) -> Result<(), String> {
    let (expected, host) = (expected(aggregate, elements, bounds), A::Input::split(elements));
    let same =
        |how: &str, got: &[A::Output]| check(got, &expected).map_err(|wrong| format!("{how}: {wrong}"));
    let begins: Vec<u32> = bounds.iter().map(|&(begin, _)| begin as u32).collect();
    let ends: Vec<u32> = bounds.iter().map(|&(_, end)| end as u32).collect();
    let first = begins[..1].iter().map(|&begin| i64::from(begin));
    let offsets: Vec<i64> = first.chain(ends.iter().map(|&end| i64::from(end))).collect();
    let input = || A::Input::of_host(&host);
    let mut results = match in_pairs {
        true => reduction.segments(input(), (&begins, &ends)).expect("runs"),
        false => reduction.segments(input(), &offsets).expect("runs"),
    };
    same("new memory", &results)?;
    results.reverse();
    match in_pairs {
        true => reduction.segments_into(input(), (&begins, &ends), &mut results).expect("runs"),
        false => reduction.segments_into(input(), &offsets, &mut results).expect("runs"),
    }
    same("given memory", &results)?;
    let Some(stream) = reduction.device().stream().filter(|_| A::Input::COUNT > 0) else { return Ok(()) };
    let copies = A::Input::upload(stream, &host, start);
    let download = |results: &_| reduction.device().download::<A::Output>(results).expect("copies");
    let results = match in_pairs {
        true => {
            let (begins, ends) =
                (stream.clone_htod(&begins).expect("copies"), stream.clone_htod(&ends).expect("copies"));
            A::Input::segments(reduction, &copies, start, (&begins, &ends)).expect("runs")
        }
        false => {
            let results = A::Input::segments(reduction, &copies, start, &offsets).expect("runs");
            same("by offsets of the host", &download(&results))?;
            let offsets = stream.clone_htod(&offsets).expect("copies");
            A::Input::segments(reduction, &copies, start, &offsets).expect("runs")
        }
    };
    same("on the device", &download(&results))
}

/// Errors of offsets in host memory.
fn offsets_are_checked() {
    let sum = Reduction::<Sum<u32>>::new(device(Tier::Cpu));
    let none: [u32; 0] = [];
    assert_eq!(sum.segments(&none, &[0_u32]).expect("runs"), none);
    assert_eq!(sum.segments(&none, &[0_u32, 0]).expect("runs"), [0]);
    assert_eq!(sum.segments(&[1, 2, 3], &[1_usize, 3]).expect("runs"), [5]);
    assert!(matches!(sum.segments(&[1], &none), Err(Error::NoOffsets)));
    for (offsets, wrong) in [(&[0_i32, 2, 1][..], 1), (&[0, 1, 4], 1), (&[-1, 1, 3], 0)] {
        match sum.segments(&[1, 2, 3], offsets) {
            Err(Error::WrongSegment { segment, length: 3 }) => assert_eq!(segment, wrong, "{offsets:?}"),
            other => panic!("{offsets:?}: {other:?}"),
        }
    }
    let mut places = [7; 3];
    match sum.segments_into(&[1, 2, 3], &[0_u64, 1, 3], &mut places) {
        Err(Error::OutputLength { expected: 2, length: 3 }) => assert_eq!(places, [7; 3]),
        other => panic!("{other:?}"),
    }
    match sum.segments(&[1, 2, 3], (&[0_u32, 1], &[1_u32])) {
        Err(Error::UnequalLengths { array: 1, length: 1, expected: 2 }) => {}
        other => panic!("{other:?}"),
    }
}

/// Wrong offsets in device memory: the call that waits returns the error, once.
fn wrong_offsets_of_a_device() {
    let _alone = alone();
    let stream = device(Tier::Gpu).stream().expect("a GPU").context().new_stream().expect("a stream");
    let sum = Reduction::<Sum<u32>>::new(stream.clone());
    let numbers = stream.clone_htod(&[1_u32, 2, 3]).expect("copies");
    let right = stream.clone_htod(&[0_u32, 1, 3]).expect("copies");
    for offsets in [[0_u32, 2, 1], [0, 1, 4], [0, u32::MAX, 3]] {
        let wrong = stream.clone_htod(&offsets).expect("copies");
        let error = sum.segments(&numbers, &wrong).expect_err("an error");
        assert!(matches!(error, Error::WrongSegment { segment: 0 | 1, length: 3 }), "{offsets:?}: {error}");
        let sums = sum.segments(&numbers, &right).expect("runs");
        assert_eq!(stream.clone_dtoh(&sums).expect("copies"), [1, 5]);
        // Without a wait the wrong segment has the result of an empty one.
        let mut places = stream.clone_htod(&[7_u32; 2]).expect("copies");
        sum.segments_into(&numbers, &wrong, &mut places).expect("enqueues");
        assert!(stream.clone_dtoh(&places).expect("copies").contains(&0), "{offsets:?}");
        let mut places = [0; 2];
        let error = sum.segments_into(&numbers, &wrong, &mut places[..]).expect_err("an error");
        assert!(matches!(error, Error::WrongSegment { .. }), "{error}");
        sum.segments_into(&numbers, &right, &mut places[..]).expect("runs");
        assert_eq!(places, [1, 5]);
    }
}

/// More results than memory can hold.
fn too_many_results() {
    let sum = Reduction::<Sum<f32>>::new(device(Tier::Cpu));
    let none: [f32; 0] = [];
    assert!(matches!(sum.columns(&none, (1 << 62) + 1), Err(Error::InputLength { .. })));
    let indices = Reduction::<OfIndex>::new(device(Tier::Cpu));
    assert!(matches!(indices.rows(0..u64::MAX - 1, 1), Err(Error::InputLength { .. })));
}

/// From host memory to device memory, from device memory to host memory, and in a graph.
fn between_places_and_in_a_graph() {
    let _alone = alone();
    let stream = device(Tier::Gpu).stream().expect("a GPU").context().new_stream().expect("a stream");
    let aggregate = Scaled { modulus: 1_000_003, scale: 3 };
    let reduction = Reduction::with(stream.clone(), aggregate);
    reduction.compile_segments().expect("compiles");
    let elements = items(5, 100_000, u32::sample);
    let bounds = neighbours(&mut SmallRng::seed_from_u64(3), 1000, 1500, elements.len());
    let expected = expected(&aggregate, &elements, &bounds);
    let offsets: Vec<u64> = bounds[..1]
        .iter()
        .map(|&(begin, _)| begin)
        .chain(bounds.iter().map(|&(_, end)| end))
        .map(|offset| offset as u64)
        .collect();
    let stored = |got: &_| -> Vec<Option<[u32; 2]>> {
        stream.clone_dtoh(got).expect("copies").into_iter().map(Maybe::get).collect()
    };
    let nothing = vec![Maybe::from(None::<[u32; 2]>); bounds.len()];
    let mut out = stream.clone_htod(&nothing).expect("copies");
    reduction.segments_into(&elements, &offsets, &mut out).expect("runs");
    assert_eq!(stored(&out), expected, "to the device");
    let (input, on_device) =
        (stream.clone_htod(&elements).expect("copies"), stream.clone_htod(&offsets).expect("copies"));
    let mut places = vec![None; bounds.len()];
    reduction.segments_into(&input, &on_device, &mut places).expect("runs");
    assert_eq!(places, expected, "to the host");
    reduction.segments_into(&elements, &on_device, &mut places).expect("runs");
    assert_eq!(places, expected, "by offsets of the device");
    let mut out = stream.clone_htod(&nothing).expect("copies");
    stream.synchronize().expect("waits");
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("begins");
    assert!(matches!(reduction.segments(&input, &on_device), Err(Error::StreamIsCapturing)));
    // SAFETY: the slices outlive the graph, which this stream alone launches.
    unsafe { reduction.record_segments_into(&input, &on_device, &mut out) }.expect("records");
    let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    let graph = stream.end_capture(flags).expect("ends").expect("has launches");
    for _ in 0..3 {
        graph.launch().expect("launches");
    }
    assert_eq!(stored(&out), expected, "in a graph");
}

/// Trials that find mistakes in segments by offsets.
pub(crate) fn trials<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    kernels: &mut Kernels,
    aggregate: A,
) -> Vec<Trial> {
    let by = |(_, change): (_, crate::Change)| -> Trial {
        let case = SegmentCase::add(kernels, aggregate, change);
        Box::new(move |executor| wrong_on_executor(executor, case))
    };
    POLICIES.map(by).into()
}

/// Adds all tests of segments by offsets.
pub(crate) fn add_to(suite: &mut Suite, files: &[&str]) {
    use support::aggregates::{all, some};
    use support::programs::Checks;
    let mut tests = Tests::new(suite, "segments", Checks::Accesses, files);
    all(&mut OnExecutor(&mut tests, "is_what_it_is_by_definition"));
    let mut tests = Tests::new(suite, "sanitized segments", Checks::Sanitizers, files);
    some(&mut OnExecutor(&mut tests, "is_clean_under_the_sanitizers"));
    all(&mut Runs(suite));
    suite.test(Tier::Cpu, "offsets_are_checked", offsets_are_checked);
    suite.test(Tier::Cpu, "too_many_results_are_an_error", too_many_results);
    suite.test(Tier::Gpu, "wrong_offsets_of_a_device_are_errors", wrong_offsets_of_a_device);
    suite.test(Tier::Gpu, "segments_between_places_and_in_a_graph", between_places_and_in_a_graph);
}
