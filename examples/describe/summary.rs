//! The answers about one column.

use std::marker::PhantomData;

use num_traits::AsPrimitive;
use warpfold::aggregates::{
    ArgMax, ArgMin, Filtered, Histogram, HistogramCounts, Indexed, Masked, MeanAndVariance, MinMax, Variance,
};
use warpfold::operators::Number;
use warpfold::{Bit, Bitmap, Device, Error, Reduction, device};

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
    /// All answers, in one read. The bits of a validity tell which integers are there.
    fn answers(device: &Device, column: &[Self], validity: Option<&[u8]>) -> Result<Answers<Self>, Error>;
}

macro_rules! floats {
    ($($type:ident $is_number:ident $is_finite:ident;)*) => {$(
        impl Described for $type {
            fn answers(device: &Device, column: &[$type], _: Option<&[u8]>) -> Result<Answers<$type>, Error> {
                type Of = (Filtered<$is_number, OfNumbers<$type>>, Filtered<$is_finite, MinMax<$type>>);
                Reduction::<Of>::new(device.clone()).run(column)
            }
        }
    )*};
}
floats! {
    f32 IsNumber32 IsFinite32;
    f64 IsNumber64 IsFinite64;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Described for $type {
            fn answers(device: &Device, column: &[$type], validity: Option<&[u8]>) -> Result<Answers<$type>, Error> {
                type Of = (OfNumbers<$type>, MinMax<$type>);
                type OfValid = (Masked<OfNumbers<$type>, Bit>, Masked<MinMax<$type>, Bit>);
                match validity {
                    None => Reduction::<Of>::new(device.clone()).run(column),
                    Some(bytes) => {
                        let validity = Bitmap::new(bytes, 0, column.len())?;
                        Reduction::<OfValid>::new(device.clone()).run((column, validity))
                    }
                }
            }
        }
    )*};
}
integers! { i64 u64 }

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
pub fn of<T: Described>(device: &Device, column: &[T], validity: Option<&[u8]>) -> Result<Summary<T>, Error> {
    let ((spread, smallest, largest), range) = T::answers(device, column, validity)?;
    let counts = match range {
        Some((low, high)) if is_range(low.as_(), high.as_()) => {
            let histogram = Histogram::<T, BINS>::new(low, high);
            let counts = match validity {
                None => Reduction::with(device.clone(), histogram).run(column)?,
                Some(bytes) => {
                    let masked = Masked::<_, Bit>(histogram, PhantomData);
                    let validity = Bitmap::new(bytes, 0, column.len())?;
                    Reduction::with(device.clone(), masked).run((column, validity))?
                }
            };
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
        let summary = of(&Device::cpu(), &[NAN, 4.0, 1.0, NAN, 7.0, 1.0, NAN], None).expect("reduces");
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
            let summary = of(&Device::cpu(), column, None).expect("reduces");
            assert!(summary.spread.is_none() && summary.smallest.is_none() && summary.counts.is_none());
        }
    }

    #[test]
    fn the_histogram_is_of_the_finite_numbers() {
        let summary =
            of(&Device::cpu(), &[1.0_f32, f32::INFINITY, 2.0, f32::NEG_INFINITY], None).expect("reduces");
        assert_eq!(summary.largest, Some(Indexed { index: 1, value: f32::INFINITY }));
        let (low, high, counts) = summary.counts.expect("a range");
        assert_eq!((low, high, counts.below, counts.above), (1.0, 2.0, 1, 1));
    }

    #[test]
    fn missing_integers_are_left_out() {
        let summary = of(&Device::cpu(), &[9_i64, 2, 0, 4], Some(&[0b1010])).expect("reduces");
        assert_eq!(summary.spread.map(|spread| (spread.count, spread.mean)), Some((2, 3.0)));
        assert_eq!(summary.smallest, Some(Indexed { index: 1, value: 2 }));
        let (low, high, counts) = summary.counts.expect("a range");
        assert_eq!((low, high, counts.bins.iter().sum::<u64>(), counts.below), (2.0, 4.0, 2, 0));
    }

    #[test]
    fn a_range_that_a_histogram_cannot_have_is_none() {
        let cpu = Device::cpu();
        assert!(of(&cpu, &[f64::MIN, f64::MAX], None).expect("reduces").counts.is_none());
        assert!(of(&cpu, &[0.1, 0.1], None).expect("reduces").counts.is_none());
        // Two integers that are one `f64`.
        let summary = of(&cpu, &[i64::MAX - 1, i64::MAX], None).expect("reduces");
        assert_eq!(summary.smallest, Some(Indexed { index: 0, value: i64::MAX - 1 }));
        assert!(summary.counts.is_none());
        assert!(of(&cpu, &[0, u64::MAX], None).expect("reduces").counts.is_some());
    }
}
