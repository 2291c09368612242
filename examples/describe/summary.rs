//! The answers about one column.

use num_traits::AsPrimitive;
use warpfold::aggregates::{ArgMax, ArgMin, Filtered, Indexed, Masked, MeanAndVariance, Variance};
use warpfold::operators::Number;
use warpfold::{Bit, Bitmap, Device, Error, Reduction, device};

use crate::adaptive_histogram::{AdaptiveHistogram, Counts};

#[device(type = IsNumber32)]
fn is_number_32(x: f32) -> bool {
    !x.is_nan()
}

#[device(type = IsNumber64)]
fn is_number_64(x: f64) -> bool {
    !x.is_nan()
}

/// The aggregates of the numbers that are not missing.
type OfNumbers<T> = (Variance<T>, ArgMin<T>, ArgMax<T>);
type AnswersOfNumbers<T> = (Option<MeanAndVariance>, Option<Indexed<T>>, Option<Indexed<T>>);
/// The answers about the numbers, and their histogram.
type Answers<T> = (AnswersOfNumbers<T>, Counts);

/// The type of the numbers of a column.
pub trait Described: Number + AsPrimitive<f64> {
    /// All answers, in one read. The bits of a validity tell which integers are there.
    fn answers(device: &Device, column: &[Self], validity: Option<&[u8]>) -> Result<Answers<Self>, Error>;
}

macro_rules! floats {
    ($($type:ident $is_number:ident;)*) => {$(
        impl Described for $type {
            fn answers(device: &Device, column: &[$type], _: Option<&[u8]>) -> Result<Answers<$type>, Error> {
                type Of = (Filtered<$is_number, OfNumbers<$type>>, AdaptiveHistogram<$type>);
                Reduction::<Of>::new(device.clone()).run(column)
            }
        }
    )*};
}
floats! {
    f32 IsNumber32;
    f64 IsNumber64;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Described for $type {
            fn answers(device: &Device, column: &[$type], validity: Option<&[u8]>) -> Result<Answers<$type>, Error> {
                type Of = (OfNumbers<$type>, AdaptiveHistogram<$type>);
                type OfValid = Masked<Of, Bit>;
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
    /// The histogram of the finite numbers.
    pub counts: Counts,
}

/// Reads a column once.
pub fn of<T: Described>(device: &Device, column: &[T], validity: Option<&[u8]>) -> Result<Summary<T>, Error> {
    let ((spread, smallest, largest), counts) = T::answers(device, column, validity)?;
    Ok(Summary { spread, smallest, largest, counts })
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
        assert_eq!((summary.counts.edge(0), summary.counts.width()), (1.0, 0.5));
        assert_eq!(summary.counts.bins(), [2, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_column_without_numbers_has_no_answers() {
        for column in [&[][..], &[NAN, NAN]] {
            let summary = of(&Device::cpu(), column, None).expect("reduces");
            assert!(
                summary.spread.is_none() && summary.smallest.is_none() && summary.counts.bins().is_empty()
            );
        }
    }

    #[test]
    fn the_histogram_is_of_the_finite_numbers() {
        let summary =
            of(&Device::cpu(), &[1.0_f32, f32::INFINITY, 2.0, f32::NEG_INFINITY], None).expect("reduces");
        assert_eq!(summary.largest, Some(Indexed { index: 1, value: f32::INFINITY }));
        let counts = summary.counts;
        assert_eq!((counts.bins().iter().sum::<u64>(), counts.below, counts.above), (2, 1, 1));
    }

    #[test]
    fn missing_integers_are_left_out() {
        let summary = of(&Device::cpu(), &[9_i64, 2, 0, 4], Some(&[0b1010])).expect("reduces");
        assert_eq!(summary.spread.map(|spread| (spread.count, spread.mean)), Some((2, 3.0)));
        assert_eq!(summary.smallest, Some(Indexed { index: 1, value: 2 }));
        assert_eq!((summary.counts.edge(0), summary.counts.bins().iter().sum::<u64>()), (2.0, 2));
    }

    #[test]
    fn every_range_has_a_histogram() {
        let cpu = Device::cpu();
        let counts = |column: &[f64]| of(&cpu, column, None).expect("reduces").counts.bins().to_vec();
        assert_eq!(counts(&[f64::MIN, f64::MAX]).iter().sum::<u64>(), 2);
        assert_eq!(counts(&[0.1, 0.1]), [2]);
        // Two integers that are one `f64`.
        let summary = of(&cpu, &[i64::MAX - 1, i64::MAX], None).expect("reduces");
        assert_eq!(summary.smallest, Some(Indexed { index: 0, value: i64::MAX - 1 }));
        assert_eq!(summary.counts.bins(), [2]);
        assert_eq!(of(&cpu, &[0, u64::MAX], None).expect("reduces").counts.bins().len(), 9);
    }
}
