//! The covariance of two arrays that are read in step, and the line that fits them.

use num_traits::AsPrimitive;

use super::moments::{sample_variance, share};
use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::{DeviceType, aggregate, device, monoid};

/// The result of [`Covariance`].
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::Covariance};
///
/// let covariance = Reduction::<Covariance<f64>>::new(Device::auto());
/// let joint = covariance.run((&[1.0, 2.0, 3.0], &[5.0, 5.0, 8.0]))?.expect("pairs");
/// assert_eq!((joint.mean_x, joint.mean_y, joint.covariance), (2.0, 6.0, 1.0));
/// assert_eq!(joint.sample_covariance(), Some(1.5));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct MeansAndCovariance {
    /// The number of pairs.
    pub count: u64,
    /// The mean of the first array.
    pub mean_x: f64,
    /// The mean of the second array.
    pub mean_y: f64,
    /// The variance of the population of the first array.
    pub variance_x: f64,
    /// The variance of the population of the second array.
    pub variance_y: f64,
    /// The covariance of the population: the mean product of the distances from the means.
    pub covariance: f64,
}

impl MeansAndCovariance {
    /// The unbiased estimate of the covariance of which the pairs are a sample: the sum of the
    /// products over `count - 1`. `None` for a single pair.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Covariance};
    ///
    /// let covariance = Reduction::<Covariance<i32>>::new(Device::auto());
    /// let joint = covariance.run((&[0, 2], &[4, 0]))?.expect("pairs");
    /// assert_eq!((joint.covariance, joint.sample_covariance()), (-2.0, Some(-4.0)));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn sample_covariance(&self) -> Option<f64> {
        sample_variance(self.count, self.covariance)
    }

    /// Pearson's correlation, from -1 to 1: the covariance over the product of the deviations.
    /// `None` if one of the variances is 0.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Covariance};
    ///
    /// let covariance = Reduction::<Covariance<f32>>::new(Device::auto());
    /// let joint = covariance.run((&[1.0, 2.0, 3.0], &[5.0, 3.0, 1.0]))?.expect("pairs");
    /// assert_eq!(joint.correlation(), Some(-1.0));
    /// let joint = covariance.run((&[1.0, 2.0, 3.0], &[5.0, 5.0, 5.0]))?.expect("pairs");
    /// assert_eq!(joint.correlation(), None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn correlation(&self) -> Option<f64> {
        if self.variance_x == 0.0 || self.variance_y == 0.0 {
            return None;
        }
        // The product of the variances could overflow or underflow.
        let ratio = self.covariance / self.variance_x.sqrt() / self.variance_y.sqrt();
        Some(ratio.clamp(-1.0, 1.0))
    }
}

/// The item of [`Covariance`] and of [`LinearFit`].
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{CovarianceItem, CovarianceOperator};
///
/// let pair = |mean_x, mean_y| {
///     CovarianceItem { count: 1, mean_x, mean_y, squares_x: 0.0, squares_y: 0.0, products: 0.0 }
/// };
/// let both = CovarianceOperator.combine(pair(1.0, 5.0), pair(3.0, 9.0));
/// assert_eq!((both.mean_x, both.mean_y), (2.0, 7.0));
/// assert_eq!((both.squares_x, both.squares_y, both.products), (2.0, 8.0, 4.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct CovarianceItem {
    /// The number of pairs.
    pub count: u64,
    /// The mean of the first array.
    pub mean_x: f64,
    /// The mean of the second array.
    pub mean_y: f64,
    /// The sum of the square distances from the mean in the first array. Never negative.
    pub squares_x: f64,
    /// The sum of the square distances from the mean in the second array. Never negative.
    pub squares_y: f64,
    /// The sum of the products of both distances.
    pub products: f64,
}

/// Combines items of [`Covariance`]: the pairwise update of Chan, Golub and LeVeque (1979), for
/// products as Pébay (2008) states it.
///
/// The identity has no pairs. Associative up to rounding.
///
/// ```
/// use warpfold::{Monoid, aggregates::CovarianceOperator};
///
/// assert_eq!(CovarianceOperator.identity().count, 0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CovarianceOperator;

#[monoid]
impl Monoid for CovarianceOperator {
    type Item = CovarianceItem;
    fn identity(&self) -> CovarianceItem {
        CovarianceItem { count: 0, mean_x: 0.0, mean_y: 0.0, squares_x: 0.0, squares_y: 0.0, products: 0.0 }
    }
    #[inline]
    fn combine(&self, a: CovarianceItem, b: CovarianceItem) -> CovarianceItem {
        if a.count == 0 {
            return b;
        }
        if b.count == 0 {
            return a;
        }
        let count = a.count + b.count;
        let (x, y) = (b.mean_x - a.mean_x, b.mean_y - a.mean_y);
        let weight = share(b.count, count);
        let factor = a.count as f64 * weight;
        CovarianceItem {
            count,
            mean_x: a.mean_x + x * weight,
            mean_y: a.mean_y + y * weight,
            squares_x: a.squares_x + b.squares_x + x * x * factor,
            squares_y: a.squares_y + b.squares_y + y * y * factor,
            products: a.products + b.products + x * y * factor,
        }
    }
}

impl Commutative for CovarianceOperator {}

/// The item of a pair.
#[device]
#[inline]
fn item_of_pair(mean_x: f64, mean_y: f64) -> CovarianceItem {
    // The distance of an infinity from itself is NaN.
    let (squares_x, squares_y) = ((mean_x * 0.0).abs(), (mean_y * 0.0).abs());
    CovarianceItem { count: 1, mean_x, mean_y, squares_x, squares_y, products: squares_x + squares_y }
}

zero_sized! {
    /// The means, variances and the covariance of two arrays, `Option<MeansAndCovariance>`.
    ///
    /// With `d = mean(b) - mean(a)` of each array and `n = n(a) + n(b)`, two parts combine as
    ///
    /// - means: `mean(a) + d n(b) / n`
    /// - squares of each array: `squares(a) + squares(b) + d^2 n(a) n(b) / n`
    /// - products: `products(a) + products(b) + d(x) d(y) n(a) n(b) / n`
    ///
    /// The variances are `squares / n`, and the covariance is `products / n`.
    ///
    /// - Item: [`CovarianceItem`], 48 bytes. Exact: the same bits on every device.
    /// - Variances and covariance are those of the population. Means and variances have the bits of
    ///   [`Variance`](super::Variance). An array of equal elements has the variance 0, and the
    ///   covariance 0 with an array of finite elements.
    /// - Rounding: relative to the product of the deviations, the error of the covariance grows as
    ///   `2^-53 |mean| / deviation` of either array. Elements are converted to `f64`.
    /// - Overflow: distances above 1e154 overflow when multiplied. Underflow: products of distances
    ///   below 1e-162 are 0, as if the elements were equal.
    /// - NaN: a NaN or an infinity gives NaN for the covariance, and for the variance of its array.
    ///   The other array has its own variance.
    /// - Empty input: `None`. One pair has variances and covariance 0.
    /// - Source: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing
    ///   sample variances" (1979); Pébay, "Formulas for robust, one-pass parallel computation of
    ///   covariances and arbitrary-order statistical moments" (2008).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Covariance};
    ///
    /// let covariance = Reduction::<Covariance<f64>>::new(Device::auto());
    /// let (x, y) = ([1e9, 1e9 + 1.0, 1e9 + 2.0, 1e9 + 3.0], [0.0, 2.0, 4.0, 6.0]);
    /// let joint = covariance.run((&x, &y))?.expect("pairs");
    /// assert_eq!((joint.variance_x, joint.variance_y, joint.covariance), (1.25, 5.0, 2.5));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Covariance<T> as "Covariance::<f32>"
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>> Aggregate for Covariance<T> {
    type Input = (T, T);
    type Monoid = CovarianceOperator;
    type Output = Option<MeansAndCovariance>;
    #[inline]
    fn prepare(&self, _: u64, pair: (T, T)) -> CovarianceItem {
        item_of_pair(pair.0.as_(), pair.1.as_())
    }
    #[inline]
    fn present(&self, item: CovarianceItem, _: u64) -> Option<MeansAndCovariance> {
        if item.count == 0 {
            return None;
        }
        let count = item.count as f64;
        Some(MeansAndCovariance {
            count: item.count,
            mean_x: item.mean_x,
            mean_y: item.mean_y,
            variance_x: item.squares_x / count,
            variance_y: item.squares_y / count,
            covariance: item.products / count,
        })
    }
}

/// The result of [`LinearFit`]: the line `y = slope x + intercept`.
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::LinearFit};
///
/// let fit = Reduction::<LinearFit<f64>>::new(Device::auto());
/// let line = fit.run((&[0.0, 1.0, 2.0], &[1.0, 3.0, 5.0]))?.expect("two different x");
/// assert_eq!((line.slope, line.intercept, line.r_squared()), (2.0, 1.0, Some(1.0)));
/// assert_eq!(line.at(10.0), 21.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Line {
    /// The number of pairs.
    pub count: u64,
    /// The change of y for each unit of x.
    pub slope: f64,
    /// The y at x = 0.
    pub intercept: f64,
    /// The variance of the population of y.
    pub variance: f64,
    /// The variance of the y of the line, at the x of the pairs. Never negative.
    pub explained_variance: f64,
}

impl Line {
    /// The y of the line at an x.
    ///
    /// ```
    /// use warpfold::aggregates::Line;
    ///
    /// let line = Line { count: 2, slope: 2.0, intercept: 1.0, variance: 1.0, explained_variance: 1.0 };
    /// assert_eq!(line.at(3.0), 7.0);
    /// ```
    pub fn at(&self, x: f64) -> f64 {
        self.slope * x + self.intercept
    }

    /// The coefficient of determination, from 0 to 1: the share of the variance of y that the line
    /// explains. It is the square of the correlation. `None` if all y are equal.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::LinearFit};
    ///
    /// let fit = Reduction::<LinearFit<f64>>::new(Device::auto());
    /// let line = fit.run((&[0.0, 1.0, 2.0, 3.0], &[0.0, 2.0, 2.0, 0.0]))?.expect("two different x");
    /// assert_eq!((line.slope, line.r_squared()), (0.0, Some(0.0)));
    /// let line = fit.run((&[0.0, 1.0], &[7.0, 7.0]))?.expect("two different x");
    /// assert_eq!((line.slope, line.intercept, line.r_squared()), (0.0, 7.0, None));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    pub fn r_squared(&self) -> Option<f64> {
        let share = self.explained_variance / self.variance;
        (self.variance != 0.0).then(|| share.clamp(0.0, 1.0))
    }
}

zero_sized! {
    /// The line that fits pairs best, `Option<Line>`: it has the least sum of squares of
    /// `y[i] - (slope x[i] + intercept)`.
    ///
    /// With the item of [`Covariance`]:
    ///
    /// - slope: `products / squares(x)`
    /// - intercept: `mean(y) - slope mean(x)`
    /// - explained variance: `slope products / n`
    ///
    /// - Item: [`CovarianceItem`], 48 bytes. Exact: the same bits on every device.
    /// - `None` if all x are equal, as for a single pair and for an empty input.
    /// - Rounding: that of [`Covariance`]. An error of the slope is multiplied by `mean(x)` in the
    ///   intercept. So an x far from 0 is better measured from a point nearby.
    /// - Overflow: distances above 1e154 overflow when multiplied. Underflow: products of distances
    ///   below 1e-162 are 0, as if the elements were equal.
    /// - NaN: a NaN or an infinity in x gives NaN for the slope, the intercept and the explained
    ///   variance. In y it also gives a variance of NaN.
    /// - Source: the normal equations, as in SciPy's `linregress`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::LinearFit};
    ///
    /// let fit = Reduction::<LinearFit<f32>>::new(Device::auto());
    /// let line = fit.run((&[0.0, 2.0, 4.0], &[1.0, 4.0, 4.0]))?.expect("two different x");
    /// assert_eq!((line.slope, line.intercept), (0.75, 1.5));
    /// assert_eq!(line.r_squared(), Some(0.75));
    /// assert_eq!(fit.run((&[1.0, 1.0], &[2.0, 3.0]))?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    LinearFit<T> as "LinearFit::<f32>"
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>> Aggregate for LinearFit<T> {
    type Input = (T, T);
    type Monoid = CovarianceOperator;
    type Output = Option<Line>;
    #[inline]
    fn prepare(&self, _: u64, pair: (T, T)) -> CovarianceItem {
        item_of_pair(pair.0.as_(), pair.1.as_())
    }
    #[inline]
    fn present(&self, item: CovarianceItem, _: u64) -> Option<Line> {
        if item.squares_x == 0.0 {
            return None;
        }
        let count = item.count as f64;
        let slope = item.products / item.squares_x;
        Some(Line {
            count: item.count,
            slope,
            intercept: item.mean_y - slope * item.mean_x,
            variance: item.squares_y / count,
            explained_variance: slope * (item.products / count),
        })
    }
}
