//! Compares the built-in aggregates with NumPy, SciPy and exact fractions.
//!
//! `references/generate.py` writes `references/values.csv`. Sums, means, variances, norms and hashes
//! are exact fractions or integers, rounded once, and so are covariances and lines. Skewness,
//! kurtosis and log-sum-exp are SciPy's. Extremes, their indices and histograms are NumPy's.
//!
//! The tests compare the definition of an aggregate: prepare, bracket, present. The definition
//! compiles quickly for every type. `references/devices.rs` compares the devices with it.

#[path = "references/devices.rs"]
mod devices;
#[path = "references/edges.rs"]
mod edges;
#[path = "references/pairs.rs"]
mod pairs;

use std::collections::HashMap;

use warpfold::aggregates::*;
use warpfold::operators::Sum;
use warpfold::{Aggregate, tree};

/// The rounding unit of `f64`.
const UNIT: f64 = f64::EPSILON / 2.0;

/// The result of an aggregate without parameters.
fn run<A: Aggregate + Default>(elements: &[A::Input]) -> A::Output {
    with(A::default(), elements)
}

/// The result of an aggregate, by its definition.
fn with<A: Aggregate>(aggregate: A, elements: &[A::Input]) -> A::Output {
    let prepare = |(index, &element)| aggregate.prepare(index, element);
    let items: Vec<_> = (0..).zip(elements).map(prepare).collect();
    aggregate.present(tree::bracket(&aggregate.monoid(), &items), elements.len() as u64)
}

/// Most levels of the bracket, and so most roundings of one element.
fn levels(count: usize) -> f64 {
    f64::from(count.next_power_of_two().ilog2())
}

#[track_caller]
fn assert_within(got: f64, expected: f64, tolerance: f64, of: &str) {
    let difference = (got - expected).abs();
    assert!(
        difference <= tolerance,
        "{of}: {got:e} and {expected:e} differ by {difference:e} > {tolerance:e}"
    );
}

/// The expected values of one data set.
struct Expected {
    data: &'static str,
    count: usize,
    values: HashMap<&'static str, &'static str>,
}

impl Expected {
    fn all() -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for line in include_str!("references/values.csv").lines().skip(2) {
            let [data, count, quantity, value] = line.split(',').collect::<Vec<_>>()[..] else {
                panic!("a row of four: {line}");
            };
            let count = count.parse().expect("a number");
            if all.last().is_none_or(|last| (last.data, last.count) != (data, count)) {
                all.push(Self { data, count, values: HashMap::new() });
            }
            all.last_mut().expect("pushed").values.insert(quantity, value);
        }
        all
    }

    fn number<T: std::str::FromStr>(&self, quantity: &str) -> Option<T> {
        let value = self.values.get(quantity)?;
        Some(value.parse().unwrap_or_else(|_| panic!("{quantity} of {}: {value}", self.data)))
    }

    fn float(&self, quantity: &str) -> f64 {
        self.number(quantity).unwrap_or_else(|| panic!("{quantity} of {}", self.data))
    }

    fn title(&self, quantity: &str) -> String {
        format!("{quantity} of {} {}", self.count, self.data)
    }

    fn floats(&self) -> Vec<f64> {
        (0..self.count as u64).map(|k| element(self.data, k)).collect()
    }
}

/// 32 bits that depend on k, as in `generate.py`.
fn mixed(k: u64) -> u32 {
    let mut bits = (k as u32).wrapping_mul(2_654_435_761);
    bits ^= bits >> 16;
    bits = bits.wrapping_mul(2_246_822_519);
    bits ^ bits >> 13
}

fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

fn uniform(k: u64) -> f64 {
    f64::from(mixed(k)) / power_of_two(32) - 0.5
}

fn large(k: u64) -> f64 {
    f64::from(mixed(k) as i32) * power_of_two(i64::from((mixed(k) >> 5) % 32))
}

/// Element k of a data set, as in `generate.py`.
fn element(data: &str, k: u64) -> f64 {
    let u = f64::from(mixed(k)) / power_of_two(32);
    match data {
        "uniform" => uniform(k),
        "offset" => 1e9 + uniform(k),
        "skewed" => u * u * u * u * 100.0,
        "cancelling" if k < 400 => large(k),
        "cancelling" if k < 800 => -large(k * 7 % 400),
        "cancelling" => uniform(k),
        "extreme" => uniform(k) * power_of_two(if k % 2 == 1 { 1000 } else { -1000 }),
        "tiny" => uniform(k) * power_of_two(-800),
        "bytes" => f64::from(mixed(k) >> 24),
        "words" => f64::from(mixed(k) as i32),
        _ => panic!("no data set has the name {data}"),
    }
}

/// Every aggregate that also takes integers has the same results for them as for the same `f64`.
macro_rules! of_numbers {
    ($expected:expr, $elements:expr, $type:ty) => {{
        let (expected, elements): (&Expected, &[$type]) = (&$expected, $elements);
        let title = |quantity: &str| expected.title(quantity);
        let magnitude = expected.float("magnitude") / expected.count as f64;
        let levels = levels(expected.count);

        assert_eq!(run::<Count<$type>>(elements), expected.count as u64);

        // Each level of the bracket rounds each partial sum. The reference and the quotient are
        // rounded once.
        let mean = run::<Mean<$type>>(elements).expect("elements");
        assert_within(mean, expected.float("mean"), (levels + 2.0) * UNIT * magnitude, &title("mean"));

        // Comparisons are exact.
        let range = run::<MinMax<$type>>(elements).expect("elements");
        assert_eq!((range.0 as f64, range.1 as f64), (expected.float("min"), expected.float("max")));
        let (smallest, largest) = (run::<ArgMin<$type>>(elements), run::<ArgMax<$type>>(elements));
        assert_eq!(smallest.map(|at| at.index), expected.number("argmin"), "{}", title("argmin"));
        assert_eq!(largest.map(|at| at.index), expected.number("argmax"), "{}", title("argmax"));
        assert_eq!(smallest.map(|at| at.value), Some(elements[expected.float("argmin") as usize]));
        let top: Vec<u64> = run::<TopK<$type, 5>>(elements).iter().map(|at| at.index).collect();
        let places = ["top0", "top1", "top2", "top3", "top4"];
        let best: Vec<u64> = places.into_iter().filter_map(|place| expected.number(place)).collect();
        assert_eq!(top, best, "{}", title("top"));

        if let Some(variance) = expected.number::<f64>("variance") {
            // A mean is rounded in each level. An error of the distance d between two means changes
            // d^2 by 2 d times the error: so by the mean times the deviation.
            let got = run::<Variance<$type>>(elements).expect("elements");
            let error =
                4.0 * (levels + 2.0) * UNIT * (variance + expected.float("mean").abs() * variance.sqrt());
            assert_eq!((got.count, got.mean >= range.0 as f64), (expected.count as u64, true));
            assert_within(got.variance, variance, error, &title("variance"));
            let sample = got.sample_variance();
            assert_eq!(sample.is_some(), expected.count > 1);
            if let (Some(sample), Some(reference)) = (sample, expected.number("sample_variance")) {
                assert_within(sample, reference, 2.0 * error + UNIT * variance, &title("sample variance"));
            }
            let error = error + 4.0 * UNIT * variance;
            let moments = run::<Moments<$type>>(elements).expect("elements");
            assert_within(moments.variance, variance, error, &title("variance among the moments"));
            // Sums of about 10 rounded terms a level, relative to moments of absolute distances,
            // which are a few times larger than those with signs.
            if let (Some(skewness), Some(kurtosis)) =
                (expected.number("skewness"), expected.number("kurtosis"))
            {
                assert_within(
                    moments.skewness,
                    skewness,
                    1e-13 * (1.0 + f64::abs(skewness)),
                    &title("skewness"),
                );
                assert_within(
                    moments.excess_kurtosis,
                    kurtosis,
                    1e-13 * (3.0 + f64::abs(kurtosis)),
                    &title("kurtosis"),
                );
            }
        }
    }};
}

#[test]
fn aggregates_of_floats_are_those_of_the_references() {
    for expected in Expected::all() {
        of_numbers!(expected, &expected.floats(), f64);
    }
}

#[test]
fn aggregates_of_integers_are_those_of_the_references() {
    for expected in Expected::all() {
        match expected.data {
            "bytes" => {
                let bytes: Vec<u8> = expected.floats().iter().map(|&x| x as u8).collect();
                of_numbers!(expected, &bytes, u8);
                let bytes: Vec<u16> = expected.floats().iter().map(|&x| x as u16).collect();
                of_numbers!(expected, &bytes, u16);
                let bytes: Vec<f32> = expected.floats().iter().map(|&x| x as f32).collect();
                of_numbers!(expected, &bytes, f32);
            }
            "words" => {
                let words: Vec<i32> = expected.floats().iter().map(|&x| x as i32).collect();
                of_numbers!(expected, &words, i32);
                let words: Vec<i64> = expected.floats().iter().map(|&x| x as i64).collect();
                of_numbers!(expected, &words, i64);
            }
            _ => {}
        }
    }
}

#[test]
fn wide_sums_of_integers_are_the_true_sums() {
    for expected in Expected::all() {
        if expected.data == "bytes" {
            let bytes: Vec<u8> = expected.floats().iter().map(|&x| x as u8).collect();
            assert_eq!(run::<SumWide<u8>>(&bytes) as f64, expected.float("sum"));
        }
        if expected.data == "words" {
            let words: Vec<i32> = expected.floats().iter().map(|&x| x as i32).collect();
            assert_eq!(run::<SumWide<i32>>(&words) as f64, expected.float("sum"));
        }
    }
}

/// The documented bound, and half a unit more for the rounding of the reference.
#[test]
fn compensated_sums_are_within_their_bound() {
    let mut lost = 0;
    for expected in Expected::all() {
        let (elements, sum, count) = (expected.floats(), expected.float("sum"), expected.count);
        let bound = 2.0 * UNIT * sum.abs() + 4.0 * UNIT * UNIT * levels(count) * expected.float("magnitude");
        assert_within(run::<SumCompensated<f64>>(&elements), sum, bound, &expected.title("compensated sum"));
        lost += usize::from((run::<Sum<f64>>(&elements) - sum).abs() > bound);
    }
    assert!(lost > 0, "a plain sum also passes, so the data are too easy");
}

/// The roots of the sums halve their relative error: see the doc of `Norm`.
#[test]
fn norms_are_those_of_the_references() {
    for expected in Expected::all() {
        let (elements, norm) = (expected.floats(), expected.float("norm"));
        let relative = (levels(expected.count) / 2.0 + 4.0) * UNIT;
        assert_within(run::<Norm<f64>>(&elements), norm, relative * norm, &expected.title("norm"));
        if expected.data == "bytes" {
            let bytes: Vec<f32> = elements.iter().map(|&x| x as f32).collect();
            assert_within(run::<Norm<f32>>(&bytes), norm, relative * norm, &expected.title("norm of f32"));
        }
    }
}

/// `exp` and `ln` of both libraries are within a few units. An error of the sum is one of the
/// logarithm, so the tolerance is absolute: a few units for each level, and of the result.
#[test]
fn log_sum_exps_are_those_of_scipy() {
    for expected in Expected::all() {
        let Some(reference) = expected.number::<f64>("logsumexp") else { continue };
        let units = 4.0 * (levels(expected.count) + 2.0) * (1.0 + reference.abs());
        let elements = expected.floats();
        assert_within(
            run::<LogSumExp<f64>>(&elements),
            reference,
            units * UNIT,
            &expected.title("logsumexp"),
        );
        let halves: Vec<f32> = elements.iter().map(|&x| x as f32).collect();
        // Rounding an element to `f32` changes it, and so the result, by half a unit of its size.
        let unit = f64::from(f32::EPSILON);
        let got = run::<LogSumExp<f32>>(&halves).into();
        assert_within(got, reference, units * unit, &expected.title("logsumexp of f32"));
    }
}

/// Counts are exact, and the edges are NumPy's bit for bit.
#[test]
fn histograms_are_those_of_numpy() {
    for expected in Expected::all() {
        let range = match expected.data {
            "uniform" => (-0.4, 0.4),
            "skewed" => (0.0, 70.0),
            "bytes" => (16.0, 240.0),
            _ => continue,
        };
        let counts = with(Histogram::<f64, 10>::new(range.0, range.1), &expected.floats());
        for (k, &count) in counts.bins.iter().enumerate() {
            let name = format!("bin{k}");
            assert_eq!(Some(count), expected.number(&name), "{}", expected.title(&name));
        }
        assert_eq!(Some(counts.below), expected.number("below"));
        assert_eq!(Some(counts.above), expected.number("above"));
        if expected.data == "bytes" {
            let bytes: Vec<u8> = expected.floats().iter().map(|&x| x as u8).collect();
            assert_eq!(with(Histogram::<u8, 10>::new(16, 240), &bytes), counts);
        }
    }
}

#[test]
fn hashes_are_those_of_long_integers() {
    for expected in Expected::all() {
        let elements = expected.floats();
        match expected.data {
            "bytes" => {
                let bytes: Vec<u8> = elements.iter().map(|&x| x as u8).collect();
                assert_eq!(Some(with(PolynomialHash::new(1_000_003), &bytes)), expected.number("hash"));
            }
            "words" => {
                let words: Vec<u64> = elements.iter().map(|&x| x as i64 as u64).collect();
                assert_eq!(
                    Some(with(PolynomialHashOfWords::new(1_000_003), &words)),
                    expected.number("hash")
                );
            }
            _ => {}
        }
    }
}

/// The coordinates are the elements of a data set from three places on.
#[test]
fn aggregates_of_points_are_those_of_their_coordinates() {
    for expected in Expected::all() {
        let elements = expected.floats();
        let turned = |by: usize| -> Vec<f64> {
            (0..elements.len()).map(|k| elements[(k + by) % elements.len()]).collect()
        };
        let columns = [turned(0), turned(1), turned(2)];
        let points: Vec<[f64; 3]> = (0..elements.len()).map(|k| [0, 1, 2].map(|d| columns[d][k])).collect();
        let means = [0, 1, 2].map(|d| run::<Mean<f64>>(&columns[d]).expect("elements"));
        assert_eq!(run::<Centroid<f64, 3>>(&points), Some(means));
        let bounds = run::<BoundingBox<f64, 3>>(&points).expect("elements");
        assert_eq!(bounds.low, [expected.float("min"); 3]);
        assert_eq!(bounds.high, [expected.float("max"); 3]);
        assert_eq!(run::<First<[f64; 3]>>(&points), points.first().copied());
        assert_eq!(run::<Last<[f64; 3]>>(&points), points.last().copied());
    }
}
