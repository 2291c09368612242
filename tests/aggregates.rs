//! Tests of aggregates: on every backend the result is what `present` makes of the bracket of the
//! prepared elements.

#[path = "aggregates/mutations.rs"]
mod mutations;
#[path = "aggregates/scans.rs"]
mod scans;
#[path = "aggregates/tuples.rs"]
mod tuples;

use std::fmt::Debug;
use std::process::ExitCode;
use std::sync::Arc;

use mutations::MUTATIONS;

use support::aggregates::{
    self, Accumulated, AccumulatedIndices, AccumulatedPairs, OfIndex, Placed, Product, Scaled, Visitor,
};
use support::checks::{Check, code_of, digest};
use support::drawn::{Drawn, Stored};
use support::items::{Sample, items};
use support::mutations::{MutationSuite, Trial, Trials};
use support::programs::{AggregateCase, Checks, Kernels};
use support::simt::{Executor, Tests};
use support::tiers::{Suite, Tier, alone, device};
use warpfold::aggregates::Masked;
use warpfold::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use warpfold::jit::{self, Architecture};
use warpfold::plan::Kernel;
use warpfold::source::{Source, data_of_aggregate};
use warpfold::{Aggregate, Bit, DeviceAggregate, DeviceType, Error, Item, Policy, Reduction, tree};

/// The result by definition.
fn expected<A: Aggregate>(aggregate: &A, elements: &[A::Input]) -> A::Output {
    let prepare = |(index, &element)| aggregate.prepare(index as u64, element);
    let prepared: Vec<Item<A>> = elements.iter().enumerate().map(prepare).collect();
    aggregate.present(tree::bracket(&aggregate.monoid(), &prepared), elements.len() as u64)
}

/// Results as text, in which zeros differ by their signs, and all NaNs are equal.
fn same<T: Debug>(got: &T, expected: &T) -> bool {
    format!("{got:?}") == format!("{expected:?}")
}

/// Inputs of one block, of several blocks, and of several launches. Lengths next to whole rows.
fn lengths<A: DeviceAggregate>() -> Vec<usize> {
    let data = data_of_aggregate::<A>();
    let row = Policy::for_data(&data).small.row_items() as usize;
    let most = (64 << 10) / size_of::<A::Input>().max(size_of::<Item<A>>() / 8);
    let mut lengths = vec![0, 1, 2, 3, 31, 32, 33, 100, row - 1, row, row + 1, 2 * row, 1000, 4097];
    lengths.extend([most / 2 + 5, most]);
    lengths.retain(|&length| length <= most);
    lengths
}

/// A change of a policy.
type Change = fn(Policy) -> Policy;

/// The kernels under a policy of each kind.
fn policies() -> [(&'static str, Change); 3] {
    [
        ("all", |policy| policy),
        ("large", |policy| Policy {
            one_block_items: 10.min(policy.one_block_items),
            small_bytes: 0,
            max_chunks: 3,
            ..policy
        }),
        ("baseline", |policy| Policy { max_chunks: 3, ..policy.baseline_only() }),
    ]
}

fn wrong_on_executor<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: AggregateCase<A>,
    elements: &[A::Input],
    misalignment: usize,
) -> Result<(), String> {
    let expected = expected(&case.elements.operator, elements);
    let wrong = match executor.aggregate(case, elements, misalignment) {
        Ok(got) if same(&got, &expected) => return Ok(()),
        Ok(got) => format!("got {got:?}, and the definition gives {expected:?}"),
        Err(wrong) => wrong,
    };
    let (length, seed) = (elements.len(), executor.seed);
    Err(format!(
        "{length} elements, {misalignment} alignments past an aligned address, WARPFOLD_SIMT_SEED={seed}: {wrong}"
    ))
}

/// Every length, at a few alignments.
fn wrong_anywhere<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: AggregateCase<A>,
) -> Result<(), String> {
    let lengths = lengths::<A>();
    let all = items(9, lengths.iter().max().expect("some") + 3, A::Input::draw);
    let is_tuned = case.elements.policy.tuned;
    for (number, length) in lengths.into_iter().enumerate() {
        if !is_tuned && length > 4097 {
            continue;
        }
        for misalignment in [0, 1, 3].into_iter().take(if is_tuned { 3 } else { 1 + number % 2 }) {
            let elements = &all[misalignment..misalignment + length];
            wrong_on_executor(executor, case, elements, misalignment)?;
        }
    }
    Ok(())
}

/// With the end of the tests' names.
struct OnExecutor<'a, 'b>(&'a mut Tests<'b>, &'static str);

impl Visitor for OnExecutor<'_, '_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        let subject = self.0.subject(name, Vec::new(), |kernels| kernels.add_aggregate(aggregate));
        for (kernels, policy) in policies() {
            let title = format!("{name}_by_{kernels}_{}", self.1);
            let with = |check: Check| check.factor("kernels", kernels);
            self.0.check(&subject, title, with, move |executor, case: AggregateCase<A>| {
                wrong_anywhere(executor, case.under(policy)).unwrap_or_else(|wrong| panic!("{wrong}"));
            });
        }
    }
}

/// Compiles the kernels of each aggregate to machine code.
struct Compile<'a>(&'a mut Suite);

impl Visitor for Compile<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, _: A) {
        let data = data_of_aggregate::<A>();
        let (policy, of_items) = (Policy::for_data(&data), Policy::for_item(&data.item));
        for kernel in Kernel::ALL {
            let of_elements = Source::of_reduction::<A>(&policy, kernel).expect("renders");
            let of_items = Source::of_partials::<A::Operator>(&of_items, kernel).expect("renders");
            for (what, source) in [("elements", of_elements), ("items", of_items)] {
                let source = Arc::new(source);
                let check = Check::of("compilations of aggregates")
                    .aspect("aggregate", name)
                    .aspect("kernel", format!("{kernel:?} {what}"))
                    .determined_by(code_of(source.text()))
                    .determined_by(digest(&["src/cuda/jit/nvrtc.rs", "src/cuda/jit/options.rs"]));
                let title = format!("{name}_{kernel:?}_of_{what}_compiles");
                self.0.check(Tier::Nvrtc, check, title, move || {
                    for architecture in [Architecture::new(7, 5), Architecture::new(9, 0)] {
                        let target = jit::target(architecture).expect("known to this NVRTC");
                        jit::resources(&source, target).unwrap_or_else(|error| panic!("{error}"));
                    }
                });
            }
        }
    }
}

/// Runs each aggregate through the public calls.
struct Runs<'a>(&'a mut Suite);

impl Visitor for Runs<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        for tier in [Tier::Cpu, Tier::Gpu] {
            let title = format!("{name}_is_what_it_is_by_definition");
            self.0.test(tier, title, move || runs(tier, aggregate));
        }
    }
}

fn runs<A: DeviceAggregate<Input: Drawn, Output: Debug>>(tier: Tier, aggregate: A) {
    let device = device(tier);
    let reduction = Reduction::with(device.clone(), aggregate);
    let mut lengths = lengths::<A>();
    lengths.push((4 << 20) / size_of::<A::Input>().max(4) + 7);
    let all = items(31, lengths.iter().max().expect("some") + 3, A::Input::draw);
    // The baseline answers first, and then the tuned kernels.
    for is_compiled in [false, true] {
        if is_compiled {
            reduction.compile().expect("compiles");
        }
        for &length in &lengths {
            for start in [0, 1, 3] {
                let elements = &all[start..start + length];
                let expected = expected(&aggregate, elements);
                let host = A::Input::split(elements);
                let got = reduction.run(A::Input::of_host(&host)).expect("runs");
                assert!(same(&got, &expected), "{length} elements from {start}: {got:?}, not {expected:?}");
                let Some(stream) = device.stream() else { continue };
                if A::Input::COUNT == 0 {
                    continue;
                }
                let copies = A::Input::upload(stream, &host, start);
                let got = A::Input::run(&reduction, &copies, start).expect("runs");
                assert!(same(&got, &expected), "{length} on the device: {got:?}, not {expected:?}");
                let mut out = device.upload(&[zeros::<Stored<A>>()]).expect("copies");
                A::Input::run_into(&reduction, &copies, start, &mut out).expect("enqueues");
                let got = device.download::<A::Output>(&out).expect("copies")[0];
                assert!(same(&got, &expected), "{length} presented: {got:?}, not {expected:?}");
            }
        }
    }
}

fn zeros<T: DeviceType>() -> T {
    let zeros = vec![0_u8; size_of::<T>()];
    // SAFETY: zeros are valid for every device type.
    unsafe { std::ptr::read_unaligned(zeros.as_ptr().cast()) }
}

/// A graph writes the result, in the type of device memory.
fn a_graph_presents() {
    let _alone = alone();
    let device = device(Tier::Gpu);
    let stream = device.stream().expect("a GPU").context().new_stream().expect("a stream");
    let aggregate = Scaled { modulus: 1_000_003, scale: 3 };
    let reduction = Reduction::with(stream.clone(), aggregate);
    reduction.compile().expect("compiles");
    for length in [1, 1000, 100_000, 3_000_001] {
        let elements = items(5, length, u32::sample);
        let input = stream.clone_htod(&elements).expect("copies");
        let mut out = stream.clone_htod(&[warpfold::Maybe::from(None::<[u32; 2]>)]).expect("copies");
        stream.synchronize().expect("waits");
        stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED).expect("begins");
        // SAFETY: both slices outlive the graph, which this stream alone launches.
        unsafe { reduction.record_into(&input, &mut out) }.expect("records");
        let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(flags).expect("ends").expect("has launches");
        for _ in 0..3 {
            graph.launch().expect("launches");
        }
        stream.synchronize().expect("waits");
        let got = stream.clone_dtoh(&out).expect("copies")[0].get();
        assert_eq!(got, expected(&aggregate, &elements), "{length} elements");
    }
}

/// Arrays on two streams: the reduction waits for what writes them, and what overwrites them later
/// waits for the reduction.
fn arrays_of_two_streams() {
    let _alone = alone();
    let device = device(Tier::Gpu);
    let context = device.stream().expect("a GPU").context();
    let (first, second) = (context.new_stream().expect("a stream"), context.new_stream().expect("a stream"));
    let product = Reduction::with(first.clone(), Product(std::marker::PhantomData::<(u32, u32)>));
    product.compile().expect("compiles");
    let elements = items(3, 1 << 20, <(u32, u32)>::draw);
    let expected = expected(&Product(std::marker::PhantomData::<(u32, u32)>), &elements);
    let (left, right) = <(u32, u32)>::split(&elements);
    let left = first.clone_htod(&left).expect("copies");
    let (right, zeros) =
        (second.clone_htod(&right).expect("copies"), second.alloc_zeros::<u32>(1 << 20).expect("allocates"));
    let (slow, mut busy) = (
        second.alloc_zeros::<u8>(1 << 30).expect("allocates"),
        second.alloc_zeros::<u8>(1 << 30).expect("allocates"),
    );
    let mut late = second.alloc_zeros::<u32>(1 << 20).expect("allocates");
    let mut result = first.alloc_zeros::<[u64; 2]>(1).expect("allocates");
    for _ in 0..3 {
        // The array arrives late.
        let keep_busy = |busy: &mut _| (0..20).for_each(|_| second.memcpy_dtod(&slow, busy).expect("copies"));
        keep_busy(&mut busy);
        second.memcpy_dtod(&right, &mut late).expect("copies");
        assert_eq!(product.run((&left, &late)).expect("runs"), expected);
        second.memcpy_dtod(&zeros, &mut late).expect("copies");
        keep_busy(&mut busy);
        second.memcpy_dtod(&right, &mut late).expect("copies");
        product.run_into((&left, &late), &mut result).expect("enqueues");
        second.memcpy_dtod(&zeros, &mut late).expect("copies");
        assert_eq!(first.clone_dtoh(&result).expect("copies"), [expected]);
    }
}

/// Host memory that a GPU reduces in chunks: the index goes on from chunk to chunk.
fn chunks_of_host_memory() {
    let reduction = Reduction::with(device(Tier::Gpu), Placed::<u32, 1>(std::marker::PhantomData));
    reduction.compile().expect("compiles");
    for bytes in [1 << 20, 9 << 20, 80 << 20] {
        let elements: Vec<[u32; 1]> =
            (0..bytes / 4 + 3).map(|i: u32| [i.wrapping_mul(0x9e37_79b1)]).collect();
        let expected = expected(&Placed::<u32, 1>(std::marker::PhantomData), &elements);
        assert_eq!(reduction.run(&elements).expect("runs"), expected, "{bytes} bytes");
    }
}

/// Errors of inputs: which array has which length, and what a range begins with.
#[allow(clippy::reversed_empty_ranges)]
fn inputs_are_checked() {
    let product = Reduction::with(device(Tier::Cpu), Product(std::marker::PhantomData::<(u8, u32)>));
    match product.run((&[1_u8, 2, 3], &[1_u32, 2])) {
        Err(Error::UnequalLengths { array: 1, length: 2, expected: 3 }) => {}
        other => panic!("{other:?}"),
    }
    let eight = Reduction::with(device(Tier::Cpu), support::aggregates::OfEight);
    let (bytes, halves, words, longs) = ([1_u8; 4], [1_u16; 4], [1_u32; 4], [1_u64; 4]);
    match eight.run((&bytes, &halves, &words, &longs, &bytes, &halves, &words[..3], &longs)) {
        Err(Error::UnequalLengths { array: 6, length: 3, expected: 4 }) => {}
        other => panic!("{other:?}"),
    }
    let indices = Reduction::<OfIndex>::new(device(Tier::Cpu));
    assert_eq!(indices.run(0..0_u8).expect("runs")[2], 0);
    assert_eq!(indices.run(0..-5_i64).expect("runs")[2], 0);
    assert_eq!(indices.run(7..7_usize).expect("runs")[2], 0);
    assert_eq!(indices.run(-3..-5_i8).expect("runs")[2], 0);
    assert!(matches!(indices.run(0..1_u128 << 64), Err(Error::InputLength { .. })));
    assert!(matches!(indices.run(1..5_i32), Err(Error::IndexStart { start }) if start == "1"));
    assert!(
        matches!(indices.run(-1..5_i32), Err(Error::IndexStart { start }) if start == "a negative number")
    );
}

fn add_trials(trials: &mut Trials<'_>) {
    fn trial<A: DeviceAggregate<Input: Drawn, Output: Debug>>(case: AggregateCase<A>) -> Vec<Trial> {
        let by = |policy: Change| -> Trial {
            Box::new(move |executor| wrong_anywhere(executor, case.under(policy)))
        };
        policies().into_iter().map(|(_, policy)| by(policy)).collect()
    }
    let of = |kernels: &mut Kernels, size: usize| match size {
        1 => trial(kernels.add_aggregate(Placed::<u8, 1>(std::marker::PhantomData))),
        _ => trial(kernels.add_aggregate(Placed::<u32, 3>(std::marker::PhantomData))),
    };
    trials.add(|kernels| of(kernels, 12));
    trials.add(|kernels| trial(kernels.add_aggregate(OfIndex)));
    trials.add(|kernels| trial(kernels.add_aggregate(Product(std::marker::PhantomData::<(u8, u32)>))));
    trials.add(|kernels| of(kernels, 1));
    trials.add(|kernels| {
        let mut trials = trial(kernels.add_aggregate(Accumulated { scale: 7, unused: 0 }));
        trials.extend(trial(kernels.add_aggregate(AccumulatedPairs)));
        trials.extend(trial(kernels.add_aggregate(AccumulatedIndices)));
        trials
    });
    trials.add(|kernels| {
        let scaled = Scaled { modulus: 1_000_003, scale: 77 };
        trial(kernels.add_aggregate(Masked::<Scaled, Bit>(scaled, std::marker::PhantomData)))
    });
    trials.add(|kernels| {
        let mut trials = scans::trials(kernels, Placed::<u32, 3>(std::marker::PhantomData));
        trials.extend(scans::trials(kernels, Product(std::marker::PhantomData::<(u8, u32)>)));
        trials
    });
}

/// Files that determine how aggregates are tested.
const FILES: &[&str] = &[
    "tests/aggregates.rs",
    "tests/aggregates/scans.rs",
    "tests/support/aggregates.rs",
    "tests/support/drawn.rs",
    "tests/support/tuples.rs",
    "src/plan",
];

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let mut tests = Tests::new(&mut suite, "aggregates", Checks::Accesses, FILES);
    aggregates::all(&mut OnExecutor(&mut tests, "is_what_it_is_by_definition"));
    let mut tests = Tests::new(&mut suite, "sanitized aggregates", Checks::Sanitizers, FILES);
    aggregates::some(&mut OnExecutor(&mut tests, "is_clean_under_the_sanitizers"));
    aggregates::all(&mut Compile(&mut suite));
    aggregates::all(&mut Runs(&mut suite));
    scans::add_to(&mut suite, FILES);
    tuples::add_to(&mut suite);
    suite.test(Tier::Cpu, "inputs_are_checked", inputs_are_checked);
    suite.test(Tier::Gpu, "a_graph_presents", a_graph_presents);
    suite.test(Tier::Gpu, "arrays_of_two_streams", arrays_of_two_streams);
    suite.test(Tier::Gpu, "chunks_of_host_memory_go_on_with_the_index", chunks_of_host_memory);
    MutationSuite { name: "mutations of aggregates", mutations: MUTATIONS, add_trials, files: FILES }
        .add_to(&mut suite);
    suite.run()
}
