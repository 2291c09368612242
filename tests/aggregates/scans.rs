//! Tests of scans of aggregates: place i is what `present` makes of the scan of the prepared
//! elements, with a count of i + 1, or of i if the scan is exclusive.

use std::fmt::Debug;
use std::sync::Arc;

use support::aggregates::{self, OfIndex, Product, Scaled, Visitor};
use support::checks::{Check, code_of, digest};
use support::drawn::{Drawn, scanned};
use support::input_bytes::bytes;
use support::items::{Sample, items};
use support::mutations::Trial;
use support::programs::{Case, Checks, Kernels};
use support::simt::{Executor, ScanOptions, Tests};
use support::tiers::{Suite, Tier, alone, device};
use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use warpfold::jit::{self, Architecture};
use warpfold::plan::ScanPolicy;
use warpfold::source::Source;
use warpfold::{Aggregate, DeviceAggregate, DeviceType, Error, Item, Maybe, Scan, tree};

use crate::same;

/// The inclusive and the exclusive scan by definition.
fn expected<A: Aggregate>(aggregate: &A, elements: &[A::Input]) -> [Vec<A::Output>; 2] {
    let prepare = |(index, &element)| aggregate.prepare(index as u64, element);
    let prepared: Vec<Item<A>> = elements.iter().enumerate().map(prepare).collect();
    let monoid = aggregate.monoid();
    let present = |items: Vec<Item<A>>, first: u64| {
        (first..).zip(items).map(|(count, item)| aggregate.present(item, count)).collect()
    };
    let inclusive = present(tree::inclusive_scan(&monoid, &prepared), 1);
    [inclusive, present(tree::exclusive_scan(&monoid, &prepared), 0)]
}

/// Fails at the first place that differs.
fn check<T: Debug>(got: &[T], expected: &[T]) -> Result<(), String> {
    if got.len() != expected.len() {
        return Err(format!("{} places, not {}", got.len(), expected.len()));
    }
    // Takes less time than text.
    if bytes(got) == bytes(expected) {
        return Ok(());
    }
    match got.iter().zip(expected).position(|(got, expected)| !same(got, expected)) {
        None => Ok(()),
        Some(at) => Err(format!("place {at} is {:?}, and the definition gives {:?}", got[at], expected[at])),
    }
}

/// Inputs of a part of a tile, of several tiles, and of several windows of tiles.
fn lengths(policy: &ScanPolicy, most: usize) -> Vec<usize> {
    let shape = if policy.small_bytes > 100 { &policy.small } else { &policy.large };
    let tile = shape.tile_items(shape.warps) as usize;
    let mut lengths = vec![0, 1, 2, 31, 32, 33, 100, 1000, tile - 1, tile, tile + 1, 3 * tile + 5];
    lengths.extend([33 * tile + 1, most]);
    lengths.retain(|&length| length <= most);
    lengths.dedup();
    lengths
}

/// The default kernels: for any input, and the large one for every input.
fn policies<A: DeviceAggregate>() -> [(&'static str, ScanPolicy); 2] {
    let default = ScanPolicy::for_item(&Item::<A>::layout());
    [("all", default), ("large", ScanPolicy { small_bytes: 0, few_tiles: 0, few_waves: 0, ..default })]
}

fn wrong_on_executor<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: Case<A, ScanPolicy>,
) -> Result<(), String> {
    let most = (64 << 10) / size_of::<A::Input>().max(size_of::<Item<A>>());
    let lengths = lengths(&case.policy, most);
    let all = items(11, most + 3, A::Input::draw);
    let mut shared = Vec::new();
    for (number, length) in lengths.into_iter().enumerate().filter(|&(_, length)| length > 0) {
        let misalignment = [(0, 0), (1, 0), (3, 1)][number % 3];
        let elements = &all[misalignment.0..misalignment.0 + length];
        let expected = expected(&case.operator, elements);
        for exclusive in [false, true] {
            let asked = ScanOptions { exclusive, in_place: false, misalignment };
            let seed = executor.seed;
            let what = |wrong| format!("{length} elements, {asked:?}, WARPFOLD_SIMT_SEED={seed}: {wrong}");
            let got = executor.scan_of_aggregate(case, elements, asked, &mut shared).map_err(what)?;
            check(&got, &expected[usize::from(exclusive)]).map_err(what)?;
        }
    }
    Ok(())
}

/// With the end of the tests' names.
struct OnExecutor<'a, 'b>(&'a mut Tests<'b>, &'static str);

impl Visitor for OnExecutor<'_, '_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        let default = ScanPolicy::for_item(&Item::<A>::layout());
        let subject =
            self.0.subject(name, Vec::new(), |kernels: &mut Kernels| kernels.add(aggregate, default));
        for (kernels, policy) in policies::<A>() {
            let title = format!("scan_of_{name}_by_{kernels}_{}", self.1);
            let with = |check: Check| check.factor("kernels", kernels).determined_by(format!("{policy:?}"));
            self.0.check(&subject, title, with, move |executor, case: Case<A, ScanPolicy>| {
                wrong_on_executor(executor, case.under(policy)).unwrap_or_else(|wrong| panic!("{wrong}"));
            });
        }
    }
}

/// Compiles the kernels that scan each aggregate to machine code.
struct Compile<'a>(&'a mut Suite);

impl Visitor for Compile<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, _: A) {
        let policy = ScanPolicy::for_item(&Item::<A>::layout());
        for kernel in ScanPolicy::KERNELS {
            let source = Arc::new(Source::of_scan::<A>(&policy, kernel).expect("renders"));
            let check = Check::of("compilations of scans of aggregates")
                .aspect("aggregate", name)
                .aspect("kernel", format!("{kernel:?}"))
                .determined_by(code_of(source.text()))
                .determined_by(digest(&["src/cuda/jit/nvrtc.rs", "src/cuda/jit/options.rs"]));
            self.0.check(Tier::Nvrtc, check, format!("{kernel:?}_scan_of_{name}_compiles"), move || {
                for architecture in [Architecture::new(7, 5), Architecture::new(9, 0)] {
                    let target = jit::target(architecture).expect("known to this NVRTC");
                    jit::resources(&source, target).unwrap_or_else(|error| panic!("{error}"));
                }
            });
        }
    }
}

/// Scans each aggregate through the public calls.
struct Runs<'a>(&'a mut Suite);

impl Visitor for Runs<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        for tier in [Tier::Cpu, Tier::Gpu] {
            let title = format!("scan_of_{name}_is_what_it_is_by_definition");
            self.0.test(tier, title, move || runs(tier, aggregate));
        }
    }
}

fn runs<A: DeviceAggregate<Input: Drawn, Output: Debug>>(tier: Tier, aggregate: A) {
    let device = device(tier);
    // Several blocks of the CPU, and on a GPU several windows of tiles.
    let most = if device.is_gpu() { 8 << 20 } else { 1 << 20 };
    let most = most / size_of::<A::Input>().max(size_of::<Item<A>>()) + 7;
    let all = items(37, most + 3, A::Input::draw);
    // The CPU has no policy.
    let count = if device.is_gpu() { 2 } else { 1 };
    for (kernels, policy) in policies::<A>().into_iter().take(count) {
        let scan = Scan::with(device.clone(), aggregate).with_policy(policy);
        for length in lengths(&policy, most) {
            for start in [0, 3] {
                let elements = &all[start..start + length];
                let (expected, host) = (expected(&aggregate, elements), A::Input::split(elements));
                for exclusive in [false, true] {
                    let same = |how: &str, got: &[A::Output]| {
                        check(got, &expected[usize::from(exclusive)]).unwrap_or_else(|wrong| {
                            panic!(
                                "{how}, {length} elements from {start} by {kernels}, exclusive {exclusive}: {wrong}"
                            )
                        });
                    };
                    let mut places = scanned(&scan, exclusive, A::Input::of_host(&host)).expect("scans");
                    same("new memory", &places);
                    places.reverse();
                    let into = match exclusive {
                        true => scan.exclusive_into(A::Input::of_host(&host), &mut places),
                        false => scan.inclusive_into(A::Input::of_host(&host), &mut places),
                    };
                    into.expect("scans");
                    same("given memory", &places);
                    let Some(stream) = device.stream().filter(|_| A::Input::COUNT > 0) else { continue };
                    let copies = A::Input::upload(stream, &host, start);
                    let scanned = A::Input::scan(&scan, exclusive, &copies, start).expect("scans");
                    let got = device.download::<A::Output>(&scanned).expect("copies");
                    same("on the device", &got);
                }
            }
        }
    }
}

/// From host memory to device memory, from device memory to host memory, and in a graph.
fn between_places_and_in_a_graph() {
    let _alone = alone();
    let stream = device(Tier::Gpu).stream().expect("a GPU").context().new_stream().expect("a stream");
    let aggregate = Scaled { modulus: 1_000_003, scale: 3 };
    let scan = Scan::with(stream.clone(), aggregate);
    scan.compile().expect("compiles");
    for length in [1, 1000, 300_001] {
        let elements = items(5, length, u32::sample);
        let [inclusive, exclusive] = expected(&aggregate, &elements);
        let stored = |got: &_| -> Vec<Option<[u32; 2]>> {
            stream.clone_dtoh(got).expect("copies").into_iter().map(Maybe::get).collect()
        };
        let mut out = stream.clone_htod(&vec![Maybe::from(None::<[u32; 2]>); length]).expect("copies");
        scan.exclusive_into(&elements, &mut out).expect("scans");
        assert_eq!(stored(&out), exclusive, "{length} elements to the device");
        let input = stream.clone_htod(&elements).expect("copies");
        let mut places = vec![None; length];
        scan.inclusive_into(&input, &mut places).expect("scans");
        assert_eq!(places, inclusive, "{length} elements to the host");
        stream.synchronize().expect("waits");
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("begins");
        // SAFETY: both slices outlive the graph, which this stream alone launches.
        unsafe { scan.record_inclusive_into(&input, &mut out) }.expect("records");
        let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(flags).expect("ends").expect("has a launch");
        for _ in 0..3 {
            graph.launch().expect("launches");
        }
        assert_eq!(stored(&out), inclusive, "{length} elements in a graph");
    }
}

/// Errors name the lengths of arrays, and of the output.
fn inputs_are_checked() {
    let products = Scan::with(device(Tier::Cpu), Product(std::marker::PhantomData::<(u8, u32)>));
    match products.inclusive((&[1_u8, 2, 3], &[1_u32, 2])) {
        Err(Error::UnequalLengths { array: 1, length: 2, expected: 3 }) => {}
        other => panic!("{other:?}"),
    }
    let mut places = [[0; 2]; 2];
    match products.exclusive_into((&[1_u8, 2, 3], &[1_u32, 2, 3]), &mut places) {
        Err(Error::OutputLength { length: 2, expected: 3 }) => assert_eq!(places, [[0; 2]; 2]),
        other => panic!("{other:?}"),
    }
    let indices = Scan::<OfIndex>::new(device(Tier::Cpu));
    assert!(matches!(indices.inclusive(1..5), Err(Error::IndexStart { .. })));
    assert!(matches!(indices.inclusive(0..u64::MAX - 1), Err(Error::InputLength { .. })));
    assert_eq!(indices.exclusive(0..0).expect("scans").len(), 0);
}

/// Trials that find mistakes in scans of aggregates.
pub fn trials<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    kernels: &mut Kernels,
    aggregate: A,
) -> Vec<Trial> {
    let case = kernels.add(aggregate, ScanPolicy::for_item(&Item::<A>::layout()));
    let by = |policy| -> Trial { Box::new(move |executor| wrong_on_executor(executor, case.under(policy))) };
    policies::<A>().map(|(_, policy)| by(policy)).into()
}

/// Adds all tests of scans of aggregates.
pub fn add_to(suite: &mut Suite, files: &[&str]) {
    let mut tests = Tests::new(suite, "scans of aggregates", Checks::Accesses, files);
    aggregates::all(&mut OnExecutor(&mut tests, "is_what_it_is_by_definition"));
    // Safe code can use an aggregate's operator as a monoid, whose results are items.
    let operator = Scaled { modulus: 1_000_003, scale: 3 }.operator();
    let policy = ScanPolicy::for_item(&<[u32; 2]>::layout());
    tests.test("the_operator_of_an_aggregate_scans_items".to_owned(), operator, policy, |executor, case| {
        let items = items(5, 3000, <[u32; 2]>::sample);
        let asked = ScanOptions { exclusive: false, in_place: false, misalignment: (0, 0) };
        let got =
            executor.scan(case, &items, asked, &mut Vec::new()).unwrap_or_else(|wrong| panic!("{wrong}"));
        assert_eq!(got, tree::inclusive_scan(&case.operator, &items));
    });
    let mut tests = Tests::new(suite, "sanitized scans of aggregates", Checks::Sanitizers, files);
    aggregates::some(&mut OnExecutor(&mut tests, "is_clean_under_the_sanitizers"));
    aggregates::all(&mut Compile(suite));
    aggregates::all(&mut Runs(suite));
    suite.test(Tier::Cpu, "inputs_of_scans_are_checked", inputs_are_checked);
    suite.test(Tier::Gpu, "scans_between_places_and_in_a_graph", between_places_and_in_a_graph);
}
