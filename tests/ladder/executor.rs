//! Tests of rungs on the executor, which runs kernels without a GPU.

use super::subjects::{FINISHES, Subject, Visitor, lengths, subjects};
use support::items::{Sample, items};
use support::mutations::Trials;
use support::programs::Kernels;
use support::rungs::{Counts, Rungs};
use support::simt::{Executor, Tests};
use warpfold::ladder::{Finish, Role, Rung};
use warpfold::operators::Sum;
use warpfold::{DeviceMonoid, tree};

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

pub struct OnExecutor<'a, 'b> {
    pub tests: &'a mut Tests<'b>,
    pub threads: u32,
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
pub fn several_strides(tests: &mut Tests<'_>) {
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
pub fn what_is_said_is_counted(executor: &mut Executor, rungs: Rungs<Sum<f32>>) {
    let items = vec![1.0; 1 << 12];
    let mut of = |rung: Rung| {
        let scans = rung.role() == Role::Scans;
        executor.counts(rungs, rung, scans, &items).unwrap_or_else(|wrong| panic!("{rung:?}: {wrong}"))
    };
    let document = include_str!("../../docs/LADDER.md");
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

/// Adds the trials that must find each mutation: three operators, each in its own program.
pub fn add_trials(trials: &mut Trials<'_>) {
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
