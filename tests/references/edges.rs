//! Empty inputs, single elements, NaN, infinities, ties, and large offsets.

use super::{run, with};
use warpfold::aggregates::*;
use warpfold::operators::{All, Any};

const INFINITY: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn an_empty_input_has_the_documented_result() {
    assert_eq!(run::<Count<f32>>(&[]), 0);
    assert_eq!(run::<SumWide<i8>>(&[]), 0);
    assert_eq!(run::<SumWide<f32>>(&[]).to_bits(), (-0.0_f64).to_bits());
    assert_eq!(run::<SumCompensated<f32>>(&[]).to_bits(), (-0.0_f32).to_bits());
    assert_eq!(run::<Mean<u64>>(&[]), None);
    assert_eq!(run::<Variance<f32>>(&[]), None);
    assert_eq!(run::<Moments<i16>>(&[]), None);
    assert_eq!(run::<MinMax<f64>>(&[]), None);
    assert_eq!(run::<ArgMin<u8>>(&[]), None);
    assert_eq!(run::<ArgMax<f32>>(&[]), None);
    assert_eq!(run::<Norm<f32>>(&[]).to_bits(), 0);
    assert_eq!(run::<Norm<f64>>(&[]).to_bits(), 0);
    assert_eq!(run::<LogSumExp<f64>>(&[]), -INFINITY);
    assert_eq!(run::<TopK<f32, 3>>(&[]).iter().count(), 0);
    assert_eq!(run::<BoundingBox<i32, 2>>(&[]), None);
    assert_eq!(run::<Centroid<i32, 2>>(&[]), None);
    assert_eq!(run::<First<u16>>(&[]), None);
    assert_eq!(run::<Last<u16>>(&[]), None);
    assert_eq!(with(PolynomialHash::new(2), &[]), 0);
    let none = HistogramCounts { below: 0, above: 0, nan: 0, bins: [0; 4] };
    assert_eq!(with(Histogram::<f32, 4>::new(0.0, 1.0), &[]), none);
    assert_eq!((run::<All>(&[]), run::<Any>(&[])), (true, false));
}

#[test]
fn a_single_element_is_its_own_mean_and_has_no_variance() {
    let spread = run::<Variance<f64>>(&[-7.5]).expect("an element");
    assert_eq!(spread, MeanAndVariance { count: 1, mean: -7.5, variance: 0.0 });
    assert_eq!(spread.sample_variance(), None);
    let shape = run::<Moments<f64>>(&[-7.5]).expect("an element");
    assert_eq!((shape.count, shape.mean, shape.variance), (1, -7.5, 0.0));
    assert!(shape.skewness.is_nan() && shape.excess_kurtosis.is_nan());
    assert_eq!(run::<LogSumExp<f64>>(&[-7.5]), -7.5);
    assert_eq!(run::<Norm<f64>>(&[-7.5]), 7.5);
}

/// SciPy returns NaN for constant elements, with a warning about cancellation.
#[test]
fn constant_elements_have_no_skewness() {
    for count in [2, 3, 1000] {
        let shape = run::<Moments<f64>>(&vec![0.1; count]).expect("elements");
        assert!(shape.skewness.is_nan() && shape.excess_kurtosis.is_nan(), "{shape:?}");
        assert!(shape.variance >= 0.0);
    }
}

/// The textbook example: 22.5 is the exact variance, and `mean(x^2) - mean(x)^2` gives 0 or noise.
#[test]
fn a_large_offset_keeps_the_variance() {
    for offset in [0.0, 1e6, 1e9, 1e12] {
        let elements = [4.0, 7.0, 13.0, 16.0].map(|x| offset + x);
        let spread = run::<Variance<f64>>(&elements).expect("elements");
        assert_eq!((spread.mean, spread.variance), (offset + 10.0, 22.5));
        assert_eq!(spread.sample_variance(), Some(30.0));
    }
}

#[test]
fn variances_are_never_negative() {
    let mut state = 1_u64;
    for count in 1..200 {
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            f64::from_bits(state >> 12 | 0x4330_0000_0000_0000)
        };
        let elements: Vec<f64> = (0..count).map(|_| next()).collect();
        let spread = run::<Variance<f64>>(&elements).expect("elements");
        assert!(spread.variance >= 0.0 && spread.variance.is_sign_positive(), "{spread:?}");
    }
}

#[test]
fn a_nan_is_not_lost() {
    for place in 0..5 {
        let mut elements = [1.0, -2.0, INFINITY, 3.0, 0.5];
        elements[place] = NAN;
        assert!(run::<SumWide<f64>>(&elements).is_nan());
        assert!(run::<SumCompensated<f64>>(&elements).is_nan());
        assert!(run::<Mean<f64>>(&elements).expect("elements").is_nan());
        assert!(run::<Variance<f64>>(&elements).expect("elements").variance.is_nan());
        let shape = run::<Moments<f64>>(&elements).expect("elements");
        assert!(shape.variance.is_nan() && shape.skewness.is_nan() && shape.excess_kurtosis.is_nan());
        let range = run::<MinMax<f64>>(&elements).expect("elements");
        assert!(range.0.is_nan() && range.1.is_nan());
        assert!(run::<Norm<f64>>(&elements).is_nan());
        assert!(run::<Norm<f32>>(&elements.map(|x| x as f32)).is_nan());
        assert!(run::<LogSumExp<f64>>(&elements).is_nan());
        assert_eq!(run::<ArgMin<f64>>(&elements).map(|at| at.index), Some(place as u64));
        assert_eq!(run::<ArgMax<f64>>(&elements).map(|at| at.index), Some(place as u64));
        assert_eq!(run::<TopK<f64, 2>>(&elements).indices[0], place as u64);
        assert_eq!(with(Histogram::<f64, 3>::new(0.0, 9.0), &elements).nan, 1);
    }
    let two = [1.0, NAN, 5.0, NAN];
    assert_eq!(run::<ArgMin<f64>>(&two).map(|at| at.index), Some(1));
    assert_eq!(run::<TopK<f64, 3>>(&two).indices, [1, 3, 2]);
}

#[test]
fn infinities_are_as_in_numpy_and_scipy() {
    let elements = [1.0, INFINITY, -3.0];
    assert_eq!(run::<Mean<f64>>(&elements), Some(INFINITY));
    assert_eq!(run::<SumCompensated<f64>>(&elements), INFINITY);
    assert_eq!(run::<SumCompensated<f64>>(&[-INFINITY, 1.0]), -INFINITY);
    assert!(run::<SumCompensated<f64>>(&[INFINITY, 2.0, -INFINITY]).is_nan());
    assert_eq!(run::<SumCompensated<f64>>(&[f64::MAX, f64::MAX, 1.0]), INFINITY);
    assert!(run::<Variance<f64>>(&elements).expect("elements").variance.is_nan());
    assert!(run::<Variance<f64>>(&[INFINITY]).expect("an element").variance.is_nan());
    assert_eq!(run::<MinMax<f64>>(&elements), Some((-3.0, INFINITY)));
    assert_eq!(run::<Norm<f64>>(&[1.0, -INFINITY]), INFINITY);
    assert_eq!(run::<Norm<f32>>(&[1.0, f32::NEG_INFINITY]), INFINITY);
    assert_eq!(run::<LogSumExp<f64>>(&elements), INFINITY);
    assert_eq!(run::<LogSumExp<f64>>(&[INFINITY, INFINITY, -INFINITY]), INFINITY);
    assert_eq!(run::<LogSumExp<f64>>(&[-INFINITY, -INFINITY]), -INFINITY);
    assert_eq!(run::<LogSumExp<f64>>(&[-INFINITY, 2.0]), 2.0);
    assert_eq!(run::<ArgMax<f64>>(&[-INFINITY]), Some(Indexed { index: 0, value: -INFINITY }));
    assert_eq!(run::<TopK<f64, 2>>(&[-INFINITY]).count, 1);
}

#[test]
fn ties_go_to_the_first_element() {
    let elements = [0.0, -0.0, 3.0, 3.0, -2.0, -2.0_f32];
    assert_eq!(run::<ArgMax<f32>>(&elements).map(|at| at.index), Some(2));
    assert_eq!(run::<ArgMin<f32>>(&elements).map(|at| at.index), Some(4));
    assert_eq!(run::<TopK<f32, 5>>(&elements).indices, [2, 3, 0, 1, 4]);
    let least = run::<ArgMax<i8>>(&[i8::MIN, i8::MIN]);
    assert_eq!(least, Some(Indexed { index: 0, value: i8::MIN }));
    let greatest = run::<ArgMin<u64>>(&[u64::MAX; 3]);
    assert_eq!(greatest, Some(Indexed { index: 0, value: u64::MAX }));
    // -0 is below +0 for a minimum.
    let (low, high) = run::<MinMax<f32>>(&[0.0, -0.0]).expect("elements");
    assert!(low.is_sign_negative() && high.is_sign_positive());
}

#[test]
fn lists_of_every_length_are_merged() {
    fn check<const K: usize>() {
        for count in [1, K - 1, K, K + 1, 3 * K, 777] {
            let elements: Vec<u32> = (0..count as u64).map(|k| super::mixed(k) % 64).collect();
            let mut order: Vec<u64> = (0..count as u64).collect();
            order.sort_by_key(|&k| (std::cmp::Reverse(elements[k as usize]), k));
            order.truncate(K);
            let largest = run::<TopK<u32, K>>(&elements);
            assert!(largest.iter().map(|at| at.index).eq(order.iter().copied()), "{K} of {count}");
            assert!(largest.iter().all(|at| at.value == elements[at.index as usize]));
            assert!(largest.indices[order.len()..].iter().all(|&index| index == u64::MAX));
        }
    }
    check::<1>();
    check::<2>();
    check::<3>();
    check::<5>();
    check::<6>();
    check::<7>();
    check::<8>();
    check::<13>();
    check::<21>();
}

#[test]
fn wide_sums_wrap_at_64_bits_only() {
    assert_eq!(run::<SumWide<i8>>(&[i8::MIN; 1000]), -128_000);
    assert_eq!(run::<SumWide<u32>>(&[u32::MAX; 3]), 3 * u64::from(u32::MAX));
    assert_eq!(run::<SumWide<i64>>(&[i64::MAX, 1]), i64::MIN);
    assert_eq!(run::<SumWide<f32>>(&[f32::MAX; 4]), 4.0 * f64::from(f32::MAX));
}

/// f64 has 53 bits: the documented limit of exact means of integers.
#[test]
fn means_of_integers_do_not_overflow() {
    assert_eq!(run::<Mean<u64>>(&[u64::MAX; 4]), Some(u64::MAX as f64));
    assert_eq!(run::<Mean<i64>>(&[i64::MIN; 4]), Some(i64::MIN as f64));
    assert_eq!(run::<Mean<i8>>(&[i8::MIN, i8::MAX]), Some(-0.5));
}

#[test]
fn norms_neither_overflow_nor_underflow() {
    let close =
        |got: f64, expected: f64| assert!((got / expected - 1.0).abs() < 4e-16, "{got:e} {expected:e}");
    for scale in [1.0, 1e-300, 1e-160, 1e-154, 1e150, 1e160, 1e300, f64::MIN_POSITIVE] {
        close(run::<Norm<f64>>(&[3.0 * scale, -4.0 * scale]), 5.0 * scale);
    }
    let least = f64::from_bits(1);
    assert_eq!(run::<Norm<f64>>(&[least]), least);
    assert_eq!(run::<Norm<f64>>(&[3.0 * least, 4.0 * least]), 5.0 * least);
    assert_eq!(run::<Norm<f64>>(&[f64::MAX]), f64::MAX);
    assert_eq!(run::<Norm<f64>>(&[f64::MAX, f64::MAX]), INFINITY);
    // Small and medium elements of one size, and medium and large ones.
    let (low, high) = (f64::from_bits((1023 - 511) << 52), f64::from_bits((1023 + 486) << 52));
    close(run::<Norm<f64>>(&[low * 0.75, low]), low * 1.25);
    close(run::<Norm<f64>>(&[high * 4.0 / 3.0, high]), high * 5.0 / 3.0);
    let f32s = [f32::MAX, f32::MAX];
    close(run::<Norm<f32>>(&f32s), f64::from(f32::MAX) * 2.0_f64.sqrt());
    close(run::<Norm<f32>>(&[f32::from_bits(1)]), f64::from(f32::from_bits(1)));
}

#[test]
fn the_edges_of_a_histogram_belong_to_the_interval_above() {
    let counts =
        with(Histogram::<f64, 4>::new(-1.0, 1.0), &[-1.0, -0.5, 0.0, 0.5, 1.0, -1.0 - 1e-15, 1.0 + 1e-15]);
    assert_eq!((counts.bins, counts.below, counts.above, counts.nan), ([1, 1, 1, 2], 1, 1, 0));
    let infinite = with(Histogram::<f32, 1>::new(0.0, 1.0), &[f32::INFINITY, f32::NEG_INFINITY]);
    assert_eq!((infinite.bins, infinite.below, infinite.above), ([0], 1, 1));
    for k in 0..10 {
        let edge = f64::from(k) * (0.7 / 10.0);
        let counts = with(Histogram::<f64, 10>::new(0.0, 0.7), &[edge]);
        assert_eq!(counts.bins[k as usize], 1, "edge {k}");
    }
}

#[test]
fn hashes_tell_orders_and_lengths_apart() {
    let hash = |text: &[u8]| with(PolynomialHash::new(0x1234_5678_9abc), text);
    assert_ne!(hash(b"ab"), hash(b"ba"));
    assert_ne!(hash(b"a"), hash(b"\0a"));
    assert_ne!(hash(b"\0"), hash(b"\0\0"));
    let words = |words: &[u64]| with(PolynomialHashOfWords::new(u64::MAX), words);
    assert!(words(&[u64::MAX; 100]) < (1 << 61) - 1);
}

#[test]
fn a_mean_with_a_histogram_is_read_once() {
    let both = (Mean::<f32>::new(), Histogram::<f32, 2>::new(0.0, 1.0), MinMax::<f32>::new());
    let (mean, counts, range) = with(both, &[0.25, 0.25, 1.0]);
    assert_eq!((mean, counts.bins, range), (Some(0.5), [2, 1], Some((0.25, 1.0))));
}
