//! Aggregates of points, which are arrays of coordinates.

use num_traits::AsPrimitive;

use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::operators::Number;
use crate::{DeviceType, aggregate, monoid};

/// The result and the item of [`BoundingBox`]: two opposite corners.
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{BoundingBoxOperator, Bounds};
///
/// let [a, b] = [[0, 5], [3, 1]].map(|point| Bounds { low: point, high: point });
/// let both = BoundingBoxOperator::<i32, 2>::new().combine(a, b);
/// assert_eq!(both, Bounds { low: [0, 1], high: [3, 5] });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Bounds<T: DeviceType, const D: usize> {
    /// The smallest value of each coordinate.
    pub low: [T; D],
    /// The largest value of each coordinate.
    pub high: [T; D],
}

zero_sized! {
    /// The smallest box that holds two boxes: the operator of [`BoundingBox`].
    ///
    /// The identity holds no point: its low corner is above its high one.
    BoundingBoxOperator<T, D> as "BoundingBoxOperator::<f32, 3>"
}

#[monoid]
impl<T: Number, const D: usize> Monoid for BoundingBoxOperator<T, D> {
    type Item = Bounds<T, D>;
    fn identity(&self) -> Bounds<T, D> {
        Bounds { low: [<T as Number>::MAX; D], high: [<T as Number>::MIN; D] }
    }
    #[inline]
    fn combine(&self, left: Bounds<T, D>, right: Bounds<T, D>) -> Bounds<T, D> {
        let mut both = left;
        for k in 0..D {
            both.low[k] = Number::minimum(left.low[k], right.low[k]);
            both.high[k] = Number::maximum(left.high[k], right.high[k]);
        }
        both
    }
}

impl<T: Number, const D: usize> Commutative for BoundingBoxOperator<T, D> {}

zero_sized! {
    /// The smallest axis-parallel box that holds all points `[T; D]`, `Option<Bounds<T, D>>`.
    ///
    /// - Item: [`Bounds`]. Exact.
    /// - Floats: IEEE 754-2019 `minimum` and `maximum`. -0 is below +0. A NaN coordinate makes this
    ///   coordinate of both corners NaN.
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::{BoundingBox, Bounds}};
    ///
    /// let of_points = Reduction::<BoundingBox<f32, 2>>::new(Device::auto());
    /// let bounds = of_points.run(&[[0.0, 5.0], [3.0, 1.0]])?;
    /// assert_eq!(bounds, Some(Bounds { low: [0.0, 1.0], high: [3.0, 5.0] }));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    BoundingBox<T, D> as "BoundingBox::<f32, 3>"
}

#[aggregate]
impl<T: Number, const D: usize> Aggregate for BoundingBox<T, D> {
    type Input = [T; D];
    type Monoid = BoundingBoxOperator<T, D>;
    type Output = Option<Bounds<T, D>>;
    #[inline]
    fn prepare(&self, _: u64, point: [T; D]) -> Bounds<T, D> {
        Bounds { low: point, high: point }
    }
    #[inline]
    fn present(&self, bounds: Bounds<T, D>, count: u64) -> Option<Bounds<T, D>> {
        if count == 0 { None } else { Some(bounds) }
    }
}

/// Adds vectors of `f64`: the operator of [`Centroid`].
///
/// The identity is -0.0 in each coordinate. Associative up to rounding.
///
/// ```
/// use warpfold::{Monoid, aggregates::CentroidOperator};
///
/// assert_eq!(CentroidOperator::<2>.combine([1.0, 2.0], [3.0, 4.0]), [4.0, 6.0]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CentroidOperator<const D: usize>;

#[monoid]
impl<const D: usize> Monoid for CentroidOperator<D> {
    type Item = [f64; D];
    fn identity(&self) -> [f64; D] {
        [-0.0; D]
    }
    #[inline]
    fn combine(&self, left: [f64; D], right: [f64; D]) -> [f64; D] {
        let mut sum = left;
        for k in 0..D {
            sum[k] = left[k] + right[k];
        }
        sum
    }
}

impl<const D: usize> Commutative for CentroidOperator<D> {}

zero_sized! {
    /// The mean of the points `[T; D]`, `Option<[f64; D]>`.
    ///
    /// - Item: the sum of each coordinate, `[f64; D]`. Exact: the same bits on every device.
    /// - Rounding, overflow and NaN, coordinate by coordinate: as for [`Mean`](super::Mean).
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Centroid};
    ///
    /// let centroid = Reduction::<Centroid<f32, 2>>::new(Device::auto());
    /// assert_eq!(centroid.run(&[[0.0, 5.0], [3.0, 1.0]])?, Some([1.5, 3.0]));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Centroid<T, D> as "Centroid::<f32, 3>"
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>, const D: usize> Aggregate for Centroid<T, D> {
    type Input = [T; D];
    type Monoid = CentroidOperator<D>;
    type Output = Option<[f64; D]>;
    #[inline]
    fn prepare(&self, _: u64, point: [T; D]) -> [f64; D] {
        let mut coordinates = [0.0; D];
        for k in 0..D {
            coordinates[k] = point[k].as_();
        }
        coordinates
    }
    #[inline]
    fn present(&self, sum: [f64; D], count: u64) -> Option<[f64; D]> {
        if count == 0 {
            return None;
        }
        let mut mean = sum;
        for k in 0..D {
            mean[k] = sum[k] / count as f64;
        }
        Some(mean)
    }
}
