//! Tests that every rung of the ladder returns the bracket's value, at every length, on the
//! executor and on a GPU.
//!
//! A rung may round or reorder only where the operator's laws permit it (`Subject`).

#[path = "ladder/executor.rs"]
mod executor;
#[path = "ladder/gpu.rs"]
mod gpu;
#[path = "ladder/mutations.rs"]
mod mutations;
#[path = "ladder/subjects.rs"]
mod subjects;

use std::fmt::Debug;
use std::process::ExitCode;

use executor::{OnExecutor, add_trials, several_strides, what_is_said_is_counted};
use gpu::{OnGpu, a_semigroup_climbs, every_kind_of_input, sanitizer_subset};
use mutations::MUTATIONS;
use subjects::{Subject, Visitor, subjects};
use support::items::Sample;
use support::mutations::MutationSuite;
use support::programs::Checks;
use support::simt::Tests;
use support::tiers::{Suite, Tier};
use warpfold::ladder::{Ladder, Role, Rung};
use warpfold::operators::{AffineComposition, Matrix2Product, Max, Sum};
use warpfold::source::Source;
use warpfold::{Device, DeviceMonoid, Error, jit};
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

/// Files that determine how rungs are tested.
const FILES: &[&str] =
    &["tests/ladder.rs", "tests/ladder/executor.rs", "tests/ladder/subjects.rs", "src/plan/ladder"];

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
