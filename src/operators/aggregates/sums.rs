//! Counts, sums and means.

use num_traits::AsPrimitive;

use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::operators::{Number, Real, Sum};
use crate::{DeviceType, aggregate, device, monoid};

zero_sized! {
    /// The number of elements, `u64`.
    ///
    /// - Item: the number of elements, [`Sum<u64>`]. Exact.
    /// - Empty input: 0.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Count};
    ///
    /// let count = Reduction::<Count<f32>>::new(Device::auto());
    /// assert_eq!(count.run(&[0.5, f32::NAN, 2.0])?, 3);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Count<T> as "Count::<f32>"
}

#[aggregate]
impl<T: DeviceType> Aggregate for Count<T> {
    type Input = T;
    type Monoid = Sum<u64>;
    type Output = u64;
    #[inline]
    fn prepare(&self, _: u64, _: T) -> u64 {
        1
    }
    #[inline]
    fn present(&self, item: u64, _: u64) -> u64 {
        item
    }
}

/// The numbers that [`SumWide`] adds, each in a type of 64 bits.
///
/// | numbers | wide type |
/// | --- | --- |
/// | `i8` to `i64`, `isize` | `i64` |
/// | `u8` to `u64`, `usize` | `u64` |
/// | `f32`, `f64`; `half::f16`, `half::bf16` (feature `half`) | `f64` |
///
/// ```
/// use warpfold::aggregates::{SumWide, Widen};
/// use warpfold::{Device, Error, Reduction};
///
/// fn total<T: Widen>(numbers: &[T]) -> Result<T::Wide, Error> {
///     Reduction::<SumWide<T>>::new(Device::auto()).run(numbers)
/// }
///
/// assert_eq!(total(&[i8::MIN, i8::MIN])?, -256_i64);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Widen: DeviceType + AsPrimitive<<Self as Widen>::Wide> {
    /// The type of the sum.
    type Wide: Number;
}

macro_rules! widen {
    ($($wide:ty: $($type:ty)*;)*) => {$($(
        impl Widen for $type {
            type Wide = $wide;
        }
    )*)*};
}
widen! { i64: i8 i16 i32 i64 isize; u64: u8 u16 u32 u64 usize; f64: f32 f64; }
#[cfg(feature = "half")]
widen! { f64: half::f16 half::bf16; }

zero_sized! {
    /// The sum in a type of 64 bits: [`Widen::Wide`].
    ///
    /// - Item: the sum, [`Sum`] of the wide type. Exact: the same bits on every device. The sum of
    ///   integers is the true sum. A sum of floats is rounded in each step of the bracket.
    /// - Overflow: integers of 64 bits wrap. A sum of smaller integers wraps only beyond 2^63 or
    ///   2^64, which takes 2^32 elements of 32 bits. A sum of `f32` does not overflow.
    /// - NaN: a NaN, and infinities of both signs, give NaN.
    /// - Empty input: 0 (-0.0 for floats, which is the identity of [`Sum`]).
    ///
    /// NumPy's `sum` adds small integers in the same types.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::SumWide};
    ///
    /// let sum = Reduction::<SumWide<u8>>::new(Device::auto());
    /// assert_eq!(sum.run(&[200, 100])?, 300_u64);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    SumWide<T> as "SumWide::<u8>"
}

#[aggregate]
impl<T: Widen> Aggregate for SumWide<T> {
    type Input = T;
    type Monoid = Sum<T::Wide>;
    type Output = T::Wide;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> T::Wide {
        element.as_()
    }
    #[inline]
    fn present(&self, item: T::Wide, _: u64) -> T::Wide {
        item
    }
}

zero_sized! {
    /// The arithmetic mean, `Option<f64>`: the sum of the elements over their number.
    ///
    /// - Item: the sum, [`Sum<f64>`]. Exact: the same bits on every device.
    /// - Integers are added as `f64` too, as in NumPy's `mean`, so no sum of integers overflows.
    ///   While all partial sums are at most 2^53 in magnitude, the sum is the true one. Beyond that
    ///   each addition is rounded. An integer of more than 53 bits is rounded first.
    /// - Rounding: the error of a sum of n elements is at most `ceil(log2 n) 2^-53` times the sum of
    ///   their magnitudes. The division is rounded once.
    /// - Overflow: elements of `f64` whose sum exceeds 1.8e308 give an infinity.
    /// - NaN: a NaN, and infinities of both signs, give NaN.
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Mean};
    ///
    /// let mean = Reduction::<Mean<u8>>::new(Device::auto());
    /// assert_eq!(mean.run(&[255, 255, 0, 0])?, Some(127.5));
    /// assert_eq!(mean.run(&[])?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Mean<T> as "Mean::<f32>"
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>> Aggregate for Mean<T> {
    type Input = T;
    type Monoid = Sum<f64>;
    type Output = Option<f64>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> f64 {
        element.as_()
    }
    #[inline]
    fn present(&self, sum: f64, count: u64) -> Option<f64> {
        if count == 0 { None } else { Some(sum / count as f64) }
    }
}

/// The item of [`SumCompensated`]: an unevaluated sum of two floats.
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{CompensatedItem, CompensatedOperator};
///
/// let [large, small] = [1e16, 1.0].map(|sum| CompensatedItem { sum, error: 0.0 });
/// let both = CompensatedOperator::new().combine(large, small);
/// assert_eq!((both.sum, both.error), (1e16, 1.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct CompensatedItem<T: DeviceType> {
    /// The sum, rounded to nearest.
    pub sum: T,
    /// The true sum less `sum`, rounded.
    pub error: T,
}

/// The sum of two floats, and its rounding error: Knuth's TwoSum.
#[device]
#[inline]
fn two_sum<T: Real>(left: T, right: T) -> CompensatedItem<T> {
    let sum = left + right;
    let of_right = sum - left;
    let of_left = sum - of_right;
    CompensatedItem { sum, error: (left - of_left) + (right - of_right) }
}

/// The sum of two floats, the first of which is larger in magnitude or 0, and its rounding error:
/// Dekker's Fast2Sum.
#[device]
#[inline]
fn fast_two_sum<T: Real>(large: T, small: T) -> CompensatedItem<T> {
    let sum = large + small;
    CompensatedItem { sum, error: small - (sum - large) }
}

zero_sized! {
    /// Adds items of [`SumCompensated`]: `AccurateDWPlusDW` of Joldes, Muller and Popescu, "Tight
    /// and rigorous error bounds for basic building blocks of double-word arithmetic" (2017).
    ///
    /// The identity is 0. Associative up to rounding.
    CompensatedOperator<T> as "CompensatedOperator::<f64>"
}

#[monoid]
impl<T: Real> Monoid for CompensatedOperator<T> {
    type Item = CompensatedItem<T>;
    fn identity(&self) -> CompensatedItem<T> {
        CompensatedItem { sum: T::ADDITIVE_IDENTITY, error: T::ZERO }
    }
    #[inline]
    fn combine(&self, left: CompensatedItem<T>, right: CompensatedItem<T>) -> CompensatedItem<T> {
        let sums = two_sum(left.sum, right.sum);
        let errors = two_sum(left.error, right.error);
        let both = fast_two_sum(sums.sum, sums.error + errors.sum);
        let exact = fast_two_sum(both.sum, errors.error + both.error);
        // The error of an infinite sum is NaN, which would spoil the sum.
        if exact.sum.is_finite() { exact } else { CompensatedItem { sum: sums.sum, error: T::ZERO } }
    }
}

impl<T: Real> Commutative for CompensatedOperator<T> {}

zero_sized! {
    /// The sum of floats as if in twice their precision, rounded at the end.
    ///
    /// - Item: a sum and its error, [`CompensatedItem`]. Exact: the same bits on every device.
    /// - Rounding: let S be the true sum of n elements, A the sum of their magnitudes, and u the
    ///   rounding unit (2^-53 for `f64`, 2^-24 for `f32`). The result is within
    ///   `u |S| + 4 u^2 ceil(log2 n) A` of S, if nothing overflows. Each of the `ceil(log2 n)`
    ///   levels of the bracket adds at most `3 u^2` of the magnitude of its partial sums. So a sum
    ///   that cancels all but 1e-16 of A still has all its digits.
    /// - Overflow: as for a sum of floats. The compensation ends at an infinity.
    /// - NaN: a NaN, and infinities of both signs, give NaN.
    /// - Empty input: -0.0, the identity of [`Sum`]. A sum of elements that are all -0.0 is a zero
    ///   of either sign.
    /// - Source: Joldes, Muller and Popescu (2017), with TwoSum of Knuth.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::SumCompensated};
    ///
    /// let sum = Reduction::<SumCompensated<f64>>::new(Device::auto());
    /// assert_eq!(sum.run(&[1.0, 1e16, 1.0, -1e16])?, 2.0);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    SumCompensated<T> as "SumCompensated::<f32>"
}

#[aggregate]
impl<T: Real> Aggregate for SumCompensated<T> {
    type Input = T;
    type Monoid = CompensatedOperator<T>;
    type Output = T;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> CompensatedItem<T> {
        CompensatedItem { sum: element, error: T::ZERO }
    }
    #[inline]
    fn present(&self, item: CompensatedItem<T>, _: u64) -> T {
        item.sum
    }
}
