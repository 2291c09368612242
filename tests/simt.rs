//! Tests the rendered source on the CPU, on an executor that is stricter than a GPU.
//!
//! For every operator, length and alignment, the result must have the bits of `tree::bracket`. The
//! tests must also find each mistake of `simt/mutations.rs`.
//!
//! A seed determines the order in which threads advance. A failing test prints its seed, and
//! `WARPFOLD_SIMT_SEED` repeats its run.

#[path = "simt/mutations.rs"]
mod mutations;

use std::marker::PhantomData;
use std::process::ExitCode;

use mutations::MUTATIONS;
use support::checks::Check;
use support::items::{Marked, MarkedBytes, MarkedHalves, Point, Sample, Sampler, Unit, items, standing_out};
use support::mutations::{MutationSuite, Trial, Trials};
use support::operators::{
    self, Lanewise, MaxByNorm, OnlyMarked, OnlyMarkedBytes, OnlyMarkedHalves, Shape, Visitor,
};
use support::policies::{
    MOST, baseline, beside, full_chunks, full_runs, large_kernels, lengths, merging, policies,
};
use support::programs::{Case, Checks, Kernels};
use support::simt::{Executor, Tests, behavior, seed};
use support::tiers::{Suite, Tier};
use warpfold::operators::{AffineComposition, All, Any, BitAnd, BitXor, Matrix2Product, Max, Min, Sum};
use warpfold::{DeviceMonoid, DeviceType, Policy, tree};

/// Size of the longest input, in bytes. It needs a launch of many blocks and another for their
/// partials.
const MAX_BYTES: usize = 256 << 10;
/// Length of the baseline's longest input, in items.
const MAX_OF_BASELINE: usize = 10 << 10;

/// Reduces items on the executor. The error describes a failed launch, or a result that is not the
/// bracket.
fn wrong_on_executor<M: DeviceMonoid>(
    executor: &mut Executor,
    case: Case<M>,
    items: &[M::Item],
    misalignment: usize,
) -> Result<(), String>
where
    M::Item: Sample,
{
    let expected = tree::bracket(&case.operator, items);
    let wrong = match executor.bracket(case, items, misalignment) {
        Ok(got) if M::Item::same_bits(&got, &expected) => return Ok(()),
        Ok(got) => format!("got {got:?}, the bracket is {expected:?}"),
        Err(wrong) => wrong,
    };
    let (length, seed) = (items.len(), executor.seed);
    Err(format!(
        "{length} items, {misalignment} alignments past an aligned address, WARPFOLD_SIMT_SEED={seed}: {wrong}"
    ))
}

fn assert_bracket<M: DeviceMonoid>(
    executor: &mut Executor,
    case: Case<M>,
    items: &[M::Item],
    misalignment: usize,
) where
    M::Item: Sample,
{
    wrong_on_executor(executor, case, items, misalignment).unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// Number of parts into which the lengths of a policy are divided. Each part is a check.
const PARTS: usize = 4;

fn every_length<M: DeviceMonoid>(executor: &mut Executor, case: Case<M>, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    (0..PARTS).for_each(|part| some_lengths(executor, case, sampler, part));
}

fn some_lengths<M: DeviceMonoid>(
    executor: &mut Executor,
    case: Case<M>,
    sampler: Sampler<M::Item>,
    part: usize,
) where
    M::Item: Sample,
{
    // A block of the baseline has a thousand threads, which are slow. So its inputs have at most
    // ten tiles, of one item a thread. Of the lengths from 67 to 300 only those next to whole warps
    // are tested.
    let most = if case.policy.tuned { MOST } else { MAX_OF_BASELINE };
    let most = most.min(MAX_BYTES / size_of::<M::Item>());
    let is_left_out = |length: usize| {
        !case.policy.tuned && (67..=300).contains(&length) && !matches!(length % 32, 0 | 1 | 31)
    };
    for (sampler, most) in [(M::Item::sample as Sampler<M::Item>, 300), (sampler, most)] {
        let all = items(1, most, sampler);
        let lengths = lengths(&case.policy, most, 2).into_iter().filter(|&length| !is_left_out(length));
        for length in lengths.skip(part).step_by(PARTS) {
            assert_bracket(executor, case, &all[..length], 0);
        }
    }
}

/// Start positions in multiples of the item's alignment: all that differ for a load of 16 bytes,
/// and one more.
fn alignments<T>() -> std::ops::RangeInclusive<usize> {
    0..=16_usize.div_ceil(align_of::<T>())
}

fn every_alignment<M: DeviceMonoid>(executor: &mut Executor, case: Case<M>, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all = items(3, 20_000, sampler);
    let row = case.policy.small.row_items() as usize;
    // The baseline loads single items, so its positions do not differ.
    for start in alignments::<M::Item>().filter(|&start| case.policy.tuned || start <= 1) {
        for length in [1, 2, 31, 32, 33, 257, row - 1, row, row + 1, 1000, 1024, 4096, 19_000] {
            // Long inputs are slow, so only the first two positions are tested.
            if length * size_of::<M::Item>() <= MAX_BYTES && (length <= 4096 || start <= 1) {
                assert_bracket(executor, case, &all[start..start + length], start);
            }
        }
    }
}

/// Adds the checks of each operator: its kernels at each part of the lengths, and at every
/// alignment.
struct EveryOperator<'a, 'b> {
    tests: &'a mut Tests<'b>,
    /// If false, the baseline is tested only by `every_alignment`. A block of the baseline has a
    /// thousand threads, which are slow.
    baseline_at_every_length: bool,
}

impl Visitor for EveryOperator<'_, '_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        let policy = Policy::for_item(&M::Item::layout());
        let add = |kernels: &mut Kernels| kernels.add(operator, policy);
        let subject = self.tests.subject(name, behavior(&operator, sampler), add);
        let policies =
            [("all", policy), ("large", large_kernels::<M::Item>()), ("baseline", baseline::<M::Item>())];
        for (kernels, policy) in policies {
            let with = move |check: Check, inputs: &str| {
                let check =
                    check.factor("kernels", kernels).single("inputs", inputs).factor("seen", "accesses");
                check.factor("item size", size_of::<M::Item>()).determined_by(format!("{policy:?}"))
            };
            if policy.tuned || self.baseline_at_every_length {
                for part in 0..PARTS {
                    let title = format!("{name}_by_{kernels}_is_the_bracket_at_every_length_{part}");
                    let test = move |executor: &mut Executor, case: Case<M>| {
                        some_lengths(executor, case.under(policy), sampler, part);
                    };
                    self.tests.check(&subject, title, |check| with(check, &format!("lengths {part}")), test);
                }
            }
            let title = format!("{name}_by_{kernels}_is_the_bracket_at_every_alignment");
            let test = move |executor: &mut Executor, case: Case<M>| {
                every_alignment(executor, case.under(policy), sampler);
            };
            self.tests.check(&subject, title, |check| with(check, "alignments"), test);
        }
    }
}

/// Adds checks under AddressSanitizer and UndefinedBehaviorSanitizer.
struct Sanitized<'a, 'b>(&'a mut Tests<'b>);

impl Visitor for Sanitized<'_, '_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        let policy = Policy::for_item(&M::Item::layout());
        let row = policy.small.row_items() as usize;
        let lengths = [0, 1, 2, 33, 257, row, 1000, 1025, 8193, 19_000];
        let subject =
            self.0.subject(name, behavior(&operator, sampler), |kernels| kernels.add(operator, policy));
        let policies =
            [("all", policy), ("large", large_kernels::<M::Item>()), ("baseline", baseline::<M::Item>())];
        for (kernels, policy) in policies {
            let title = format!("{name}_by_{kernels}_is_clean_under_the_sanitizers");
            let with = |check: Check| {
                let check = check
                    .factor("kernels", kernels)
                    .single("inputs", "few lengths")
                    .factor("seen", "sanitizers");
                check.factor("item size", size_of::<M::Item>()).determined_by(format!("{policy:?}"))
            };
            self.0.check(&subject, title, with, move |executor, case| {
                let all = items(5, 20_000, sampler);
                let case = case.under(policy);
                for (start, length) in
                    [0, 1, 3].into_iter().flat_map(|start| lengths.map(|length| (start, length)))
                {
                    if length * size_of::<M::Item>() <= MAX_BYTES {
                        assert_bracket(executor, case, &all[start..start + length], start);
                    }
                }
            });
        }
    }
}

fn every_policy<M: DeviceMonoid>(tests: &mut Tests<'_>, name: &str, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    for (number, policy) in policies::<M::Item>().into_iter().enumerate() {
        let name = format!("policy_{number}_does_not_move_a_bit_of_{name}");
        tests.test(name, operator, policy, move |executor, case| every_length(executor, case, sampler));
    }
}

fn every_full_run<M: DeviceMonoid>(tests: &mut Tests<'_>, name: &str, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let (name, policy) =
        (format!("full_runs_of_{name}_are_the_bracket_at_every_alignment"), merging::<M::Item>());
    tests.test(name, operator, policy, move |executor, case| {
        let lengths = full_runs(&policy);
        let all = items(11, lengths.iter().max().expect("there are some") + 17, sampler);
        for (start, length) in
            alignments::<M::Item>().flat_map(|start| lengths.iter().map(move |&length| (start, length)))
        {
            assert_bracket(executor, case, &all[start..start + length], start);
        }
    });
}

/// Whole rows for the small kernel: one row, the rows of one block, and the rows of several blocks.
fn every_whole_row<M: DeviceMonoid>(tests: &mut Tests<'_>, name: &str, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let (name, policy) = (
        format!("whole_rows_of_{name}_are_the_bracket_at_every_alignment"),
        Policy::for_item(&M::Item::layout()),
    );
    tests.test(name, operator, policy, move |executor, case| {
        let row = policy.small.row_items() as usize;
        let all = items(29, 64 * row + 17, sampler);
        for (start, rows) in
            alignments::<M::Item>().flat_map(|start| [1, 2, 8, 9, 64].map(|rows| (start, rows)))
        {
            assert_bracket(executor, case, &all[start..start + rows * row], start);
        }
    });
}

fn every_full_chunk<M: DeviceMonoid>(
    tests: &mut Tests<'_>,
    name: &str,
    operator: M,
    sampler: Sampler<M::Item>,
) where
    M::Item: Sample,
{
    // One block with many runs, and several blocks that take chunks by ticket.
    for (runs, max_chunks) in [(16, 3), (4, 12)] {
        let policy = beside::<M::Item>(runs, max_chunks);
        let name = format!("{max_chunks}_full_chunks_of_{name}_are_the_bracket");
        tests.test(name, operator, policy, move |executor, case| {
            let all = items(17, full_chunks(&policy).end() + 1, sampler);
            for length in full_chunks(&policy) {
                for start in [0, 1] {
                    assert_bracket(executor, case, &all[start..start + length], start);
                }
            }
        });
    }
}

/// Reduces full runs in which one item decides the result. The error describes the first wrong
/// result.
fn wrong_if_one_stands_out<M: DeviceMonoid>(
    executor: &mut Executor,
    case: Case<M>,
    pairs: [(M::Item, M::Item); 2],
) -> Result<(), String>
where
    M::Item: Sample,
{
    let length = full_runs(&case.policy)[1];
    standing_out(length + 1, pairs).try_for_each(|all| {
        wrong_on_executor(executor, case, &all[..length], 0)?;
        wrong_on_executor(executor, case, &all[1..], 1)
    })
}

fn one_stands_out<M: DeviceMonoid>(
    tests: &mut Tests<'_>,
    name: &str,
    operator: M,
    pairs: [(M::Item, M::Item); 2],
) where
    M::Item: Sample,
{
    let name = format!("the_one_that_counts_of_{name}_is_found");
    tests.test(name, operator, merging::<M::Item>(), move |executor, case| {
        wrong_if_one_stands_out(executor, case, pairs).unwrap_or_else(|wrong| panic!("{wrong}"));
    });
}

/// Adds the trials that must find each mutation.
fn add_trials(trials: &mut Trials<'_>) {
    fn trial<M: DeviceMonoid>(case: Case<M>, sampler: Sampler<M::Item>) -> Trial
    where
        M::Item: Sample,
    {
        let all = items(7, 40_003, sampler);
        let row = case.policy.small.row_items() as usize;
        Box::new(move |executor| {
            for start in [0, 2, 3] {
                for length in [0, 1, 2, 3, 31, 33, 64, row, 100, 257, 1000, 1025, 2048, 5000, 9000, 40_000] {
                    if case.policy.tuned || length <= MAX_OF_BASELINE {
                        wrong_on_executor(executor, case, &all[start..start + length], start)?;
                    }
                }
            }
            Ok(())
        })
    }
    // One program for each operator. The programs that find most mutations come first, because no
    // program is compiled after one that finds the mutation.
    trials.add(|kernels| {
        let maps = kernels.add(AffineComposition::<u32>::new(), Policy::for_item(&<[u32; 2]>::layout()));
        vec![
            trial(maps, u32::map),
            // One block, with several rows a warp.
            trial(maps.under(Policy { one_block_items: 20_000, ..maps.policy }), u32::map),
            // Another launch reduces the partials.
            trial(maps.under(Policy { small_gathered: 0, ..maps.policy }), u32::map),
            // Parts of rows, at lengths that would otherwise have one item per lane.
            trial(maps.under(Policy { lane_each_items: 0, ..maps.policy }), u32::map),
            trial(maps.under(large_kernels::<[u32; 2]>()), u32::map),
            trial(maps.under(baseline::<[u32; 2]>()), u32::map),
        ]
    });
    trials.add(|kernels| {
        let matrices =
            kernels.add(Matrix2Product::<u32>::new(), Policy::for_item(&<[[u32; 2]; 2]>::layout()));
        vec![trial(matrices, u32::matrix)]
    });
    trials.add(|kernels| {
        let mut small_tiles = large_kernels::<u32>();
        (small_tiles.large.rows, small_tiles.large.warps, small_tiles.max_chunks) = (2, 1, 2);
        let shape = kernels.add(Shape, small_tiles);
        vec![trial(shape, Sample::sample)]
    });
    trials.add(|kernels| {
        let full = kernels.add(Shape, merging::<u32>());
        vec![Box::new(move |executor| {
            let all = items(13, 9000, u32::sample);
            let mut lengths = full_runs(&full.policy).into_iter();
            lengths.try_for_each(|length| wrong_on_executor(executor, full, &all[..length], 0))
        })]
    });
    trials.add(|kernels| {
        let bytes = Lanewise::<u8, 3>(PhantomData);
        let bytes = kernels.add(bytes, Policy::for_item(&<[u8; 3]>::layout()));
        vec![trial(bytes, Sample::sample), trial(bytes.under(large_kernels::<[u8; 3]>()), Sample::sample)]
    });
    trials.add(|kernels| {
        // Few warps, so that each warp fills its shared memory several times.
        let mut few = large_kernels::<[u32; 2]>();
        (few.large.warps, few.max_chunks) = (2, 2);
        let few = kernels.add(AffineComposition::<u32>::new(), few);
        vec![trial(few, u32::map)]
    });
    trials.add(|kernels| {
        let marked = kernels.add(OnlyMarked, Policy::for_item(&Marked::layout()));
        vec![trial(marked.under(baseline::<Marked>()), Sample::sample), trial(marked, Sample::sample)]
    });
    trials.add(|kernels| {
        let greatest = kernels.add(Max::<i8>::new(), merging::<i8>());
        vec![
            Box::new(move |executor| wrong_if_one_stands_out(executor, greatest, [(-128, -1), (-1, 1)])),
            // The missing items of an incomplete row are zeros, which are greater than all of these
            // items.
            trial(
                greatest.under(Policy { lane_each_items: 0, one_block_items: 10_000, ..greatest.policy }),
                |random| i8::sample(random) | i8::MIN,
            ),
        ]
    });
    trials.add(|kernels| {
        let halves = kernels.add(OnlyMarkedHalves, Policy::for_item(&MarkedHalves::layout()));
        let bytes = kernels.add(OnlyMarkedBytes, Policy::for_item(&MarkedBytes::layout()));
        let sum = kernels.add(Sum::<u16>::new(), large_kernels::<u16>());
        let bits = kernels.add(BitXor::<u8>::new(), large_kernels::<u8>());
        let all_bits = kernels.add(BitAnd::<u8>::new(), Policy::for_item(&u8::layout()));
        vec![
            trial(halves, Sample::sample),
            trial(bytes.under(Policy { lane_each_items: 0, ..bytes.policy }), Sample::sample),
            trial(sum, Sample::sample),
            trial(bits, Sample::sample),
            trial(all_bits, |random| u8::sample(random) | 1),
        ]
    });
}

/// Runs the executor's exercises. It must find each mistake, and no error in the correct kernels.
fn exercises() {
    let program = Kernels::exercises().build(2).unwrap_or_else(|said| panic!("{said}"));
    // Kernel, length in items, words of output, and a part of the error for each mistake.
    let expected: [(u32, u64, usize, &[&str]); 5] = [
        (0, 0, 192, &["shared memory", "nobody declared", "races"]),
        (1, 0, 192, &["shared memory", "nobody declared", "races"]),
        (2, 0, 192, &["in ballot"]),
        // Without the barrier, a thread reads a partial that is not yet written, or not published.
        // Which of the two depends on the order of threads.
        (3, 3, 1 + 4 * 64, &["another thread wrote", "wrote", "nobody wrote"]),
        (4, 256, 192, &["asynchronous copy", "asynchronous copy"]),
    ];
    for round in 0..8 {
        let mut executor = program.start(seed().wrapping_add(round));
        let seed = executor.seed;
        for (kernel, length, words, found) in expected {
            let right = executor.exercise(kernel, 0, length, words);
            let right =
                right.unwrap_or_else(|wrong| panic!("exercise {kernel}, WARPFOLD_SIMT_SEED={seed}: {wrong}"));
            match kernel {
                0 => assert_eq!(right[..3], [1, 2, 3]),
                2 => assert!(right.iter().all(|&bits| bits == 0xaaaa_aaaa)),
                3 => assert_eq!(right[1 + 192..], (0..64).map(|k| 3 * k + 3).collect::<Vec<u32>>()[..]),
                4 => assert_eq!(right[1], 1 + 65 + 129 + 193),
                _ => {}
            }
            for (mistake, found) in (1..).zip(found) {
                let wrong = executor.exercise(kernel, mistake, length, words);
                let wrong = wrong.expect_err(&format!("mistake {mistake} of exercise {kernel} is not found"));
                assert!(wrong.contains(found), "mistake {mistake} of exercise {kernel}: {wrong}");
            }
        }
    }
}

/// Files that determine how reductions are tested.
const FILES: &[&str] = &[
    "tests/simt.rs",
    "src/plan/data.rs",
    "src/plan/measured.rs",
    "src/plan/memory.rs",
    "src/plan/kernel.rs",
    "src/plan/reduce.rs",
    "src/plan/shape.rs",
];

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let mut tests = Tests::new(&mut suite, "reductions", Checks::Accesses, FILES);
    operators::structs(&mut EveryOperator { tests: &mut tests, baseline_at_every_length: true });
    let mut every = EveryOperator { tests: &mut tests, baseline_at_every_length: false };
    operators::built_in(&mut every);
    operators::sizes(&mut every);

    let mut tests = Tests::new(&mut suite, "reductions", Checks::Sanitizers, FILES);
    operators::structs(&mut Sanitized(&mut tests));
    operators::sizes(&mut Sanitized(&mut tests));

    let mut tests = Tests::new(&mut suite, "shapes of reductions", Checks::Accesses, FILES);
    every_full_run(&mut tests, "bytes", Sum::<u8>::new(), Sample::sample);
    every_full_run(&mut tests, "words_of_two_bytes", Sum::<u16>::new(), Sample::sample);
    every_full_run(&mut tests, "three_bytes", Lanewise::<u8, 3>(PhantomData), Sample::sample);
    every_full_run(&mut tests, "words", Shape, Sample::sample);
    every_full_chunk(&mut tests, "bytes", Sum::<u8>::new(), Sample::sample);
    every_full_chunk(&mut tests, "words", Shape, Sample::sample);
    every_full_chunk(&mut tests, "matrices", Matrix2Product::<u32>::new(), u32::matrix);
    every_whole_row(&mut tests, "words", Sum::<u32>::new(), Sample::sample);
    every_whole_row(&mut tests, "four_words", Lanewise::<u32, 4>(PhantomData), Sample::sample);
    every_whole_row(&mut tests, "nine_words", Lanewise::<u32, 9>(PhantomData), Sample::sample);
    // Operators with a packed form, which combines several items at once.
    every_full_run(&mut tests, "bits_of_bytes", BitXor::<i8>::new(), Sample::sample);
    every_full_run(&mut tests, "bits_of_words_of_two_bytes", BitXor::<u16>::new(), Sample::sample);
    one_stands_out(&mut tests, "greatest_bytes", Max::<i8>::new(), [(-128, -1), (-1, 1)]);
    one_stands_out(&mut tests, "least_bytes", Min::<u8>::new(), [(255, 127), (128, 127)]);
    one_stands_out(&mut tests, "greatest_words_of_two_bytes", Max::<u16>::new(), [(0, 1), (0x7fff, 0x8000)]);
    one_stands_out(&mut tests, "least_words_of_two_bytes", Min::<i16>::new(), [(1, -1), (-1, -0x8000)]);
    one_stands_out(&mut tests, "truths", Any, [(false, true), (false, true)]);
    one_stands_out(&mut tests, "all_truths", All, [(true, false), (true, false)]);
    every_policy(&mut tests, "f32_sums", Sum::<f32>::new(), f32::unit);
    every_policy(&mut tests, "points", MaxByNorm, Point::sample);
    every_policy(&mut tests, "one_byte", Lanewise::<u8, 1>(PhantomData), Sample::sample);
    every_policy(&mut tests, "100_bytes", Lanewise::<u8, 100>(PhantomData), Sample::sample);
    every_policy(&mut tests, "float_matrices", Matrix2Product::<f32>::new(), f32::matrix);

    suite.test(Tier::Simt, "the_executor_finds_what_it_should", exercises);
    MutationSuite { name: "mutations of reductions", mutations: MUTATIONS, add_trials, files: FILES }
        .add_to(&mut suite);
    suite.run()
}
