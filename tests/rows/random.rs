//! Random cases: an aggregate, a shape or offsets, an alignment, and a backend.
//!
//! `WARPFOLD_RANDOM_CASES` is the number of cases of each aggregate.

use std::fmt::Debug;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use support::aggregates::{Visitor, all};
use support::drawn::Drawn;
use support::items::items;
use support::segments::SegmentCase;
use support::selection;
use support::simt::Executor;
use support::tiers::{Suite, Tier, device};
use warpfold::plan::Segments;
use warpfold::{DeviceAggregate, Item, Reduction};

use crate::segments::{Bounds, neighbours, segments_are_right, wrong_by_offsets};
use crate::{extent, rows_are_right, wrong_rows};

/// Cases of an aggregate in a run of all tests.
const CASES: usize = 30;
/// The executor takes as long for one case as the CPU for so many.
const CASES_OF_EXECUTOR: usize = 30;

/// Elements, and the segments to reduce.
struct Case<'a, T> {
    elements: &'a [T],
    start: usize,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    /// Rows, or columns.
    Matrix(Segments),
    /// And whether they are given as begins and ends.
    Offsets(Bounds, bool),
}

/// A number up to `most`, at least 1. Every magnitude is as likely.
fn number(random: &mut SmallRng, most: usize) -> usize {
    let magnitude = random.random_range(0.0..1.0) * (most as f64 + 1.0).ln();
    (magnitude.exp() as usize).clamp(1, most)
}

fn shape(random: &mut SmallRng, length: usize) -> Shape {
    let kind = random.random_range(0..4);
    if kind < 2 {
        let columns = number(random, length);
        let gap =
            if random.random_range(0..2) == 0 { 0 } else { random.random_range(0..length - columns + 1) };
        let pitch = (columns + gap) as u64;
        let (columns, rows) = (columns as u64, length as u64 / pitch);
        return Shape::Matrix(match kind {
            0 => Segments { count: rows, length: columns, pitch, stride: 1 },
            _ => Segments { count: columns, length: rows, pitch: 1, stride: pitch },
        });
    }
    let (count, longest) = (number(random, 400), number(random, length));
    if kind == 2 {
        return Shape::Offsets(neighbours(random, count, longest, length), false);
    }
    let mut pair = || {
        let begin = random.random_range(0..length);
        (begin, length.min(begin + random.random_range(0..longest + 1)))
    };
    // Long pairs overlap, so there are fewer.
    Shape::Offsets((0..count.min(1 + 4 * length / longest)).map(|_| pair()).collect(), true)
}

/// Calls `check` with random cases.
fn for_cases<A: DeviceAggregate<Input: Drawn>>(
    seed: u64,
    cases: usize,
    most: usize,
    mut check: impl FnMut(&Case<'_, A::Input>) -> Result<(), String>,
) {
    let random = &mut SmallRng::seed_from_u64(seed);
    let pool = items(seed, 2 * most + 8, A::Input::draw);
    for _ in 0..cases {
        let (length, start) = (number(random, most), random.random_range(0..5));
        let from = random.random_range(0..most) + start;
        let shape = shape(random, length);
        let elements = match &shape {
            Shape::Matrix(segments) => &pool[from..from + extent(segments)],
            Shape::Offsets(..) => &pool[from..from + length],
        };
        let case = Case { elements, start, shape };
        let shape = &case.shape;
        check(&case).unwrap_or_else(|wrong| {
            panic!(
                "WARPFOLD_SEED={seed}, {length} elements {start} from an aligned address, {shape:?}: {wrong}"
            )
        });
    }
}

fn cases() -> usize {
    let cases = std::env::var("WARPFOLD_RANDOM_CASES");
    cases.map_or(CASES, |cases| cases.parse().expect("WARPFOLD_RANDOM_CASES is a number"))
}

fn most<A: DeviceAggregate>(bytes: usize) -> usize {
    bytes / size_of::<A::Input>().max(size_of::<Item<A>>() / 8).max(4)
}

fn runs<A: DeviceAggregate<Input: Drawn, Output: Debug>>(tier: Tier, aggregate: A) {
    let reduction = Reduction::with(device(tier), aggregate);
    let (seed, cases) = (selection::Request::of_environment().seed, cases());
    // On a GPU every case is a call of a driver, so fewer and larger ones.
    let (cases, bytes) = if tier == Tier::Gpu { (cases / 3, 256 << 10) } else { (cases, 16 << 10) };
    for_cases::<A>(seed, cases, most::<A>(bytes), |Case { elements, start, shape }| match shape {
        Shape::Matrix(segments) => rows_are_right(&reduction, &aggregate, elements, *segments, *start),
        Shape::Offsets(bounds, in_pairs) => {
            segments_are_right(&reduction, &aggregate, elements, bounds, *in_pairs, *start)
        }
    });
}

pub(crate) fn runs_on_executor<A: DeviceAggregate<Input: Drawn, Output: Debug>>(
    executor: &mut Executor,
    case: SegmentCase<A>,
) {
    let seed = executor.seed;
    let mut kind = seed as usize % 100;
    for_cases::<A>(seed, cases().div_ceil(CASES_OF_EXECUTOR), most::<A>(24 << 10), |random| {
        kind += 1;
        let Case { elements, start, shape } = random;
        match shape {
            Shape::Matrix(segments) => wrong_rows(executor, case, elements, *segments, *start),
            Shape::Offsets(bounds, in_pairs) => {
                wrong_by_offsets(executor, case, elements, bounds, *in_pairs, *start, kind)
            }
        }
    });
}

struct Random<'a>(&'a mut Suite);

impl Visitor for Random<'_> {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A) {
        for tier in [Tier::Cpu, Tier::Gpu] {
            self.0.test(tier, format!("random_segments_of_{name}"), move || runs(tier, aggregate));
        }
    }
}

/// Adds the tests with random cases, except those on the executor.
pub(crate) fn add_to(suite: &mut Suite) {
    all(&mut Random(suite));
}
