//! The logarithm of a sum of exponentials.

use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::operators::Real;
use crate::{DeviceType, aggregate, monoid};

/// The item of [`LogSumExp`]: the sum `sum * exp(largest)`.
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{LogSumExpItem, LogSumExpOperator};
///
/// let item = LogSumExpItem { largest: 1000.0, sum: 1.0 };
/// let both = LogSumExpOperator::<f64>::new().combine(item, item);
/// assert_eq!(both, LogSumExpItem { largest: 1000.0, sum: 2.0 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct LogSumExpItem<T: DeviceType> {
    /// The largest element.
    pub largest: T,
    /// The sum of `exp(x - largest)` over the elements x.
    pub sum: T,
}

zero_sized! {
    /// Adds items of [`LogSumExp`].
    ///
    /// The identity is the empty sum. Associative up to rounding. Not exact, because `exp` is not.
    LogSumExpOperator<T> as "LogSumExpOperator::<f32>"
}

#[monoid]
impl<T: Real> Monoid for LogSumExpOperator<T> {
    type Item = LogSumExpItem<T>;
    fn identity(&self) -> LogSumExpItem<T> {
        LogSumExpItem { largest: T::neg_infinity(), sum: T::ZERO }
    }
    #[inline]
    fn combine(&self, a: LogSumExpItem<T>, b: LogSumExpItem<T>) -> LogSumExpItem<T> {
        // One exponential, whichever is larger: a branch would have one on each side.
        let is_less = a.largest < b.largest;
        let (largest, other) = if is_less { (b.largest, a.largest) } else { (a.largest, b.largest) };
        let (of_largest, of_other) = if is_less { (b.sum, a.sum) } else { (a.sum, b.sum) };
        // Two infinities of one sign, too: their difference would be NaN. If either is NaN, so is
        // the sum.
        let scale = if largest == other { T::ONE } else { (other - largest).exp() };
        LogSumExpItem { largest, sum: of_largest + of_other * scale }
    }
}

impl<T: Real> Commutative for LogSumExpOperator<T> {}

zero_sized! {
    /// The logarithm of the sum of the exponentials, `ln(exp(x[0]) + exp(x[1]) + ...)`, in the type
    /// of the elements.
    ///
    /// Each partial sum is stored as `sum * exp(largest)`, so no exponential overflows. A `sum` is at most
    /// the number of elements. In `half::f16` it overflows above 65504.
    ///
    /// - Item: [`LogSumExpItem`]. Not exact, because `exp` and `ln` are not: the last bits depend on
    ///   the device.
    /// - Infinities, as in `scipy.special.logsumexp`: +inf gives +inf, and elements that are all
    ///   -inf give -inf.
    /// - NaN: a NaN gives NaN.
    /// - Empty input: -inf, the logarithm of 0.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::LogSumExp};
    ///
    /// let sum = Reduction::<LogSumExp<f64>>::new(Device::auto());
    /// assert_eq!(sum.run(&[1000.0, 1000.0])?, 1000.0 + 2.0_f64.ln());
    /// assert_eq!(sum.run(&[])?, f64::NEG_INFINITY);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    LogSumExp<T> as "LogSumExp::<f32>"
}

#[aggregate]
impl<T: Real> Aggregate for LogSumExp<T> {
    type Input = T;
    type Monoid = LogSumExpOperator<T>;
    type Output = T;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> LogSumExpItem<T> {
        LogSumExpItem { largest: element, sum: T::ONE }
    }
    #[inline]
    fn present(&self, item: LogSumExpItem<T>, _: u64) -> T {
        item.largest + item.sum.ln()
    }
}
