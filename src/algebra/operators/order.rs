use super::number::Arithmetic;
use super::{Number, Real, body, operators};
use crate::{DeviceMonoid, DeviceOperator, Monoid, math};

operators! {
    /// The smaller item. For floats IEEE 754-2019 `minimum`: -0 is below +0, and a NaN wins.
    Min;
    /// The larger item. For floats IEEE 754-2019 `maximum`: -0 is below +0, and a NaN wins.
    Max;
    /// The smaller float, NaNs ignored (IEEE 754-2019 `minimumNumber`). The identity is NaN.
    MinNumber;
    /// The larger float, NaNs ignored (IEEE 754-2019 `maximumNumber`). The identity is NaN.
    MaxNumber;
}

impl<T: Number> Monoid for Min<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::GREATEST
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Arithmetic::minimum(left, right)
    }
}

impl<T: Number> DeviceMonoid for Min<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        body(<T as Arithmetic>::MINIMUM)
    }
}

impl<T: Number> Monoid for Max<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::LEAST
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        Arithmetic::maximum(left, right)
    }
}

impl<T: Number> DeviceMonoid for Max<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        body(<T as Arithmetic>::MAXIMUM)
    }
}

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

impl<T: Real> DeviceMonoid for MinNumber<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        body("return warpfold::minimum_number(left, right);")
    }
}

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

impl<T: Real> DeviceMonoid for MaxNumber<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        body("return warpfold::maximum_number(left, right);")
    }
}
