//! The mean, the variance and higher moments.

use num_traits::AsPrimitive;

use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::{DeviceType, aggregate, device, monoid};

/// The result of [`Variance`].
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::Variance};
///
/// let spread = Reduction::<Variance<i32>>::new(Device::auto()).run(&[1, 2, 3])?.expect("elements");
/// assert_eq!((spread.count, spread.mean), (3, 2.0));
/// assert_eq!(spread.sample_variance(), Some(1.0));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct MeanAndVariance {
    /// The number of elements.
    pub count: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The variance of the population: the mean square distance from the mean.
    pub variance: f64,
}

impl MeanAndVariance {
    /// The unbiased estimate of the variance of which the elements are a sample: the sum of the
    /// square distances over `count - 1`. `None` for a single element.
    ///
    /// ```
    /// use warpfold::aggregates::MeanAndVariance;
    ///
    /// let spread = MeanAndVariance { count: 4, mean: 0.0, variance: 3.0 };
    /// assert_eq!(spread.sample_variance(), Some(4.0));
    /// assert_eq!(MeanAndVariance { count: 1, ..spread }.sample_variance(), None);
    /// ```
    pub fn sample_variance(&self) -> Option<f64> {
        sample_variance(self.count, self.variance)
    }
}

/// The sum of `count` squares or products over `count - 1`, from their mean.
pub(super) fn sample_variance(count: u64, variance: f64) -> Option<f64> {
    (count > 1).then(|| variance * (count as f64 / (count - 1) as f64))
}

/// The item of [`Variance`].
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{VarianceItem, VarianceOperator};
///
/// let [a, b] = [1.0, 3.0].map(|mean| VarianceItem { count: 1, mean, squares: 0.0 });
/// let both = VarianceItem { count: 2, mean: 2.0, squares: 2.0 };
/// assert_eq!(VarianceOperator.combine(a, b), both);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct VarianceItem {
    /// The number of elements.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The sum of their square distances from the mean. Never negative.
    pub squares: f64,
}

/// A part of the elements, as a fraction. Most parts are halves, which need no division.
#[device]
#[inline]
pub(super) fn share(part: u64, all: u64) -> f64 {
    if part == all - part { 0.5 } else { part as f64 / all as f64 }
}

/// Combines items of [`Variance`]: the pairwise update of Chan, Golub and LeVeque (1979).
///
/// The identity has no elements. Associative up to rounding.
///
/// ```
/// use warpfold::{Monoid, aggregates::VarianceOperator};
///
/// assert_eq!(VarianceOperator.identity().count, 0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct VarianceOperator;

#[monoid]
impl Monoid for VarianceOperator {
    type Item = VarianceItem;
    fn identity(&self) -> VarianceItem {
        VarianceItem { count: 0, mean: 0.0, squares: 0.0 }
    }
    #[inline]
    fn combine(&self, a: VarianceItem, b: VarianceItem) -> VarianceItem {
        if a.count == 0 {
            return b;
        }
        if b.count == 0 {
            return a;
        }
        let count = a.count + b.count;
        let delta = b.mean - a.mean;
        let weight = share(b.count, count);
        VarianceItem {
            count,
            mean: a.mean + delta * weight,
            squares: a.squares + b.squares + delta * delta * (a.count as f64 * weight),
        }
    }
}

impl Commutative for VarianceOperator {}

zero_sized! {
    /// The number, mean and variance of the elements, `Option<MeanAndVariance>`.
    ///
    /// With `d = mean(b) - mean(a)` and `n = n(a) + n(b)`, two parts combine as
    ///
    /// - mean: `mean(a) + d n(b) / n`
    /// - squares: `squares(a) + squares(b) + d^2 n(a) n(b) / n`
    ///
    /// and the variance is `squares / n`.
    ///
    /// - Item: [`VarianceItem`], 24 bytes. Exact: the same bits on every device.
    /// - The variance is that of the population. [`MeanAndVariance::sample_variance`] is the other
    ///   one. Neither is negative.
    /// - Rounding: the mean of each part is rounded, so the relative error of the variance grows as
    ///   `2^-53 |mean| / deviation`. That of `mean(x^2) - mean(x)^2` grows as its square. Elements
    ///   are converted to `f64`; an integer of more than 53 bits is rounded.
    /// - Overflow: distances above 1e154 overflow when squared, and distances above 1.8e308 in the mean.
    ///   Underflow: distances below 1e-162 have the square 0.
    /// - NaN: a NaN gives NaN. An infinity has the variance NaN, and itself or NaN as the mean.
    /// - Empty input: `None`. One element has the variance 0.
    /// - Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
    ///   sample variances" (1979).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Variance};
    ///
    /// let variance = Reduction::<Variance<f64>>::new(Device::auto());
    /// let spread = variance.run(&[1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0])?.expect("elements");
    /// assert_eq!((spread.mean, spread.variance), (1e9 + 10.0, 22.5));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Variance<T> as "Variance::<f32>"
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>> Aggregate for Variance<T> {
    type Input = T;
    type Monoid = VarianceOperator;
    type Output = Option<MeanAndVariance>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> VarianceItem {
        let mean: f64 = element.as_();
        // The distance of an infinity from itself is NaN.
        VarianceItem { count: 1, mean, squares: (mean * 0.0).abs() }
    }
    #[inline]
    fn present(&self, item: VarianceItem, _: u64) -> Option<MeanAndVariance> {
        if item.count == 0 {
            return None;
        }
        let variance = item.squares / item.count as f64;
        Some(MeanAndVariance { count: item.count, mean: item.mean, variance })
    }
}

/// The result of [`Moments`].
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::Moments};
///
/// let shape = Reduction::<Moments<i32>>::new(Device::auto()).run(&[1, 2, 3])?.expect("elements");
/// assert_eq!((shape.mean, shape.skewness), (2.0, 0.0));
/// assert_eq!(shape.sample_variance(), Some(1.0));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct FourMoments {
    /// The number of elements.
    pub count: u64,
    /// The arithmetic mean.
    pub mean: f64,
    /// The variance of the population.
    pub variance: f64,
    /// The third central moment over the 3/2 power of the variance. NaN for constant elements.
    pub skewness: f64,
    /// The fourth central moment over the square of the variance, less 3. NaN for constant
    /// elements.
    pub excess_kurtosis: f64,
}

impl FourMoments {
    /// The sum of the square distances over `count - 1`: see
    /// [`MeanAndVariance::sample_variance`].
    ///
    /// ```
    /// use warpfold::aggregates::FourMoments;
    ///
    /// let shape = FourMoments { count: 4, mean: 0.0, variance: 3.0, skewness: 0.0, excess_kurtosis: -1.0 };
    /// assert_eq!(shape.sample_variance(), Some(4.0));
    /// ```
    pub fn sample_variance(&self) -> Option<f64> {
        sample_variance(self.count, self.variance)
    }
}

/// The item of [`Moments`].
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{MomentsItem, MomentsOperator};
///
/// let [a, b] = [1.0, 3.0].map(|mean| MomentsItem { count: 1, mean, squares: 0.0, cubes: 0.0, fourths: 0.0 });
/// let both = MomentsOperator.combine(a, b);
/// assert_eq!((both.mean, both.squares, both.cubes, both.fourths), (2.0, 2.0, 0.0, 2.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct MomentsItem {
    /// The number of elements.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// The sum of the squares of their distances from the mean.
    pub squares: f64,
    /// The sum of the cubes of the distances.
    pub cubes: f64,
    /// The sum of the fourth powers of the distances.
    pub fourths: f64,
}

/// Combines items of [`Moments`]: the pairwise update of Pébay (2008).
///
/// The identity has no elements. Associative up to rounding.
///
/// ```
/// use warpfold::{Monoid, aggregates::MomentsOperator};
///
/// assert_eq!(MomentsOperator.identity().count, 0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct MomentsOperator;

#[monoid]
impl Monoid for MomentsOperator {
    type Item = MomentsItem;
    fn identity(&self) -> MomentsItem {
        MomentsItem { count: 0, mean: 0.0, squares: 0.0, cubes: 0.0, fourths: 0.0 }
    }
    #[inline]
    fn combine(&self, a: MomentsItem, b: MomentsItem) -> MomentsItem {
        if a.count == 0 {
            return b;
        }
        if b.count == 0 {
            return a;
        }
        let count = a.count + b.count;
        let delta = b.mean - a.mean;
        // The shares of the elements: p of `a`, q of `b`.
        let (p, q) = (share(a.count, count), share(b.count, count));
        let square = delta * delta * (a.count as f64 * q);
        MomentsItem {
            count,
            mean: a.mean + delta * q,
            squares: a.squares + b.squares + square,
            cubes: a.cubes
                + b.cubes
                + square * delta * (p - q)
                + 3.0 * delta * (p * b.squares - q * a.squares),
            fourths: a.fourths
                + b.fourths
                + square * delta * delta * (p * p - p * q + q * q)
                + 6.0 * delta * delta * (p * p * b.squares + q * q * a.squares)
                + 4.0 * delta * (p * b.cubes - q * a.cubes),
        }
    }
}

impl Commutative for MomentsOperator {}

zero_sized! {
    /// The number, mean, variance, skewness and excess kurtosis, `Option<FourMoments>`.
    ///
    /// The definitions are those of SciPy's `skew` and `kurtosis` with their defaults. With the
    /// central moments `m(k) = mean((x - mean(x))^k)`:
    ///
    /// - skewness: `m(3) / m(2)^1.5`
    /// - excess kurtosis: `m(4) / m(2)^2 - 3`
    ///
    /// Both are NaN if the elements are constant up to rounding: if the standard deviation is at
    /// most 2^-52 of the mean.
    ///
    /// - Item: [`MomentsItem`], 40 bytes. Exact: the same bits on every device.
    /// - Overflow: distances above 1e77 overflow in the fourth power. Underflow: the fourth power of
    ///   distances below 1e-81 is 0, and the kurtosis then NaN or wrong.
    /// - NaN: a NaN gives NaN, and so does an infinity. The mean is then the infinity, or NaN.
    /// - Empty input: `None`.
    /// - Source: Pébay, "Formulas for robust, one-pass parallel computation of covariances and
    ///   arbitrary-order statistical moments" (2008).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Moments};
    ///
    /// let moments = Reduction::<Moments<f32>>::new(Device::auto());
    /// let shape = moments.run(&[0.0, 0.0, 0.0, 4.0])?.expect("elements");
    /// assert_eq!((shape.mean, shape.variance), (1.0, 3.0));
    /// assert!((shape.skewness - 2.0 / 3.0_f64.sqrt()).abs() < 1e-12);
    /// assert!((shape.excess_kurtosis - -2.0 / 3.0).abs() < 1e-12);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Moments<T> as "Moments::<f32>"
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>> Aggregate for Moments<T> {
    type Input = T;
    type Monoid = MomentsOperator;
    type Output = Option<FourMoments>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> MomentsItem {
        let mean: f64 = element.as_();
        // The distance of an infinity from itself is NaN.
        let distance = (mean * 0.0).abs();
        MomentsItem { count: 1, mean, squares: distance, cubes: distance, fourths: distance }
    }
    #[inline]
    fn present(&self, item: MomentsItem, _: u64) -> Option<FourMoments> {
        if item.count == 0 {
            return None;
        }
        let count = item.count as f64;
        let variance = item.squares / count;
        let noise = f64::EPSILON * item.mean;
        let is_constant = variance <= noise * noise;
        let skewness = item.cubes / count / (variance * variance.sqrt());
        let excess_kurtosis = item.fourths / count / (variance * variance) - 3.0;
        Some(FourMoments {
            count: item.count,
            mean: item.mean,
            variance,
            skewness: if is_constant { f64::NAN } else { skewness },
            excess_kurtosis: if is_constant { f64::NAN } else { excess_kurtosis },
        })
    }
}
