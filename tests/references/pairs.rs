//! Aggregates of two arrays: the references, and empty, constant, infinite and large arrays.

use super::{Expected, UNIT, assert_within, levels, mixed, power_of_two, run, uniform};
use warpfold::aggregates::*;
use warpfold::{Device, Reduction};

const INFINITY: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// The pairs and the weights of a data set, as in `generate.py`.
fn pairs(expected: &Expected) -> Option<Vec<[f64; 3]>> {
    let noise = match expected.data {
        "uniform" | "cancelling" => 1.0,
        "offset" => 0.25,
        "skewed" => 20.0,
        "bytes" => 300.0,
        "words" => 1e9,
        _ => return None,
    };
    let of = |(k, x): (u64, f64)| {
        [x, 0.5 * x + uniform(k + 5000) * noise, f64::from(mixed(k + 9000)) / power_of_two(32)]
    };
    Some((0..).zip(expected.floats()).map(of).collect())
}

fn all() -> impl Iterator<Item = (Expected, Vec<[f64; 3]>)> {
    Expected::all().into_iter().filter_map(|expected| pairs(&expected).map(|pairs| (expected, pairs)))
}

fn columns(pairs: &[[f64; 3]], second: usize) -> Vec<(f64, f64)> {
    pairs.iter().map(|pair| (pair[0], pair[second])).collect()
}

/// The documented bounds, and half a unit more for the rounding of the reference.
#[test]
fn dot_products_and_weighted_means_are_those_of_the_references() {
    for (expected, pairs) in all() {
        let roundings = levels(expected.count) + 2.0;
        let bound = roundings * UNIT * expected.float("dot_magnitude");
        let dot = run::<Dot<f64>>(&columns(&pairs, 1));
        assert_within(dot, expected.float("dot"), bound, &expected.title("dot"));
        let mean = run::<WeightedMean<f64>>(&columns(&pairs, 2)).expect("weights");
        // Both sums have the error of a dot product.
        let bound = (2.0 * roundings + 2.0) * UNIT * expected.float("weighted_magnitude");
        assert_within(mean, expected.float("weighted_mean"), bound, &expected.title("weighted_mean"));
    }
}

#[test]
fn dot_products_of_integers_are_exact_and_wrap() {
    let words: Vec<(i32, i32)> =
        (0..3000).map(|k| (mixed(k) as i32 >> 8, mixed(k + 5000) as i32 >> 8)).collect();
    let sum: i128 = words.iter().map(|&(x, y)| i128::from(x) * i128::from(y)).sum();
    assert_eq!(i128::from(run::<Dot<i32>>(&words)), sum);
    assert_eq!(run::<Dot<u8>>(&[(255, 255); 1000]), 65_025_000);
    assert_eq!(run::<Dot<i8>>(&[(-128, -128), (-128, 127)]), 128);
    assert_eq!(run::<Dot<i64>>(&[(i64::MAX, 2), (1, 3)]), 1);
    assert_eq!(run::<Dot<u64>>(&[(u64::MAX, u64::MAX)]), 1);
    let floats = [(f32::MAX, f32::MAX), (f32::MAX, -1.0)];
    assert_eq!(run::<Dot<f32>>(&floats), f64::from(f32::MAX) * f64::from(f32::MAX));
    let small = f32::from_bits(1);
    assert_eq!(run::<Dot<f32>>(&[(small, small)]), f64::from(small) * f64::from(small));
}

/// A mean is rounded in each level. Partial means exceed the mean by some deviations at most. An
/// error changes a product of distances by the error times the distance in the other array.
#[test]
fn covariances_and_lines_are_those_of_the_references() {
    for (expected, pairs) in all() {
        let pairs = columns(&pairs, 1);
        let title = |quantity: &str| expected.title(quantity);
        let float = |quantity: &str| expected.float(quantity);
        let got = run::<Covariance<f64>>(&pairs).expect("pairs");
        let (x, y) = (float("variance").sqrt(), float("variance_y").sqrt());
        let (mean_x, mean_y) = (float("mean").abs(), float("mean_y").abs());
        let units = 4.0 * (levels(expected.count) + 2.0) * UNIT;
        let error = units * (x * y + mean_x * y + mean_y * x);
        assert_eq!(got.count, expected.count as u64);
        assert_within(got.covariance, float("covariance"), error, &title("covariance"));
        let of_y = units * (y * y + 2.0 * mean_y * y);
        assert_within(got.variance_y, float("variance_y"), of_y, &title("variance_y"));
        assert_within(got.mean_y, float("mean_y"), units * (mean_y + y), &title("mean_y"));
        let line = run::<LinearFit<f64>>(&pairs);
        if expected.count == 1 {
            assert_eq!((got.sample_covariance(), got.correlation(), line), (None, None, None));
            continue;
        }
        let sample = got.sample_covariance().expect("two pairs");
        assert_within(sample, float("sample_covariance"), 2.0 * error, &title("sample_covariance"));

        // Errors relative to the deviations: of the covariance, and of each variance.
        let relative = 3.0 * units * (1.0 + mean_x / x + mean_y / y);
        let correlation = got.correlation().expect("elements that differ");
        assert_within(correlation, float("correlation"), relative, &title("correlation"));
        let line = line.expect("two different x");
        let of_slope = relative * y / x;
        assert_within(line.slope, float("slope"), of_slope, &title("slope"));
        let of_intercept = of_slope * mean_x + units * (mean_y + y + float("slope").abs() * (mean_x + x));
        assert_within(line.intercept, float("intercept"), of_intercept, &title("intercept"));
        let r_squared = line.r_squared().expect("elements that differ");
        assert_within(r_squared, float("r_squared"), 2.0 * relative, &title("r_squared"));
    }
}

/// The bits of each array's moments are those of `Variance`.
#[test]
fn means_and_variances_of_pairs_are_those_of_each_array() {
    for (_, pairs) in all() {
        let joint = run::<Covariance<f64>>(&columns(&pairs, 1)).expect("pairs");
        let [x, y] = [0, 1].map(|column| {
            let elements: Vec<f64> = pairs.iter().map(|pair| pair[column]).collect();
            run::<Variance<f64>>(&elements).expect("elements")
        });
        assert_eq!((joint.mean_x, joint.variance_x), (x.mean, x.variance));
        assert_eq!((joint.mean_y, joint.variance_y), (y.mean, y.variance));
        let twice: Vec<(f64, f64)> = pairs.iter().map(|pair| (pair[0], pair[0])).collect();
        let same = run::<Covariance<f64>>(&twice).expect("pairs");
        assert_eq!(same.covariance, same.variance_x);
    }
}

#[test]
fn an_empty_input_of_pairs_has_the_documented_result() {
    assert_eq!(run::<Dot<u16>>(&[]), 0);
    assert_eq!(run::<Dot<f32>>(&[]).to_bits(), (-0.0_f64).to_bits());
    assert_eq!(run::<WeightedMean<f32>>(&[]), None);
    assert_eq!(run::<Covariance<f32>>(&[]), None);
    assert_eq!(run::<LinearFit<f32>>(&[]), None);
}

#[test]
fn a_total_weight_of_zero_has_no_mean() {
    assert_eq!(run::<WeightedMean<f64>>(&[(1.0, 0.0), (2.0, 0.0)]), None);
    assert_eq!(run::<WeightedMean<f64>>(&[(1.0, 2.0), (5.0, -2.0)]), None);
    assert_eq!(run::<WeightedMean<f64>>(&[(1.0, 0.0), (2.0, 1e-300)]), Some(2.0));
    assert_eq!(run::<WeightedMean<f64>>(&[(1.0, -0.0), (3.0, 2.0)]), Some(3.0));
    assert_eq!(run::<WeightedMean<i8>>(&[(-128, 127), (127, 127)]), Some(-0.5));
}

#[test]
fn equal_elements_have_no_correlation() {
    for count in [1, 2, 3, 1000] {
        let pairs: Vec<(f64, f64)> = (0..count).map(|k| (0.1, uniform(k))).collect();
        let joint = run::<Covariance<f64>>(&pairs).expect("pairs");
        assert_eq!((joint.variance_x, joint.covariance, joint.correlation()), (0.0, 0.0, None));
        assert_eq!(run::<LinearFit<f64>>(&pairs), None);
        if count == 1 {
            continue;
        }
        let turned: Vec<(f64, f64)> = pairs.iter().map(|&(x, y)| (y, x)).collect();
        let line = run::<LinearFit<f64>>(&turned).expect("two different x");
        assert_eq!((line.slope, line.intercept, line.r_squared()), (0.0, 0.1, None));
    }
}

/// Sums of products without the means would have no digit left.
#[test]
fn a_large_offset_keeps_the_covariance() {
    for offset in [0.0, 1e6, 1e9, 1e12] {
        let pairs =
            [(4.0, 3.0), (7.0, 9.0), (13.0, 21.0), (16.0, 27.0)].map(|(x, y)| (offset + x, offset + y));
        let joint = run::<Covariance<f64>>(&pairs).expect("pairs");
        assert_eq!((joint.variance_x, joint.variance_y, joint.covariance), (22.5, 90.0, 45.0));
        assert_eq!(joint.sample_covariance(), Some(60.0));
        assert_within(joint.correlation().expect("differ"), 1.0, 2.0 * UNIT, "correlation");
        let line = run::<LinearFit<f64>>(&pairs).expect("two different x");
        assert_eq!((line.slope, line.intercept, line.r_squared()), (2.0, -5.0 - offset, Some(1.0)));
    }
}

#[test]
fn a_nan_and_an_infinity_in_a_pair_are_not_lost() {
    let clean: [(f64, f64); 5] = [(1.0, 2.0), (-2.0, 0.5), (4.0, 1.0), (3.0, 7.0), (0.5, 0.25)];
    for (wrong, place, is_first) in [NAN, INFINITY, -INFINITY]
        .into_iter()
        .flat_map(|wrong| (0..10).map(move |k| (wrong, k / 2, k % 2 == 0)))
    {
        let mut pairs = clean;
        *if is_first { &mut pairs[place].0 } else { &mut pairs[place].1 } = wrong;
        let joint = run::<Covariance<f64>>(&pairs).expect("pairs");
        assert!(joint.covariance.is_nan() && joint.correlation().expect("no 0").is_nan());
        assert_eq!((joint.variance_x.is_nan(), joint.variance_y.is_nan()), (is_first, !is_first));
        let line = run::<LinearFit<f64>>(&pairs).expect("no 0");
        assert!(line.slope.is_nan() && line.intercept.is_nan() && line.explained_variance.is_nan());
        assert!(line.r_squared().expect("no 0").is_nan());
        assert_eq!(line.variance.is_nan(), !is_first);
        if wrong.is_nan() {
            assert!(run::<Dot<f64>>(&pairs).is_nan());
            assert!(run::<WeightedMean<f64>>(&pairs).expect("no 0").is_nan());
        }
    }
    assert_eq!(run::<Dot<f64>>(&[(INFINITY, 2.0), (1.0, 1.0)]), INFINITY);
    assert!(run::<Dot<f64>>(&[(INFINITY, 1.0), (1.0, -INFINITY)]).is_nan());
    assert!(run::<Dot<f32>>(&[(f32::INFINITY, 0.0)]).is_nan());
    assert!(run::<WeightedMean<f64>>(&[(INFINITY, 0.0), (1.0, 1.0)]).expect("a weight").is_nan());
    assert_eq!(run::<WeightedMean<f64>>(&[(INFINITY, 1.0), (1.0, 1.0)]), Some(INFINITY));
}

/// Neither the product of both variances nor its root is in the range of `f64`.
#[test]
fn correlations_neither_overflow_nor_underflow() {
    for scale in [1e-150, 1e-100, 1.0, 1e100, 1e150] {
        let pairs = [(1.0, 3.0), (2.0, 1.0), (4.0, 5.0)].map(|(x, y)| (x * scale, y * scale));
        let correlation = run::<Covariance<f64>>(&pairs).expect("pairs").correlation();
        let expected = 4.0 / (112.0_f64 / 3.0).sqrt();
        assert_within(correlation.expect("differ"), expected, 1e-15, "correlation");
    }
}

/// Arrays in step, through the public call.
#[test]
fn several_aggregates_of_pairs_are_read_once() {
    let all = (Dot::<f32>::new(), Covariance::<f32>::new(), LinearFit::<f32>::new());
    let (x, y) = ([1.0, 2.0, 3.0, 4.0], [3.0, 5.0, 7.0, 9.0]);
    let (dot, joint, line) = Reduction::with(Device::cpu(), all).run((&x, &y)).expect("runs");
    assert_eq!((dot, joint.map(|joint| joint.covariance)), (70.0, Some(2.5)));
    assert_eq!(line.map(|line| (line.slope, line.at(0.0))), Some((2.0, 1.0)));
}
