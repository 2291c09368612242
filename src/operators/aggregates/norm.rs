//! The Euclidean norm.

use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::operators::Sum;
use crate::{DeviceType, aggregate, monoid};

/// 2^-511: the square of a smaller element could be subnormal, and lose bits.
const LEAST_MEDIUM: f64 = f64::from_bits((1023 - 511) << 52);
/// 2^486: a sum of 2^52 squares of elements up to this size does not overflow.
const GREATEST_MEDIUM: f64 = f64::from_bits((1023 + 486) << 52);
/// 2^537: the factor of small elements.
const OF_SMALL: f64 = f64::from_bits((1023 + 537) << 52);
/// 2^-538: the factor of large elements.
const OF_LARGE: f64 = f64::from_bits((1023 - 538) << 52);

/// The item of `Norm<f64>`: three sums of squares.
///
/// ```
/// use warpfold::{Aggregate, aggregates::Norm};
///
/// let item = Norm::<f64>::new().prepare(0, 3.0);
/// assert_eq!((item.small, item.medium, item.large), (0.0, 9.0, 0.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct NormItem {
    /// The sum of `(2^537 x)^2` over the elements below 2^-511 in magnitude.
    pub small: f64,
    /// The sum of `x^2` over the other elements, NaN included.
    pub medium: f64,
    /// The sum of `(2^-538 x)^2` over the elements above 2^486 in magnitude.
    pub large: f64,
}

/// Adds items of `Norm<f64>`.
///
/// The identity is 0. Associative up to rounding.
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{NormItem, NormOperator};
///
/// let item = NormItem { small: 0.0, medium: 9.0, large: 0.0 };
/// assert_eq!(NormOperator.combine(item, item).medium, 18.0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct NormOperator;

#[monoid]
impl Monoid for NormOperator {
    type Item = NormItem;
    fn identity(&self) -> NormItem {
        NormItem { small: 0.0, medium: 0.0, large: 0.0 }
    }
    #[inline]
    fn combine(&self, left: NormItem, right: NormItem) -> NormItem {
        NormItem {
            small: left.small + right.small,
            medium: left.medium + right.medium,
            large: left.large + right.large,
        }
    }
}

impl Commutative for NormOperator {}

zero_sized! {
    /// The Euclidean norm of `f32` or `f64`, `f64`: the square root of the sum of the squares.
    ///
    /// No intermediate value overflows, and none underflows so far that the norm loses digits. The
    /// norm is infinite only if it exceeds 1.8e308.
    ///
    /// - Item for `f32`: the sum of the squares, [`Sum<f64>`]. Squares of `f32` are exact in `f64`.
    /// - Item for `f64`: [`NormItem`], 24 bytes. Elements of extreme size are scaled by a power of
    ///   two before they are squared, and their squares are added apart.
    /// - Exact: the same bits on every device.
    /// - Rounding: with n elements, a relative error of at most `(log2(n) / 2 + 3) 2^-53`.
    /// - NaN: a NaN gives NaN. Otherwise an infinity of either sign gives infinity.
    /// - Empty input: 0.
    /// - Source: Blue, "A portable Fortran program to find the Euclidean norm of a vector" (1978),
    ///   with the constants of LAPACK 3.10: Anderson, "Algorithm 978: Safe scaling in the level 1
    ///   BLAS" (2017).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Norm};
    ///
    /// let norm = Reduction::<Norm<f64>>::new(Device::auto());
    /// assert_eq!(norm.run(&[3.0, 4.0])?, 5.0);
    /// assert_eq!(norm.run(&[3e300, 4e300])?, 5e300);
    /// assert_eq!(norm.run(&[])?, 0.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Norm<T> as "Norm::<f32>"
}

#[aggregate]
impl Aggregate for Norm<f32> {
    type Input = f32;
    type Monoid = Sum<f64>;
    type Output = f64;
    #[inline]
    fn prepare(&self, _: u64, element: f32) -> f64 {
        element as f64 * element as f64
    }
    #[inline]
    fn present(&self, sum: f64, count: u64) -> f64 {
        // The identity of a sum is -0.0.
        if count == 0 { 0.0 } else { sum.sqrt() }
    }
}

#[aggregate]
impl Aggregate for Norm<f64> {
    type Input = f64;
    type Monoid = NormOperator;
    type Output = f64;
    #[inline]
    fn prepare(&self, _: u64, element: f64) -> NormItem {
        let size = element.abs();
        if size > GREATEST_MEDIUM {
            let scaled = size * OF_LARGE;
            NormItem { small: 0.0, medium: 0.0, large: scaled * scaled }
        } else if size < LEAST_MEDIUM {
            let scaled = size * OF_SMALL;
            NormItem { small: scaled * scaled, medium: 0.0, large: 0.0 }
        } else {
            NormItem { small: 0.0, medium: size * size, large: 0.0 }
        }
    }
    #[inline]
    fn present(&self, sums: NormItem, _: u64) -> f64 {
        if sums.large > 0.0 || sums.large.is_nan() {
            // Small elements are too small to count.
            let sum = sums.large + sums.medium * OF_LARGE * OF_LARGE;
            return sum.sqrt() / OF_LARGE;
        }
        if sums.small == 0.0 || sums.medium.is_nan() {
            return sums.medium.sqrt();
        }
        let (small, medium) = (sums.small.sqrt() / OF_SMALL, sums.medium.sqrt());
        let (low, high) = if small < medium { (small, medium) } else { (medium, small) };
        let ratio = low / high;
        high * (1.0 + ratio * ratio).sqrt()
    }
}
