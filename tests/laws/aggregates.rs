//! The laws of the operators of the built-in aggregates.

use warpfold::aggregates::*;
use warpfold::laws::proptest::prelude::*;
use warpfold::laws::{self, Laws};
use warpfold::{Aggregate, Maybe, tree};

/// Few values and few indices, so that ties are common. Equal elements of one index have the same
/// bits.
fn indexed() -> impl Strategy<Value = Indexed<f32>> + Clone {
    let special = prop::sample::select(vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
    let value = prop_oneof![4 => (-3_i8..=3).prop_map(f32::from), 1 => special];
    (0..9_u64, value).prop_map(|(index, value)| Indexed { index, value })
}

/// The item of a few elements.
fn of_few<A: Aggregate + Default>(
    elements: impl Strategy<Value = (u64, A::Input)> + Clone,
) -> impl Strategy<Value = warpfold::Item<A>> + Clone
where
    A::Input: std::fmt::Debug,
    warpfold::Item<A>: std::fmt::Debug,
{
    prop::collection::vec(elements, 0..6).prop_map(|elements| {
        let aggregate = A::default();
        let items: Vec<_> = elements.iter().map(|&(index, x)| aggregate.prepare(index, x)).collect();
        tree::bracket(&aggregate.monoid(), &items)
    })
}

#[test]
fn what_is_accumulated_is_the_bracket() {
    laws::accumulation(TopK::<i8, 3>::new(), any::<i8>()).unwrap_or_else(|broken| panic!("{broken}"));
    laws::accumulation(TopK::<f32, 5>::new(), indexed().prop_map(|at| at.value))
        .unwrap_or_else(|broken| panic!("{broken}"));
    laws::accumulation(Histogram::<f32, 4>::new(-1.5, 2.0), indexed().prop_map(|at| at.value))
        .unwrap_or_else(|broken| panic!("{broken}"));
    laws::accumulation(Histogram::<u8, 29>::new(3, 200), any::<u8>())
        .unwrap_or_else(|broken| panic!("{broken}"));
    laws::accumulation(ArgMin::<f32>::new(), indexed().prop_map(|at| at.value))
        .unwrap_or_else(|broken| panic!("{broken}"));
    laws::accumulation(ArgMax::<f32>::new(), indexed().prop_map(|at| at.value))
        .unwrap_or_else(|broken| panic!("{broken}"));
    laws::accumulation(ArgMax::<i8>::new(), any::<i8>()).unwrap_or_else(|broken| panic!("{broken}"));
}

fn tops() -> impl Strategy<Value = TopKItem<f32, 3>> + Clone {
    of_few::<TopK<f32, 3>>(indexed().prop_map(|at| (at.index, at.value)))
}

fn moderate() -> impl Strategy<Value = (u64, f64)> + Clone {
    (-10.0..10.0_f64).prop_map(|x| (0, x))
}

/// The squares of distances are at most 20^2.
fn of_squares(items: &[VarianceItem]) -> f64 {
    items.iter().map(|item| 1.0 + item.count as f64 * 400.0).sum()
}

/// The fourth powers of distances are at most 20^4.
fn of_fourths(items: &[MomentsItem]) -> f64 {
    items.iter().map(|item| 1.0 + item.count as f64 * 160_000.0).sum()
}

fn moderate_pairs() -> impl Strategy<Value = (u64, (f64, f64))> + Clone {
    (-10.0..10.0_f64, -10.0..10.0_f64).prop_map(|pair| (0, pair))
}

/// The products of distances are at most 20^2.
fn of_products(items: &[CovarianceItem]) -> f64 {
    items.iter().map(|item| 1.0 + item.count as f64 * 400.0).sum()
}

fn pairs_of_sums() -> impl Strategy<Value = CompensatedItem<f32>> + Clone {
    of_few::<SumCompensated<f32>>((-1e3_f32..1e3).prop_map(|x| (0, x)))
}

fn exponentials() -> impl Strategy<Value = LogSumExpItem<f64>> + Clone {
    let infinite = prop::sample::select(vec![f64::INFINITY, f64::NEG_INFINITY]);
    let elements = prop_oneof![9 => -700.0..700.0, 1 => infinite];
    of_few::<LogSumExp<f64>>(elements.prop_map(|x| (0, x)))
}

fn of_sums(items: &[LogSumExpItem<f64>]) -> f64 {
    items.iter().map(|item| item.sum).sum()
}

fn squares() -> impl Strategy<Value = NormItem> + Clone {
    let sized = |exponent: u64| move |x: f64| (0, x * f64::from_bits((1023 + exponent) << 52));
    of_few::<Norm<f64>>(prop_oneof![
        moderate(),
        (-1.0..1.0).prop_map(sized(1000)),
        (-1.0..1.0_f64).prop_map(|x| (0, x * f64::MIN_POSITIVE)),
    ])
}

fn boxes() -> impl Strategy<Value = Bounds<f32, 2>> + Clone {
    any::<[f32; 2]>().prop_map(|point| Bounds { low: point, high: point })
}

fn counts() -> impl Strategy<Value = HistogramCounts<2>> + Clone {
    any::<[u32; 5]>().prop_map(|counts| {
        let [below, above, nan, first, second] = counts.map(u64::from);
        HistogramCounts { below, above, nan, bins: [first, second] }
    })
}

fn options() -> impl Strategy<Value = Maybe<u8>> + Clone {
    any::<Option<u8>>().prop_map(Maybe::from)
}

fn hashes() -> impl Strategy<Value = PolynomialHashItem> + Clone {
    let parts = || prop_oneof![3 => 0..(1_u64 << 61) - 1, 1 => (1_u64 << 61) - 5..(1 << 61) - 1];
    (parts(), parts()).prop_map(|(hash, power)| PolynomialHashItem { hash, power })
}

warpfold::laws! {
    arg_min [commutative]: Laws::of(ArgMinOperator::<f32>::new(), indexed());
    arg_max [commutative]: Laws::of(ArgMaxOperator::<f32>::new(), indexed());
    top [commutative]: Laws::of(TopKOperator::<f32, 3>::new(), tops());
    variance [commutative]:
        Laws::of(VarianceOperator, of_few::<Variance<f64>>(moderate())).within(1e-14, of_squares);
    moments [commutative]:
        Laws::of(MomentsOperator, of_few::<Moments<f64>>(moderate())).within(1e-14, of_fourths);
    covariance [commutative]: Laws::of(CovarianceOperator, of_few::<Covariance<f64>>(moderate_pairs()))
        .within(1e-14, of_products);
    // An eighth of the rounding unit of a plain sum, and less in most cases.
    compensated [commutative]:
        Laws::of(CompensatedOperator::<f32>::new(), pairs_of_sums()).within(1e-8, laws::sum_of_magnitudes);
    log_sum_exp [commutative]: Laws::of(LogSumExpOperator::<f64>::new(), exponentials()).within(1e-13, of_sums);
    norm [commutative]: Laws::of(NormOperator, squares()).within(1e-14, laws::sum_of_magnitudes);
    bounding_box [commutative]: Laws::of(BoundingBoxOperator::<f32, 2>::new(), boxes());
    centroid [commutative]: Laws::of(CentroidOperator::<2>, prop::array::uniform2(-1e3..1e3))
        .within(1e-14, laws::sum_of_magnitudes);
    histogram [commutative]: Laws::of(HistogramOperator::<2>, counts());
    first: Laws::of(FirstOperator::<u8>::new(), options());
    last: Laws::of(LastOperator::<u8>::new(), options());
    polynomial_hash: Laws::of(PolynomialHashOperator, hashes());
}
