//! The answers about one column.

use num_traits::AsPrimitive;
use warpfold::aggregates::{
    ArgMax, ArgMin, Filtered, Histogram, HistogramCounts, Indexed, MeanAndVariance, MinMax, Variance,
};
use warpfold::operators::Number;
use warpfold::{Device, Error, Reduction, device};

/// Intervals of a histogram.
pub const BINS: usize = 16;

#[device(type = IsNumber32)]
fn is_number_32(x: f32) -> bool {
    !x.is_nan()
}

#[device(type = IsNumber64)]
fn is_number_64(x: f64) -> bool {
    !x.is_nan()
}

#[device(type = IsFinite32)]
fn is_finite_32(x: f32) -> bool {
    x.is_finite()
}

#[device(type = IsFinite64)]
fn is_finite_64(x: f64) -> bool {
    x.is_finite()
}

/// The aggregates of the numbers that are not missing.
type OfNumbers<T> = (Variance<T>, ArgMin<T>, ArgMax<T>);
type AnswersOfNumbers<T> = (Option<MeanAndVariance>, Option<Indexed<T>>, Option<Indexed<T>>);
/// The answers about the numbers, and the range of the finite ones.
type Answers<T> = (AnswersOfNumbers<T>, Option<(T, T)>);

/// The type of the numbers of a column.
pub trait Described: Number + AsPrimitive<f64> {
    /// All answers, in one read.
    fn answers(device: &Device, column: &[Self]) -> Result<Answers<Self>, Error>;
}

macro_rules! described {
    ($($type:ident by $aggregates:ty;)*) => {$(
        impl Described for $type {
            fn answers(device: &Device, column: &[$type]) -> Result<Answers<$type>, Error> {
                Reduction::<$aggregates>::new(device.clone()).run(column)
            }
        }
    )*};
}
described! {
    f32 by (Filtered<IsNumber32, OfNumbers<f32>>, Filtered<IsFinite32, MinMax<f32>>);
    f64 by (Filtered<IsNumber64, OfNumbers<f64>>, Filtered<IsFinite64, MinMax<f64>>);
    // An integer is never missing.
    i64 by (OfNumbers<i64>, MinMax<i64>);
    u64 by (OfNumbers<u64>, MinMax<u64>);
}

#[derive(Debug)]
pub struct Summary<T: Number> {
    /// None if all numbers are missing, and likewise for the next two.
    pub spread: Option<MeanAndVariance>,
    pub smallest: Option<Indexed<T>>,
    pub largest: Option<Indexed<T>>,
    /// The range of the finite numbers, and how many are in each interval of it.
    pub counts: Option<(f64, f64, HistogramCounts<BINS>)>,
}

/// Reads a column twice: for the answers, and for the histogram of their range.
pub fn of<T: Described>(device: &Device, column: &[T]) -> Result<Summary<T>, Error> {
    let ((spread, smallest, largest), range) = T::answers(device, column)?;
    let counts = match range {
        Some((low, high)) if is_range(low.as_(), high.as_()) => {
            let counts = Reduction::with(device.clone(), Histogram::<T, BINS>::new(low, high)).run(column)?;
            Some((low.as_(), high.as_(), counts))
        }
        _ => None,
    };
    Ok(Summary { spread, smallest, largest, counts })
}

/// Whether a histogram can have this range. The difference of two large numbers is infinite, and that
/// of two integers may be 0 in `f64`.
fn is_range(low: f64, high: f64) -> bool {
    high - low > 0.0 && (high - low).is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;

    #[test]
    fn missing_numbers_keep_the_rows_of_others() {
        let summary = of(&Device::cpu(), &[NAN, 4.0, 1.0, NAN, 7.0, 1.0, NAN]).expect("reduces");
        let spread = summary.spread.expect("numbers");
        assert_eq!((spread.count, spread.mean, spread.sample_variance()), (4, 3.25, Some(8.25)));
        assert_eq!(summary.smallest, Some(Indexed { index: 2, value: 1.0 }));
        assert_eq!(summary.largest, Some(Indexed { index: 4, value: 7.0 }));
        let (low, high, counts) = summary.counts.expect("a range");
        assert_eq!(
            (low, high, counts.nan, counts.bins[0], counts.bins[8], counts.bins[15]),
            (1.0, 7.0, 3, 2, 1, 1)
        );
    }

    #[test]
    fn a_column_without_numbers_has_no_answers() {
        for column in [&[][..], &[NAN, NAN]] {
            let summary = of(&Device::cpu(), column).expect("reduces");
            assert!(summary.spread.is_none() && summary.smallest.is_none() && summary.counts.is_none());
        }
    }

    #[test]
    fn the_histogram_is_of_the_finite_numbers() {
        let summary = of(&Device::cpu(), &[1.0_f32, f32::INFINITY, 2.0, f32::NEG_INFINITY]).expect("reduces");
        assert_eq!(summary.largest, Some(Indexed { index: 1, value: f32::INFINITY }));
        let (low, high, counts) = summary.counts.expect("a range");
        assert_eq!((low, high, counts.below, counts.above), (1.0, 2.0, 1, 1));
    }

    #[test]
    fn a_range_that_a_histogram_cannot_have_is_none() {
        let cpu = Device::cpu();
        assert!(of(&cpu, &[f64::MIN, f64::MAX]).expect("reduces").counts.is_none());
        assert!(of(&cpu, &[0.1, 0.1]).expect("reduces").counts.is_none());
        // Two integers that are one `f64`.
        let summary = of(&cpu, &[i64::MAX - 1, i64::MAX]).expect("reduces");
        assert_eq!(summary.smallest, Some(Indexed { index: 0, value: i64::MAX - 1 }));
        assert!(summary.counts.is_none());
        assert!(of(&cpu, &[0, u64::MAX]).expect("reduces").counts.is_some());
    }
}
