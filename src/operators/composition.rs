use super::{Number, operators};
use crate::{Monoid, device, monoid};

operators! {
    /// The product of 2x2 matrices, left times right.
    ///
    /// The item `[[a, b], [c, d]]` has the rows `[a, b]` and `[c, d]`. Each entry is the sum of two
    /// products, in order, without a fused operation. Integers wrap.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Matrix2Product};
    ///
    /// // The powers of this matrix hold the Fibonacci numbers.
    /// let powers = Scan::<Matrix2Product<u64>>::new(Device::auto());
    /// let powers = powers.inclusive(&[[[1, 1], [1, 0]]; 5])?;
    /// assert_eq!(powers[4], [[8, 5], [5, 3]]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Matrix2Product;
    /// The composition of affine maps. The left map is applied first.
    ///
    /// The item `[a, b]` is the map `x -> a x + b`. `[a1, b1]` and then `[a2, b2]` is `[a2*a1,
    /// a2*b1 + b2]`. Integers wrap.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::AffineComposition};
    ///
    /// // x -> 2 x + 1, and then x -> 3 x
    /// let composition = Reduction::<AffineComposition<i32>>::new(Device::auto());
    /// assert_eq!(composition.run(&[[2, 1], [3, 0]])?, [6, 3]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    AffineComposition;
}

#[device]
#[inline]
fn sum_of_products<T: Number>(a: T, b: T, c: T, d: T) -> T {
    Number::plus(Number::times(a, b), Number::times(c, d))
}

#[monoid]
impl<T: Number> Monoid for Matrix2Product<T> {
    type Item = [[T; 2]; 2];
    fn identity(&self) -> Self::Item {
        [[T::ONE, T::ZERO], [T::ZERO, T::ONE]]
    }
    #[inline]
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
        let [[a, b], [c, d]] = left;
        let [[e, f], [g, h]] = right;
        [
            [sum_of_products(a, e, b, g), sum_of_products(a, f, b, h)],
            [sum_of_products(c, e, d, g), sum_of_products(c, f, d, h)],
        ]
    }
}

#[monoid]
impl<T: Number> Monoid for AffineComposition<T> {
    type Item = [T; 2];
    fn identity(&self) -> Self::Item {
        [T::ONE, T::ZERO]
    }
    #[inline]
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
        let ([a1, b1], [a2, b2]) = (left, right);
        [Number::times(a2, a1), Number::plus(Number::times(a2, b1), b2)]
    }
}
