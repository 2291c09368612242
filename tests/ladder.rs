//! Tests that every rung of the ladder returns the bracket's value, at every length, on the
//! executor and on a GPU.
//!
//! A rung may round or reorder only where the operator's laws permit it (`Subject`).

#[path = "ladder/mutations.rs"]
mod mutations;

use std::fmt::Debug;
use std::process::ExitCode;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use mutations::MUTATIONS;
use rand::Rng;
use rand::rngs::SmallRng;
use support::inputs::Inputs;
use support::items::{Point, Sample, Sampler, Unit, items};
use support::mutations::{MutationSuite, Trials};
use support::operators::{Joined, MaxByNorm, ModularAffine};
use support::programs::{Checks, Kernels};
use support::rungs::{Counts, Rungs};
use support::simt::{Executor, Tests};
use support::tiers::{Suite, Tier, alone, device};
use warpfold::ladder::{Finish, Ladder, Role, Rung};
use warpfold::laws::{Laws, proptest::strategy::Just, sum_of_magnitudes};
use warpfold::operators::{AffineComposition, BitXor, Matrix2Product, Max, Product, Sum};
use warpfold::source::Source;
use warpfold::{Commutative, Device, DeviceMonoid, DeviceType, Error, Monoid, cudarc, jit, monoid, tree};

const FINISHES: [Finish; 3] = [Finish::Launches, Finish::Host, Finish::HostBelowBlock];

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
struct Hull {
    low: [f32; 3],
    high: [f32; 3],
}

impl Sample for Hull {
    fn sample(random: &mut SmallRng) -> Self {
        let Point { x, y, z } = Point::sample(random);
        Self { low: [x, y, z], high: [x, y, z] }
    }
}

/// The smallest box that contains both.
#[derive(Clone, Copy, Default, Debug)]
struct Union;

#[monoid]
impl Monoid for Union {
    type Item = Hull;
    fn identity(&self) -> Hull {
        Hull { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] }
    }
    fn combine(&self, a: Hull, b: Hull) -> Hull {
        Hull {
            low: [
                if b.low[0] < a.low[0] { b.low[0] } else { a.low[0] },
                if b.low[1] < a.low[1] { b.low[1] } else { a.low[1] },
                if b.low[2] < a.low[2] { b.low[2] } else { a.low[2] },
            ],
            high: [
                if b.high[0] > a.high[0] { b.high[0] } else { a.high[0] },
                if b.high[1] > a.high[1] { b.high[1] } else { a.high[1] },
                if b.high[2] > a.high[2] { b.high[2] } else { a.high[2] },
            ],
        }
    }
}

impl Commutative for Union {}

/// An operator, the sampler of its items, and the relative error that its sums may have.
#[derive(Clone, Copy)]
struct Subject<M: Monoid> {
    operator: M,
    sampler: Sampler<M::Item>,
    rounding: Option<f64>,
    commutes: bool,
    adds: bool,
    ladder: fn(Device, M) -> Ladder<M>,
}

impl<M: DeviceMonoid> Subject<M>
where
    M::Item: Debug,
{
    fn rungs(&self, role: Role) -> impl Iterator<Item = Rung> {
        let (commutes, is_small) = (self.commutes, self.adds || size_of::<M::Item>() <= 4);
        let can = move |rung: &Rung| (commutes || rung.keeps_order()) && (is_small || *rung != Rung::Atomics);
        Rung::ALL.into_iter().filter(move |rung| rung.role() == role).filter(can)
    }

    /// Compares a value with the expected one. The error names both.
    fn compare(&self, items: &[M::Item], got: M::Item, expected: M::Item) -> Result<(), String> {
        let laws = Laws::of(self.operator, Just(self.operator.identity()));
        let equal = match self.rounding {
            Some(relative) => laws.within(relative, sum_of_magnitudes).are_equal(items, got, expected),
            None => laws.are_equal(items, got, expected),
        };
        if equal { Ok(()) } else { Err(format!("{got:?} is not {expected:?}")) }
    }

    /// Compares the value of a reduction. `Rung::BottomUp` with `Finish::Launches` is the bracket
    /// itself, so its bits must be equal.
    fn compare_reduced(
        &self,
        by: (Rung, Finish),
        items: &[M::Item],
        got: M::Item,
        expected: M::Item,
    ) -> Result<(), String> {
        let exact = Self { rounding: None, ..*self };
        let subject = if by == (Rung::BottomUp, Finish::Launches) { &exact } else { self };
        subject.compare(items, got, expected)
    }

    fn compare_all(&self, items: &[M::Item], got: &[M::Item], expected: &[M::Item]) -> Result<(), String> {
        assert_eq!(got.len(), expected.len());
        // The tolerance is slow to compute. So the first 1000 items give it, and about 1000 places
        // are compared.
        let (items, step) = match self.rounding {
            Some(_) => (&items[..items.len().min(1000)], expected.len().div_ceil(1000)),
            None => (items, 1),
        };
        let mut pairs = got.iter().zip(expected).enumerate().step_by(step);
        pairs.try_for_each(|(place, (&got, &expected))| {
            self.compare(items, got, expected).map_err(|wrong| format!("place {place}: {wrong}"))
        })
    }
}

/// Visits each operator under test.
trait Visitor {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
    where
        M::Item: Sample;
}

fn subjects(visitor: &mut impl Visitor) {
    fn commutes<M: Commutative + DeviceMonoid>(operator: M, sampler: Sampler<M::Item>) -> Subject<M> {
        Subject {
            operator,
            sampler,
            rounding: None,
            commutes: true,
            adds: M::IS_ADDITION,
            ladder: Ladder::with,
        }
    }
    fn in_order<M: DeviceMonoid>(operator: M, sampler: Sampler<M::Item>) -> Subject<M> {
        Subject { operator, sampler, rounding: None, commutes: false, adds: false, ladder: Ladder::in_order }
    }
    visitor.visit("sum_of_u32", commutes(Sum::<u32>::new(), u32::sample));
    visitor.visit("sum_of_f32", Subject { rounding: Some(1e-5), ..commutes(Sum::<f32>::new(), f32::unit) });
    visitor.visit("sum_of_f64", Subject { rounding: Some(1e-13), ..commutes(Sum::<f64>::new(), f64::unit) });
    visitor.visit("product_of_u8", commutes(Product::<u8>::new(), u8::unit));
    visitor.visit("xor_of_u16", commutes(BitXor::<u16>::new(), u16::sample));
    visitor.visit("max_of_f64", commutes(Max::<f64>::new(), f64::sample));
    visitor.visit("union", commutes(Union, Hull::sample));
    visitor.visit("max_by_norm", in_order(MaxByNorm, Point::sample));
    visitor.visit("maps_of_i64", in_order(AffineComposition::<i64>::new(), i64::map));
    let maps = ModularAffine { modulus: 1_000_003, padding: 0 };
    let map = |random: &mut SmallRng| [random.random_range(1..1_000_003), random.random_range(0..1_000_003)];
    visitor.visit("modular_maps", in_order(maps, map));
}

/// Lengths for blocks of `threads` threads: all small ones, and both sides of every edge.
fn lengths(threads: usize) -> Vec<usize> {
    let mut lengths: Vec<usize> = (1..=9).collect();
    for edge in [32, threads, 2 * threads, 4 * threads, threads * threads / 2] {
        lengths.extend([edge - 1, edge, edge + 1]);
    }
    lengths.extend([7 * threads + 3, 1500]);
    lengths.sort();
    lengths.dedup();
    lengths.retain(|&length| length <= 40 * threads);
    lengths
}

fn wrong_on_executor<M: DeviceMonoid>(
    executor: &mut Executor,
    rungs: Rungs<M>,
    subject: Subject<M>,
    items: &[M::Item],
) -> Result<(), String>
where
    M::Item: Sample,
{
    let seed = executor.seed;
    let what = |rung: Rung| format!("{rung:?}, {} items, WARPFOLD_SIMT_SEED={}", items.len(), seed);
    let expected = tree::bracket(&subject.operator, items);
    // Which rung gets which finish changes with the length.
    let finishes = FINISHES.into_iter().cycle().skip(items.len() % FINISHES.len());
    for (rung, finish) in subject.rungs(Role::Reduces).zip(finishes) {
        let got = executor.reduce(rungs, rung, finish, items);
        let compared = got.and_then(|got| subject.compare_reduced((rung, finish), items, got, expected));
        compared.map_err(|wrong| format!("{}, {finish:?}: {wrong}", what(rung)))?;
    }
    for rung in subject.rungs(Role::Scans) {
        for exclusive in [false, true] {
            let expected = match exclusive {
                true => tree::exclusive_scan(&subject.operator, items),
                false => tree::inclusive_scan(&subject.operator, items),
            };
            let got = executor.climb_scan(rungs, rung, exclusive, items);
            let compared = got.and_then(|got| subject.compare_all(items, &got, &expected));
            compared.map_err(|wrong| format!("{}, exclusive {exclusive}: {wrong}", what(rung)))?;
        }
    }
    Ok(())
}

struct OnExecutor<'a, 'b> {
    tests: &'a mut Tests<'b>,
    threads: u32,
}

impl Visitor for OnExecutor<'_, '_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
    where
        M::Item: Sample,
    {
        let threads = self.threads;
        let name = format!("{name}_by_every_rung_in_blocks_of_{threads}");
        let add = move |kernels: &mut Kernels| kernels.add_rungs(subject.operator, threads, subject.adds);
        self.tests.test_of(name, add, move |executor, rungs| {
            let lengths = lengths(threads as usize);
            let all = items(3, *lengths.last().expect("some"), subject.sampler);
            for length in lengths {
                if let Err(wrong) = wrong_on_executor(executor, rungs, subject, &all[..length]) {
                    panic!("{wrong}");
                }
            }
        });
    }
}

/// An input of more items than all threads of a GPU load in one stride.
fn several_strides(tests: &mut Tests<'_>) {
    let name = "several_strides".to_owned();
    let add = |kernels: &mut Kernels| kernels.add_rungs(Sum::<u32>::new(), 1024, true);
    tests.test_of(name, add, |executor, rungs| {
        let items = items(4, (1 << 19) + 5000, u32::sample);
        let expected = tree::bracket(&rungs.operator, &items);
        for rung in [Rung::Cascading, Rung::Shuffles, Rung::Atomics, Rung::LastBlock] {
            let got = executor.reduce(rungs, rung, Finish::Launches, &items);
            assert_eq!(got, Ok(expected), "{rung:?}, WARPFOLD_SIMT_SEED={}", executor.seed);
        }
    });
}

/// Checks the counts in `docs/LADDER.md`, and the claims of the templates' head comments about
/// steps, barriers, bank conflicts and divergence.
fn what_is_said_is_counted(executor: &mut Executor, rungs: Rungs<Sum<f32>>) {
    let items = vec![1.0; 1 << 12];
    let mut of = |rung: Rung| {
        let scans = rung.role() == Role::Scans;
        executor.counts(rungs, rung, scans, &items).unwrap_or_else(|wrong| panic!("{rung:?}: {wrong}"))
    };
    let document = include_str!("../docs/LADDER.md");
    for rung in Rung::ALL.into_iter().filter(|rung| rung.role() != Role::Completes && *rung != Rung::Atomics)
    {
        // The document's other columns depend on the compiler.
        let counts = of(rung);
        let Counts { launches, steps, combinations, barriers, warp_barriers, .. } = counts;
        let row = format!(
            "| {} | {launches} | {steps} | {combinations} | {barriers} | {warp_barriers} |",
            rung.name()
        );
        assert!(document.contains(&row), "docs/LADDER.md has not: {row}");
    }
    let sequential = of(Rung::Sequential);
    assert_eq!((sequential.steps, sequential.combinations, sequential.launches), (4095, 4095, 1));
    let bottom_up = of(Rung::BottomUp);
    assert_eq!((bottom_up.steps, bottom_up.launches, bottom_up.barriers), (12, 12, 0));
    let (two, strided, addressed) = (of(Rung::TwoItems), of(Rung::Strided), of(Rung::SequentialAddressing));
    // Both rungs evaluate the same tree. `Strided` fills its warps, so it needs fewer turns, but it
    // has more bank conflicts.
    assert_eq!(two.combinations, strided.combinations);
    assert!(strided.combining_instructions < two.combining_instructions / 2);
    assert!(strided.bank_conflicts > two.bank_conflicts);
    assert_eq!(addressed.bank_conflicts, 0);
    let (first, last, shuffles) = (of(Rung::FirstCombine), of(Rung::LastWarp), of(Rung::Shuffles));
    assert!(first.shared_instructions < addressed.shared_instructions);
    assert!(last.barriers < first.barriers && last.warp_barriers > 0);
    assert!(shuffles.shared_instructions < last.shared_instructions);
    // Neighbouring threads that read neighbouring items read each sector once. Threads that each
    // read a part of their own touch more sectors.
    assert!(of(Rung::TopDown).sectors > 4 * shuffles.sectors);
    let (kogge_stone, brent_kung) = (of(Rung::KoggeStone), of(Rung::BrentKung));
    assert!(kogge_stone.combinations > 2 * brent_kung.combinations);
    assert!(kogge_stone.barriers > 0 && brent_kung.bank_conflicts > 0);
}

/// Runs every rung on a GPU, with every finish and several block sizes.
struct OnGpu<'a>(&'a mut Suite);

impl Visitor for OnGpu<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
    where
        M::Item: Sample,
    {
        self.0.test(Tier::Gpu, format!("{name}_by_every_rung"), move || {
            for threads in [32, 256, 1024] {
                let all = items(5, 1 << 20, subject.sampler);
                let lengths = lengths(threads).into_iter().chain([100_000, (1 << 20) - 1]);
                for (length, finish) in lengths.zip(FINISHES.into_iter().cycle()) {
                    on_gpu(&device(Tier::Gpu), subject, threads as u32, finish, &all[..length]);
                }
            }
        });
    }
}

fn on_gpu<M: DeviceMonoid>(gpu: &Device, subject: Subject<M>, threads: u32, finish: Finish, items: &[M::Item])
where
    M::Item: Debug,
{
    let ladder = (subject.ladder)(gpu.clone(), subject.operator).threads(threads).finish(finish);
    let what = |rung: Rung| format!("{rung:?}, {} items, blocks of {threads}, {finish:?}", items.len());
    let input = Inputs::on(gpu, items);
    let Inputs::Device(input) = &input else { unreachable!("a GPU") };
    let expected = tree::bracket(&subject.operator, items);
    let has_room = |rung: &Rung| rung.shared_bytes(threads, &M::Item::layout()) <= 48 << 10;
    for rung in subject.rungs(Role::Reduces).filter(has_room) {
        let got = ladder.reduce(rung, input).unwrap_or_else(|error| panic!("{}: {error}", what(rung)));
        let compared = subject.compare_reduced((rung, finish), items, got, expected);
        compared.unwrap_or_else(|wrong| panic!("{}: {wrong}", what(rung)));
    }
    let expected =
        [tree::inclusive_scan(&subject.operator, items), tree::exclusive_scan(&subject.operator, items)];
    for rung in subject.rungs(Role::Scans).filter(has_room) {
        let fail = |error: Error| -> Vec<M::Item> { panic!("{}: {error}", what(rung)) };
        let got = [
            ladder.inclusive(rung, items).unwrap_or_else(fail),
            ladder.exclusive(rung, items).unwrap_or_else(fail),
        ];
        for (got, expected) in got.iter().zip(&expected) {
            let compared = subject.compare_all(items, got, expected);
            compared.unwrap_or_else(|wrong| panic!("{}: {wrong}", what(rung)));
        }
    }
}

/// Empty inputs, views, inputs on other streams, an input whose stream captures, and scans that
/// stay on the device.
fn every_kind_of_input() {
    let _alone = alone();
    let gpu = device(Tier::Gpu);
    let (sums, maxima) = (Ladder::<Sum<u32>>::new(gpu.clone()), Ladder::<Max<f64>>::new(gpu.clone()));
    assert_eq!(sums.reduce(Rung::Shuffles, &[]).expect("runs"), 0);
    assert_eq!(maxima.reduce(Rung::Strided, &[]).expect("runs"), f64::NEG_INFINITY);
    assert!(sums.inclusive(Rung::KoggeStone, &[]).expect("runs").is_empty());
    let stream = gpu.stream().expect("a GPU").context().new_stream().expect("a stream");
    let all: Vec<u32> = (0..100_000).collect();
    let slice = stream.clone_htod(&all).expect("room");
    for rung in [Rung::BottomUp, Rung::LastBlock, Rung::Atomics] {
        assert_eq!(
            sums.reduce(rung, &slice.slice(7..90_001)).expect("runs"),
            (7..90_001_u32).fold(0, u32::wrapping_add)
        );
    }
    let scanned = sums.exclusive(Rung::BrentKung, &slice.slice(3..70_000)).expect("runs");
    let expected = tree::exclusive_scan(&Sum::<u32>::new(), &all[3..70_000]);
    assert_eq!(stream.clone_dtoh(&scanned).expect("copied"), expected);
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("records");
    let refused = sums.reduce(Rung::Shuffles, &slice);
    let ended = stream.end_capture(CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    assert!(matches!(refused, Err(Error::StreamIsCapturing)), "{refused:?}");
    ended.expect("the recording goes on");
    assert_eq!(
        sums.reduce(Rung::Shuffles, &slice).expect("runs"),
        (0..100_000_u32).fold(0, u32::wrapping_add)
    );
}

/// A rung that keeps the order never calls `identity` to reduce or to scan inclusively, with any
/// finish.
fn a_semigroup_climbs() {
    FINISHES.into_iter().for_each(a_semigroup_climbs_to);
}

fn a_semigroup_climbs_to(finish: Finish) {
    let joined = Ladder::<Joined>::in_order(device(Tier::Gpu), Joined).finish(finish);
    for length in [1_u32, 2, 31, 33, 1000, 100_001] {
        let ranges: Vec<[u32; 2]> = (0..length).map(|i| [i + 7, i + 8]).collect();
        for rung in Rung::ALL.into_iter().filter(|rung| rung.role() == Role::Reduces && rung.keeps_order()) {
            let joined = joined.reduce(rung, &ranges).expect("runs");
            assert_eq!(joined, [7, length + 7], "{rung:?}, {length} ranges");
        }
        let expected: Vec<[u32; 2]> = (0..length).map(|i| [7, i + 8]).collect();
        for rung in [Rung::KoggeStone, Rung::BrentKung] {
            assert_eq!(joined.inclusive(rung, &ranges).expect("runs"), expected, "{rung:?}, {length} ranges");
        }
    }
}

/// A few lengths, for compute-sanitizer, under which each launch is slow.
fn sanitizer_subset() {
    struct Some;
    impl Visitor for Some {
        fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
        where
            M::Item: Sample,
        {
            if ["sum_of_u32", "max_by_norm"].contains(&name) {
                let all = items(6, 10_000, subject.sampler);
                for length in [1, 100, 10_000] {
                    on_gpu(&device(Tier::Gpu), subject, 128, Finish::Launches, &all[..length]);
                }
            }
        }
    }
    subjects(&mut Some);
}

/// Compiles every rung with every operator to machine code.
struct Compile<'a>(&'a mut Suite);

impl Visitor for Compile<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
    where
        M::Item: Sample,
    {
        self.0.test(Tier::Nvrtc, format!("every_rung_of_{name}_compiles"), move || {
            let newest = jit::architectures().expect("an NVRTC").pop().expect("knows some GPU");
            let target = jit::target(newest).expect("a target");
            let ladder = (subject.ladder)(Device::cpu(), subject.operator);
            for rung in
                [Role::Reduces, Role::Scans, Role::Completes].into_iter().flat_map(|role| subject.rungs(role))
            {
                for threads in [32, 128, 1024] {
                    let source = Source::of_rung::<M>(rung, threads, subject.adds).expect("renders");
                    let kernels =
                        jit::resources(&source, target).unwrap_or_else(|error| panic!("{rung:?}: {error}"));
                    for kernel in kernels {
                        assert_eq!(
                            (kernel.stack_bytes, kernel.spill_bytes),
                            (0, 0),
                            "{rung:?} in blocks of {threads}"
                        );
                    }
                }
                assert!(ladder.source(rung).is_ok());
            }
        });
    }
}

/// A request that a rung cannot serve returns an error before any launch.
fn what_cannot_be_is_refused() {
    #[track_caller]
    fn refused<T: Debug>(result: Result<T, Error>, expected: &str) {
        match result {
            Err(Error::Rung { reason, .. }) => assert!(reason.contains(expected), "{reason}"),
            other => panic!("{other:?}, not `{expected}`"),
        }
    }
    let sums = || Ladder::<Sum<u32>>::new(Device::cpu());
    refused(sums().reduce(Rung::Shuffles, &[1, 2]), "the device is the CPU");
    refused(sums().inclusive(Rung::KoggeStone, &[1, 2]), "the device is the CPU");
    refused(sums().reduce(Rung::KoggeStone, &[1, 2]), "does not reduce");
    refused(sums().exclusive(Rung::Exclusive, &[1, 2]), "does not scan");
    refused(sums().threads(96).source(Rung::Shuffles), "a power of two");
    refused(sums().threads(2048).source(Rung::Shuffles), "32 to 1024");
    let maps = Ladder::in_order(Device::cpu(), AffineComposition::<i64>::new());
    refused(maps.source(Rung::FirstCombine), "must be `Commutative`");
    assert!(maps.source(Rung::Strided).is_ok());
    refused(Ladder::<Max<f64>>::new(Device::cpu()).source(Rung::Atomics), "at most 4 bytes, or adds");
    assert!(Ladder::<Sum<f64>>::new(Device::cpu()).source(Rung::Atomics).is_ok());
    let matrices = Ladder::in_order(Device::cpu(), Matrix2Product::<f64>::new()).threads(1024);
    refused(matrices.source(Rung::Strided), "fewer threads");
    assert!(matrices.threads(512).source(Rung::Strided).is_ok());
}

/// The text of each rung explains its idea, its cost and the next rung.
fn every_rung_explains_itself() {
    for rung in Rung::ALL {
        let said = rung.explanation();
        for part in ["Idea: ", "Cost: ", "Next: "] {
            assert!(
                said.lines().any(|line| line.starts_with(part)),
                "{} says nothing of its {part}",
                rung.file()
            );
        }
    }
}

/// Adds the trials that must find each mutation: three operators, each in its own program.
fn add_trials(trials: &mut Trials<'_>) {
    struct Add<'a, 'b>(&'a mut Trials<'b>);
    impl Visitor for Add<'_, '_> {
        fn visit<M: DeviceMonoid>(&mut self, name: &str, subject: Subject<M>)
        where
            M::Item: Sample,
        {
            if !["sum_of_u32", "xor_of_u16", "maps_of_i64"].contains(&name) {
                return;
            }
            self.0.add(|kernels| {
                let rungs = kernels.add_rungs(subject.operator, 64, subject.adds);
                let all = items(7, 4000, subject.sampler);
                vec![Box::new(move |executor| {
                    let lengths = [1, 2, 3, 63, 64, 65, 127, 128, 129, 500, 1025, 4000];
                    lengths
                        .into_iter()
                        .try_for_each(|length| wrong_on_executor(executor, rungs, subject, &all[..length]))
                })]
            });
        }
    }
    subjects(&mut Add(trials));
}

/// Files that determine how rungs are tested.
const FILES: &[&str] = &["tests/ladder.rs", "src/plan/ladder"];

fn main() -> ExitCode {
    let mut suite = Suite::default();
    suite.test(Tier::Cpu, "what_cannot_be_is_refused", what_cannot_be_is_refused);
    suite.test(Tier::Cpu, "every_rung_explains_itself", every_rung_explains_itself);
    subjects(&mut Compile(&mut suite));
    subjects(&mut OnGpu(&mut suite));
    suite.test(Tier::Gpu, "every_kind_of_input", every_kind_of_input);
    suite.test(Tier::Gpu, "a_semigroup_climbs", a_semigroup_climbs);
    suite.test(Tier::Gpu, "sanitizer_subset", sanitizer_subset);
    let mut tests = Tests::new(&mut suite, "rungs", Checks::Accesses, FILES);
    for threads in [32, 64, 128] {
        subjects(&mut OnExecutor { tests: &mut tests, threads });
    }
    tests.test_of(
        "what_is_said_is_counted".to_owned(),
        |kernels| kernels.add_rungs(Sum::<f32>::new(), 256, true),
        what_is_said_is_counted,
    );
    several_strides(&mut tests);
    let mut tests = Tests::new(&mut suite, "rungs", Checks::Sanitizers, FILES);
    subjects(&mut OnExecutor { tests: &mut tests, threads: 256 });
    MutationSuite { name: "mutations of rungs", mutations: MUTATIONS, add_trials, files: FILES }
        .add_to(&mut suite);
    suite.run()
}
