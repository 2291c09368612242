use super::{Number, Real, operators};
use crate::{Commutative, Monoid, math, monoid};

operators! {
    /// The smaller item. For floats IEEE 754-2019 `minimum`: -0 is below +0, and a NaN wins.
    Min;
    /// The larger item. For floats IEEE 754-2019 `maximum`: -0 is below +0, and a NaN wins.
    Max;
    /// The smaller float; NaNs are ignored (IEEE 754-2019 `minimumNumber`). The identity is NaN.
    MinNumber;
    /// The larger float; NaNs are ignored (IEEE 754-2019 `maximumNumber`). The identity is NaN.
    MaxNumber;
}

#[monoid]
impl<T: Number> Monoid for Min<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::MAX
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Number::minimum(left, right)
    }
}

#[monoid]
impl<T: Number> Monoid for Max<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::MIN
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Number::maximum(left, right)
    }
}

#[monoid]
impl<T: Real> Monoid for MinNumber<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::nan()
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        math::minimum_number(left, right)
    }
}

#[monoid]
impl<T: Real> Monoid for MaxNumber<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::nan()
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        math::maximum_number(left, right)
    }
}

impl<T: Number> Commutative for Min<T> {}
impl<T: Number> Commutative for Max<T> {}
impl<T: Real> Commutative for MinNumber<T> {}
impl<T: Real> Commutative for MaxNumber<T> {}
