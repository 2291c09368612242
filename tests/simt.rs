//! The rendered source, run on the CPU by an executor that is stricter than a GPU: every operator, every length, every
//! alignment, bit for bit against `tree::bracket`; and mistakes in the templates, each of which must be found.
//!
//! Each run has a seed of its own, which decides in what order threads advance; one that fails is printed, and
//! `WARPFOLD_SIMT_SEED` replays it.

mod support;

use std::process::ExitCode;

use support::items::{Point, Sample, Sampler, Unit, items};
use support::operators::{self, Lanewise, MaxByNorm, OnlyMarked, Shape, Visitor};
use support::policies::{MOST, full_runs, large_kernels, lengths, merging, policies};
use support::simt::{Case, Change, Checks, Executor, Kernels, Mutation, Tests, seed};
use support::tiers::{Suite, Tier};
use warpfold::operators::{AffineComposition, Matrix2Product, Sum};
use warpfold::{DeviceMonoid, DeviceType, Policy, tree};

/// Bytes of the longest input: a launch of many blocks, and another for their partials.
const MOST_BYTES: usize = 256 << 10;

fn assert_bracket<M: DeviceMonoid>(
    executor: &mut Executor,
    case: Case<M>,
    items: &[M::Item],
    misalignment: usize,
) where
    M::Item: Sample,
{
    let expected = tree::bracket(&case.operator, items);
    let seed = seed();
    let what =
        format!("{} items, {misalignment} past an aligned address, WARPFOLD_SIMT_SEED={seed}", items.len());
    match executor.bracket(case, items, misalignment, seed) {
        Ok(got) => {
            assert!(M::Item::same_bits(&got, &expected), "{what}: got {got:?}, the bracket is {expected:?}")
        }
        Err(wrong) => panic!("{what}: {wrong}"),
    }
}

fn every_length<M: DeviceMonoid>(executor: &mut Executor, case: Case<M>, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let most = MOST.min(MOST_BYTES / size_of::<M::Item>());
    for (sampler, most) in [(M::Item::sample as Sampler<M::Item>, 300), (sampler, most)] {
        let all = items(1, most, sampler);
        for length in lengths(&case.policy, most, 2) {
            assert_bracket(executor, case, &all[..length], 0);
        }
    }
}

fn every_alignment<M: DeviceMonoid>(executor: &mut Executor, case: Case<M>, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let all = items(3, 20_000, sampler);
    for start in 0..17 {
        for length in [1, 2, 31, 32, 33, 257, 1000, 1024, 4096, 19_000] {
            if length * size_of::<M::Item>() <= MOST_BYTES {
                assert_bracket(executor, case, &all[start..start + length], start);
            }
        }
    }
}

struct EveryOperator<'a>(&'a mut Tests);

impl Visitor for EveryOperator<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        let name = format!("{name}_is_the_bracket_at_every_length_and_alignment");
        self.0.test(name, operator, Policy::for_item(&M::Item::layout()), move |executor, case| {
            for case in [case, case.under(large_kernels::<M::Item>())] {
                every_length(executor, case, sampler);
                every_alignment(executor, case, sampler);
            }
        });
    }
}

/// Under AddressSanitizer and UndefinedBehaviorSanitizer.
struct Sanitized<'a>(&'a mut Tests);

impl Visitor for Sanitized<'_> {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample,
    {
        const LENGTHS: [usize; 9] = [0, 1, 2, 33, 257, 1000, 1025, 8193, 19_000];
        let name = format!("{name}_is_clean_under_the_sanitizers");
        self.0.test(name, operator, Policy::for_item(&M::Item::layout()), move |executor, case| {
            let all = items(5, 20_000, sampler);
            for case in [case, case.under(large_kernels::<M::Item>())] {
                for (start, length) in
                    [0, 1, 3].into_iter().flat_map(|start| LENGTHS.map(|length| (start, length)))
                {
                    if length * size_of::<M::Item>() <= MOST_BYTES {
                        assert_bracket(executor, case, &all[start..start + length], start);
                    }
                }
            }
        });
    }
}

fn every_policy<M: DeviceMonoid>(tests: &mut Tests, name: &str, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    for (number, policy) in policies::<M::Item>().into_iter().enumerate() {
        let name = format!("policy_{number}_does_not_move_a_bit_of_{name}");
        tests.test(name, operator, policy, move |executor, case| every_length(executor, case, sampler));
    }
}

fn every_full_run<M: DeviceMonoid>(tests: &mut Tests, name: &str, operator: M, sampler: Sampler<M::Item>)
where
    M::Item: Sample,
{
    let (name, policy) =
        (format!("full_runs_of_{name}_are_the_bracket_at_every_alignment"), merging::<M::Item>());
    tests.test(name, operator, policy, move |executor, case| {
        let lengths = full_runs(&policy);
        let all = items(11, lengths.iter().max().expect("there are some") + 5, sampler);
        for (start, length) in (0..5).flat_map(|start| lengths.iter().map(move |&length| (start, length))) {
            assert_bracket(executor, case, &all[start..start + length], start);
        }
    });
}

const MUTATIONS: &[Mutation] = &[
    Mutation { name: "a missing barrier", file: "bracket.cuh", right: "    block_barrier();\n", wrong: "" },
    Mutation {
        name: "a barrier in divergent code",
        file: "bracket.cuh",
        right: "    block_barrier();\n",
        wrong: "    if (begin < block_end) block_barrier();\n",
    },
    Mutation {
        name: "a thread that leaves before a barrier",
        file: "bracket.cuh",
        right: "    block_barrier();\n",
        wrong: "    if (begin >= block_end) return;\n    block_barrier();\n",
    },
    Mutation {
        name: "one warp too many",
        file: "bracket.cuh",
        right: "if (lane_index() < count) value = of_warp[lane_index()];",
        wrong: "if (lane_index() <= count) value = of_warp[lane_index()];",
    },
    Mutation {
        name: "every lane stores",
        file: "bracket.cuh",
        right: "if (lane_index() == 0) of_warp[warp_index()] = value;",
        wrong: "of_warp[warp_index()] = value;",
    },
    Mutation {
        name: "a warp that runs into the next block",
        file: "bracket.cuh",
        right: "const Size length = smaller(run, block_end - begin);",
        wrong: "const Size length = run;",
    },
    Mutation {
        name: "the last warp forgotten",
        file: "bracket.cuh",
        right: "(block_end - block_begin + run - 1) >>",
        wrong: "(block_end - block_begin) >>",
    },
    Mutation {
        name: "four tiles counted as one",
        file: "bracket.cuh",
        right: "parts = MERGED, level += level_of(MERGED);",
        wrong: "parts = MERGED;",
    },
    Mutation {
        name: "every block writes to one place",
        file: "bracket.cuh",
        right: "value.store(arguments.output + chunk);",
        wrong: "value.store(arguments.output);",
    },
    Mutation {
        name: "operands swapped between tiles",
        file: "warp.cuh",
        right: "combine(op, select(upper, received, even), select(upper, odd, received))",
        wrong: "combine(op, select(upper, odd, received), select(upper, received, even))",
    },
    Mutation {
        name: "operands swapped between lanes",
        file: "warp.cuh",
        right: "value = combine(op, value, shuffle_down(value, distance));",
        wrong: "value = combine(op, shuffle_down(value, distance), value);",
    },
    Mutation {
        name: "what does not exist is combined",
        file: "warp.cuh",
        right: "if (lane + distance < count) value",
        wrong: "value",
    },
    Mutation {
        name: "a wrong shuffle distance",
        file: "warp.cuh",
        right: "shuffle_down(value, distance));",
        wrong: "shuffle_down(value, distance + 1));",
    },
    Mutation {
        name: "a shuffle that some lanes miss",
        file: "warp.cuh",
        right: "        const Words<Item> right = shuffle_down(value, distance);\n        if (lane + distance < count) value",
        wrong: "        if (lane + distance >= count) continue;\n        const Words<Item> right = \
                shuffle_down(value, distance);\n        value",
    },
    Mutation {
        name: "the wrong half of the tiles kept",
        file: "warp.cuh",
        right: "shuffle_xor(select(upper, even, odd), distance)",
        wrong: "shuffle_xor(select(upper, odd, even), distance)",
    },
    Mutation {
        name: "tiles that are combined in the wrong order",
        file: "warp.cuh",
        right: "2 * distance < WARP_LANES ? 2 * distance : 1;",
        wrong: "2 * distance < WARP_LANES ? 2 * distance : parts / 2;",
    },
    Mutation {
        name: "tiles that merge at the wrong distance",
        file: "bracket.cuh",
        right: "value = merge(op, pair, value, 2);",
        wrong: "value = merge(op, pair, value, 1);",
    },
    Mutation {
        name: "tiles that wait for others that never come",
        file: "bracket.cuh",
        right: "(came > 0 || tiles.has_next(MERGED))",
        wrong: "(came > 0 || tiles.has_next(2))",
    },
    Mutation {
        name: "an unmasked tail load",
        file: "group.cuh",
        right: "if (present.has(first + 4 * k / sizeof(Item))) word",
        wrong: "word",
    },
    Mutation {
        name: "a word that begins before the input",
        file: "group.cuh",
        right: "if (offset >= 0 && present.has((offset + 3)",
        wrong: "if (present.has((offset + 3)",
    },
    Mutation {
        name: "an off-by-one tail",
        file: "group.cuh",
        right: "return index < count;",
        wrong: "return index <= count;",
    },
    Mutation {
        name: "wide loads from any address",
        file: "warp.cuh",
        right: "WIDTH >= 4 && reinterpret_cast<Size>(items) % WIDTH == 0 && present.has(",
        wrong: "WIDTH >= 4 && present.has(",
    },
    Mutation {
        name: "lanes that read before others have stored",
        file: "tile.cuh",
        right: "        warp_barrier();\n        ask();",
        wrong: "        ask();",
    },
    Mutation {
        name: "a tile that is overwritten while lanes read it",
        file: "tile.cuh",
        right: "before the next tile takes its place.\n        warp_barrier();\n",
        wrong: "before the next tile takes its place.\n",
    },
    Mutation {
        name: "a tile that is loaded where the run has none",
        file: "tile.cuh",
        right: "if (asked + TILE_BYTES <= end) {",
        wrong: "if (asked <= end) {",
    },
    Mutation {
        name: "a word in which the input begins",
        file: "tile.cuh",
        right: "reinterpret_cast<Size>(from) < input) {",
        wrong: "false) {",
    },
    Mutation {
        name: "a word after the input",
        file: "tile.cuh",
        right: "if (skipped != 0 && end + 4 > reinterpret_cast<Size>(last_end)) end -= 4;",
        wrong: "",
    },
    Mutation {
        name: "the word forgotten in which the last item ends",
        file: "tile.cuh",
        right: "if (WITHIN_WORDS && lane_index() == 0) write<4>(slot + place(TILE_CHUNKS), &last);",
        wrong: "",
    },
    Mutation {
        name: "chunks left out on one side alone",
        file: "tile.cuh",
        right: "slot + place(STEP * k + chunk) + within;",
        wrong: "slot + CHUNK * (STEP * k + chunk) + within;",
    },
    Mutation {
        name: "bytes of a word that are not skipped",
        file: "group.cuh",
        right: "k + 1 < COUNT ? word[k + 1] : last, 8 * skipped);",
        wrong: "k + 1 < COUNT ? word[k + 1] : last, 0 * skipped);",
    },
    Mutation {
        name: "halves in the wrong order",
        file: "tile.cuh",
        right: "return combine(op, left, bracket_of<COUNT / 2>(op, middle, next));",
        wrong: "return combine(op, bracket_of<COUNT / 2>(op, middle, next), left);",
    },
    Mutation {
        name: "a carry combined from the right",
        file: "counter.cuh",
        right: "carry & 1; carry >>= 1, ++k) value = combine(op, shuffle_from(digit, k), value);",
        wrong: "carry & 1; carry >>= 1, ++k) value = combine(op, value, shuffle_from(digit, k));",
    },
    Mutation {
        name: "a value that only lane 0 has",
        file: "counter.cuh",
        right: "        value = shuffle_from(value, 0);\n",
        wrong: "",
    },
    Mutation {
        name: "a carry at the wrong level",
        file: "counter.cuh",
        right: "Size carry = rows >> level;",
        wrong: "Size carry = rows;",
    },
];

/// What a few operators do under changed templates: the first thing that is wrong.
fn first_wrong(change: Change<'_>) -> Option<String> {
    fn try_all<M: DeviceMonoid>(
        executor: &mut Executor,
        case: Case<M>,
        sampler: Sampler<M::Item>,
    ) -> Option<String>
    where
        M::Item: Sample,
    {
        let all = items(7, 40_003, sampler);
        for start in [0, 1, 3] {
            for length in [0, 1, 2, 3, 31, 33, 64, 100, 257, 1000, 1025, 2048, 5000, 9000, 40_000] {
                let part = &all[start..start + length];
                match executor.bracket(case, part, start, seed()) {
                    Err(wrong) => return Some(wrong),
                    Ok(got) if !M::Item::same_bits(&got, &tree::bracket(&case.operator, part)) => {
                        return Some(format!("another result for {length} items"));
                    }
                    Ok(_) => {}
                }
            }
        }
        None
    }
    let mut kernels = Kernels::of_templates(Checks::Accesses, change);
    let maps = kernels.add(AffineComposition::<u32>::new(), Policy::for_item(&<[u32; 2]>::layout()));
    let bytes = Lanewise::<u8, 3>(std::marker::PhantomData);
    let bytes = kernels.add(bytes, Policy::for_item(&<[u8; 3]>::layout()));
    // Few warps, whose slots are filled again and again.
    let mut few = large_kernels::<[u32; 2]>();
    (few.large.warps, few.max_blocks) = (2, 2);
    let few = kernels.add(AffineComposition::<u32>::new(), few);
    let mut small_tiles = large_kernels::<u32>();
    (small_tiles.large.rows, small_tiles.large.warps, small_tiles.max_blocks) = (2, 1, 2);
    let shape = kernels.add(Shape, small_tiles);
    let marked = kernels.add(OnlyMarked, Policy::for_item(&support::items::Marked::layout()));
    let program = match kernels.build(1) {
        Ok(program) => program,
        Err(said) => panic!("a mutation must compile: {said}"),
    };
    try_all(&mut program.start(), maps, u32::map)
        .or_else(|| try_all(&mut program.start(), bytes, Sample::sample))
        .or_else(|| try_all(&mut program.start(), maps.under(large_kernels::<[u32; 2]>()), u32::map))
        .or_else(|| try_all(&mut program.start(), few, u32::map))
        .or_else(|| try_all(&mut program.start(), bytes.under(large_kernels::<[u8; 3]>()), Sample::sample))
        .or_else(|| try_all(&mut program.start(), shape, Sample::sample))
        .or_else(|| try_all(&mut program.start(), marked, Sample::sample))
}

/// What the executor finds in kernels that were written for it: nothing in the right ones.
fn exercises() {
    let program = Kernels::exercises().build(2).unwrap_or_else(|said| panic!("{said}"));
    let mut executor = program.start();
    // Kernel, length, words of output, and what is found in each mistake.
    let expected: [(u32, u64, usize, &[&str]); 5] = [
        (0, 0, 192, &["shared memory", "nobody declared", "races"]),
        (1, 0, 192, &["shared memory", "nobody declared", "races"]),
        (2, 0, 192, &["in ballot"]),
        // Without the barrier a partial is read that was not published, or not yet written: the order decides.
        (3, 3, 1 + 4 * 64, &["another thread wrote", "wrote", "nobody wrote"]),
        (4, 256, 192, &["asynchronous copy", "asynchronous copy"]),
    ];
    for round in 0..8 {
        let seed = seed().wrapping_add(round);
        for (kernel, length, words, found) in expected {
            let right = executor.exercise(kernel, 0, length, words, seed);
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
                let wrong = executor.exercise(kernel, mistake, length, words, seed);
                let wrong = wrong.expect_err(&format!("mistake {mistake} of exercise {kernel} is not found"));
                assert!(wrong.contains(found), "mistake {mistake} of exercise {kernel}: {wrong}");
            }
        }
    }
}

fn main() -> ExitCode {
    let mut suite = Suite::default();
    let mut tests = Tests::new(Checks::Accesses, false);
    operators::structs(&mut EveryOperator(&mut tests));
    tests.add_to(&mut suite);

    let mut tests = Tests::new(Checks::Accesses, false);
    every_full_run(&mut tests, "bytes", Sum::<u8>::new(), Sample::sample);
    every_full_run(&mut tests, "words_of_two_bytes", Sum::<u16>::new(), Sample::sample);
    every_full_run(&mut tests, "three_bytes", Lanewise::<u8, 3>(std::marker::PhantomData), Sample::sample);
    every_full_run(&mut tests, "words", Shape, Sample::sample);
    tests.add_to(&mut suite);

    let mut tests = Tests::new(Checks::Accesses, true);
    operators::built_in(&mut EveryOperator(&mut tests));
    operators::sizes(&mut EveryOperator(&mut tests));
    tests.add_to(&mut suite);

    let mut tests = Tests::new(Checks::Accesses, true);
    every_policy(&mut tests, "f32_sums", Sum::<f32>::new(), f32::unit);
    every_policy(&mut tests, "points", MaxByNorm, Point::sample);
    every_policy(&mut tests, "bytes", Lanewise::<u8, 1>(std::marker::PhantomData), Sample::sample);
    every_policy(&mut tests, "100_bytes", Lanewise::<u8, 100>(std::marker::PhantomData), Sample::sample);
    every_policy(&mut tests, "matrices", Matrix2Product::<f32>::new(), f32::matrix);
    tests.add_to(&mut suite);

    let mut tests = Tests::new(Checks::Sanitizers, true);
    operators::structs(&mut Sanitized(&mut tests));
    operators::sizes(&mut Sanitized(&mut tests));
    tests.add_to(&mut suite);

    suite.test(Tier::Simt, "the_executor_finds_what_it_should", exercises);
    suite.test(Tier::Simt, "without_a_mistake_nothing_is_wrong", || {
        assert_eq!(first_wrong(&|_, text| text.to_owned()), None);
    });
    Mutation::test_all(MUTATIONS, &mut suite, first_wrong);
    suite.run()
}
