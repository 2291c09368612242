use super::number::Arithmetic;
use super::{Number, body, operators};
use crate::{DeviceMonoid, DeviceOperator, Monoid};

operators! {
    /// `left + right`. Integers wrap. The identity of a float sum is -0.0, so that `identity + x` is `x` bit for bit.
    Sum;
    /// `left * right`. Integers wrap.
    Product;
}

impl<T: Number> Monoid for Sum<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::NOTHING
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        left.plus(right)
    }
}

impl<T: Number> DeviceMonoid for Sum<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let arithmetic = <T as Arithmetic>::ARITHMETIC;
        body(format!(
            "return static_cast<Item>(static_cast<{arithmetic}>(left) + static_cast<{arithmetic}>(right));"
        ))
    }
}

impl<T: Number> Monoid for Product<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::ONE
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        left.times(right)
    }
}

impl<T: Number> DeviceMonoid for Product<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let arithmetic = <T as Arithmetic>::ARITHMETIC;
        body(format!(
            "return static_cast<Item>(static_cast<{arithmetic}>(left) * static_cast<{arithmetic}>(right));"
        ))
    }
}
