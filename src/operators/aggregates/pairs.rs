//! Sums over two arrays that are read in step.

use num_traits::AsPrimitive;

use super::{Aggregate, Widen, zero_sized};
use crate::operators::{Number, Sum, Together};
use crate::types::Tuple2;
use crate::{DeviceType, aggregate};

zero_sized! {
    /// The dot product of two arrays, in a type of 64 bits: the sum of `x[i] y[i]`.
    ///
    /// - Item: the sum of the products, [`Sum`] of [`Widen::Wide`]. Both factors are converted to this
    ///   type before they are multiplied. Exact: the same bits on every device.
    /// - Integers: the true dot product, unless it overflows.
    /// - `f32`: the products are exact in `f64`. Each level of the bracket rounds the sums.
    /// - `f64`: each product is rounded, too. Nothing is compensated: a dot product that cancels
    ///   loses digits.
    /// - Rounding: the error of a dot product of n pairs is at most `(ceil(log2 n) + 1) 2^-53` times
    ///   the sum of the magnitudes of the products.
    /// - Overflow: products and sums of integers wrap at 64 bits. That takes 2^48 pairs of 8 bits, 2^32
    ///   of 16 bits, and 2 of 32 bits. Sums of `f64` become infinite, and sums of `f32`
    ///   do not overflow.
    /// - NaN: a NaN, infinities of both signs among the products, and infinity times 0 give NaN.
    /// - Empty input: 0 (-0.0 for floats, which is the identity of [`Sum`]).
    ///
    /// NumPy's `dot` has the type of its factors instead, and does not promise the order of the sum.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Dot};
    ///
    /// let (prices, amounts) = ([250_u8, 199, 5], [4_u8, 2, 100]);
    /// let total = Reduction::<Dot<u8>>::new(Device::auto()).run((&prices, &amounts))?;
    /// assert_eq!(total, 1898_u64);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Dot<T> as "Dot::<f32>"
}

#[aggregate]
impl<T: Widen> Aggregate for Dot<T> {
    type Input = (T, T);
    type Monoid = Sum<T::Wide>;
    type Output = T::Wide;
    #[inline]
    fn prepare(&self, _: u64, pair: (T, T)) -> T::Wide {
        let (x, y): (T::Wide, T::Wide) = (pair.0.as_(), pair.1.as_());
        Number::times(x, y)
    }
    #[inline]
    fn present(&self, item: T::Wide, _: u64) -> T::Wide {
        item
    }
}

zero_sized! {
    /// The mean of values with weights, `Option<f64>`: the sum of `x[i] w[i]` over the sum of `w[i]`.
    /// The first array holds the values, and the second one the weights.
    ///
    /// - Item: the sum of the weights and the sum of the products, two [`Sum<f64>`]. Exact: the same
    ///   bits on every device.
    /// - Weights need not add up to 1. They may be negative.
    /// - A total weight of 0: `None`. So is an empty input. NumPy's `average` raises an exception.
    /// - Rounding: with n pairs, each sum has an error of at most `(ceil(log2 n) + 1) 2^-53` times the
    ///   sum of the magnitudes of its terms. With weights that are not negative, the relative error of
    ///   the result is about as small, if the values have one sign.
    /// - Overflow: products or sums above 1.8e308 are infinite, and a quotient of infinities is NaN.
    /// - NaN: unless the total weight is 0, a NaN among values or weights gives NaN, also a value of
    ///   weight 0. So does an infinite value of weight 0.
    /// - Source: the definition, as in NumPy's `average`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::WeightedMean};
    ///
    /// let mean = Reduction::<WeightedMean<f32>>::new(Device::auto());
    /// assert_eq!(mean.run((&[2.0, 5.0], &[2.0, 1.0]))?, Some(3.0));
    /// assert_eq!(mean.run((&[2.0, 5.0], &[0.0, 0.0]))?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    WeightedMean<T> as "WeightedMean::<f32>"
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>> Aggregate for WeightedMean<T> {
    type Input = (T, T);
    type Monoid = Together<(Sum<f64>, Sum<f64>)>;
    type Output = Option<f64>;
    #[inline]
    fn prepare(&self, _: u64, pair: (T, T)) -> Tuple2<f64, f64> {
        let (value, weight): (f64, f64) = (pair.0.as_(), pair.1.as_());
        Tuple2(weight, value * weight)
    }
    #[inline]
    fn present(&self, sums: Tuple2<f64, f64>, _: u64) -> Option<f64> {
        if sums.0 == 0.0 { None } else { Some(sums.1 / sums.0) }
    }
}
