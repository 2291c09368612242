//! Tests of scans on the executor, which runs the rendered source on the CPU.

use std::marker::PhantomData;

use warpfold::operators::Sum;
use warpfold::plan::{ScanPolicy, ScanShape};
use warpfold::{DeviceMonoid, DeviceType};

use crate::mutations::MUTATIONS;
use crate::{in_groups, in_rows, large, lengths, policies, scans, tiny, whole};
use support::checks::Check;
use support::items::{Marked, Sample, Sampler, Unit, items};
use support::mutations::{MutationSuite, Trial, Trials};
use support::operators::{self, Lanewise, OnlyMarked, Shape, Visitor};
use support::programs::{Case, Checks, Kernels};
use support::simt::{Executor, ScanOptions, Tests, behavior};
use support::tiers::Suite;

/// Size of the executor's longest input, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// Files that determine how scans are tested.
const FILES: &[&str] = &[
    "tests/scan.rs",
    "tests/scan/executor.rs",
    "src/plan/data.rs",
    "src/plan/memory.rs",
    "src/plan/scan.rs",
    "src/plan/shape.rs",
];

/// Adds tests of every operator and of several policies, tests under the sanitizers, and every
/// mutation.
pub fn add_to(suite: &mut Suite) {
    let mut tests = Tests::new(suite, "scans", Checks::Accesses, FILES);
    operators::structs(&mut OnExecutor { tests: &mut tests, checks: Checks::Accesses, step: 1 });
    // The tests of reductions cover what operators compute. Here the item sizes matter.
    operators::sizes(&mut OnExecutor { tests: &mut tests, checks: Checks::Accesses, step: 5 });
    let mut tests = Tests::new(suite, "scans", Checks::Sanitizers, FILES);
    operators::structs(&mut OnExecutor { tests: &mut tests, checks: Checks::Sanitizers, step: 3 });
    let mut tests = Tests::new(suite, "shapes of scans", Checks::Accesses, FILES);
    every_policy_on_executor(&mut tests, "f32_sums", Sum::<f32>::new(), f32::unit);
    every_policy_on_executor(&mut tests, "shapes", Shape, Sample::sample);
    every_policy_on_executor(&mut tests, "bytes", Lanewise::<u8, 1>(PhantomData), Sample::sample);
    every_policy_on_executor(&mut tests, "100_bytes", Lanewise::<u8, 100>(PhantomData), Sample::sample);
    MutationSuite { name: "mutations of scans", mutations: MUTATIONS, add_trials, files: FILES }
        .add_to(suite);
}

/// Runs an inclusive scan to a separate output, and an exclusive scan in place. The error describes
/// the first difference.
fn wrong_on_executor<M: DeviceMonoid>(
    executor: &mut Executor,
    case: Case<M, ScanPolicy>,
    items: &[M::Item],
    misalignment: (usize, usize),
    shared: &mut Vec<u8>,
) -> Result<(), String>
where
    M::Item: Sample,
{
    let expected = scans(&case.operator, items);
    for (exclusive, in_place) in [(false, false), (true, true)] {
        let asked = ScanOptions { exclusive, in_place, misalignment };
        let what = format!("{} items, {asked:?}, WARPFOLD_SIMT_SEED={}", items.len(), executor.seed);
        let got = executor.scan(case, items, asked, shared).map_err(|wrong| format!("{what}: {wrong}"))?;
        let expected = &expected[usize::from(exclusive)];
        let differs = got.iter().zip(expected).position(|(got, expected)| !M::Item::same_bits(got, expected));
        if let Some(at) = differs {
            return Err(format!("{what}: place {at} is {:?}, the scan is {:?}", got[at], expected[at]));
        }
    }
    Ok(())
}

fn every_length_on_executor<M: DeviceMonoid>(
    executor: &mut Executor,
    case: Case<M, ScanPolicy>,
    sampler: Sampler<M::Item>,
    step: usize,
) where
    M::Item: Sample,
{
    let most = MAX_BYTES / size_of::<M::Item>();
    let all = items(1, most, sampler);
    let edges = items(1, 300, M::Item::sample);
    let mut shared = Vec::new();
    for length in lengths(&case.policy, most).into_iter().step_by(step) {
        let items = if length <= 300 { &edges[..length] } else { &all[..length] };
        if let Err(wrong) = wrong_on_executor(executor, case, items, (0, 0), &mut shared) {
            panic!("{wrong}");
        }
    }
    for misalignment in [(1, 0), (0, 1), (2, 3), (4, 4)] {
        for length in [5, 1000, 9000] {
            if length <= most
                && let Err(wrong) =
                    wrong_on_executor(executor, case, &all[..length], misalignment, &mut shared)
            {
                panic!("{wrong}");
            }
        }
    }
}

struct OnExecutor<'a, 'b> {
    tests: &'a mut Tests<'b>,
    checks: Checks,
    /// Every `step`-th length is tested.
    step: usize,
}

impl Visitor for OnExecutor<'_, '_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        let default = ScanPolicy::for_item(&M::Item::layout());
        let add = |kernels: &mut Kernels| kernels.add(operator, default);
        let subject = self.tests.subject(name, behavior(&operator, sampler), add);
        let (step, checks) = (self.step, self.checks);
        for (tiles, policy) in
            [("all", default), ("whole", whole::<M::Item>()), ("large", large::<M::Item>())]
        {
            let title =
                format!("{name}_in_{tiles}_tiles_is_the_scan_at_every_length_and_alignment_{checks:?}");
            let with = |check: Check| {
                let check = check.factor("tiles", tiles).factor("item size", size_of::<M::Item>());
                check.factor("seen", format!("{checks:?}")).determined_by(format!("{step}, {policy:?}"))
            };
            self.tests.check(&subject, title, with, move |executor, case| {
                every_length_on_executor(executor, case.under(policy), sampler, step);
            });
        }
    }
}

fn every_policy_on_executor<M: DeviceMonoid>(
    tests: &mut Tests<'_>,
    name: &str,
    operator: M,
    sampler: Sampler<M::Item>,
) where
    M::Item: Sample,
{
    for (number, policy) in policies::<M::Item>().into_iter().enumerate() {
        let name = format!("policy_{number}_does_not_move_a_bit_of_scans_of_{name}");
        tests.test(name, operator, policy, move |executor, case| {
            every_length_on_executor(executor, case, sampler, 1);
        });
    }
}

/// Adds the trials that must find each mutation.
fn add_trials(trials: &mut Trials<'_>) {
    fn trial<M: DeviceMonoid>(case: Case<M, ScanPolicy>, sampler: Sampler<M::Item>) -> Trial
    where
        M::Item: Sample,
    {
        let all = items(7, 40_003, sampler);
        let tile = case.policy.large.tile_items(case.policy.large.warps) as usize;
        Box::new(move |executor| {
            let mut shared = Vec::new();
            for misalignment in [(0, 0), (1, 1), (0, 2)] {
                for length in [1, 2, 31, 33, 500, 1000, 33 * tile, 70 * tile + 5, 1057 * tile] {
                    let length = length.min(all.len());
                    wrong_on_executor(executor, case, &all[..length], misalignment, &mut shared)?;
                }
            }
            Ok(())
        })
    }
    // One program for each shape of tile. The programs that find most mutations come first, because
    // no program is compiled after one that finds the mutation.
    trials.add(|kernels| {
        let mut units = large::<u32>();
        units.large = ScanShape { run_items: 16, rows: 1, unit_items: 4, warps: 2, groups: 1, ..units.large };
        let in_units = kernels.add(Shape, units);
        units.few_tiles = u64::MAX;
        vec![trial(in_units, Sample::sample), trial(in_units.under(units), Sample::sample)]
    });
    trials.add(|kernels| {
        let bytes = kernels.add(Lanewise::<u8, 3>(PhantomData), ScanPolicy::for_item(&<[u8; 3]>::layout()));
        let marked = kernels.add(OnlyMarked, ScanPolicy::for_item(&Marked::layout()));
        vec![trial(bytes, Sample::sample), trial(marked, Sample::sample)]
    });
    trials.add(|kernels| {
        let rows = kernels.add(Shape, in_rows::<u32>(2).expect("chunks"));
        let marked = kernels.add(OnlyMarked, in_rows::<Marked>(1).expect("chunks"));
        vec![trial(rows, Sample::sample), trial(marked, Sample::sample)]
    });
    trials.add(|kernels| {
        let tiny = [tiny(1), in_groups(), tiny(4)].map(|policy| kernels.add(Shape, policy));
        tiny.map(|case| trial(case, Sample::sample)).into()
    });
    trials.add(|kernels| {
        let three_words =
            kernels.add(Lanewise::<u32, 3>(PhantomData), ScanPolicy::for_item(&<[u32; 3]>::layout()));
        vec![trial(three_words, Sample::sample)]
    });
}
