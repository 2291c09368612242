use super::{Number, operators};
use crate::{Commutative, Monoid, monoid};

operators! {
    /// `left + right`. Integers wrap. The identity of a float sum is -0.0, since `-0.0 + x` is `x`
    /// bit for bit.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::Sum};
    ///
    /// let sum = Reduction::<Sum<u8>>::new(Device::auto());
    /// assert_eq!(sum.run(&[200, 50, 10])?, 4);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Sum;
    /// `left * right`. Integers wrap.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Product};
    ///
    /// let factorials = Scan::<Product<u64>>::new(Device::auto());
    /// assert_eq!(factorials.inclusive(&[1, 2, 3, 4])?, [1, 2, 6, 24]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Product;
}

#[monoid]
impl<T: Number> Monoid for Sum<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::ADDITIVE_IDENTITY
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Number::plus(left, right)
    }
}

#[monoid]
impl<T: Number> Monoid for Product<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::ONE
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Number::times(left, right)
    }
}

impl<T: Number> Commutative for Sum<T> {
    const IS_ADDITION: bool = size_of::<T>() >= 4;
}
impl<T: Number> Commutative for Product<T> {}
