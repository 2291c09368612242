use super::number::Arithmetic;
use super::{Number, body, operators};
use crate::{DeviceMonoid, DeviceOperator, Monoid};

operators! {
    /// The product of 2x2 matrices, left times right: the item `[[a, b], [c, d]]` has the rows `[a, b]` and `[c, d]`.
    /// Each entry is one product plus another, in that order, with no fused operation. Integers wrap.
    Matrix2Product;
    /// The composition of affine maps, the left one applied first: the item `[a, b]` is x -> a x + b, and `[a1, b1]`
    /// then `[a2, b2]` is `[a2*a1, a2*b1 + b2]`. Integers wrap.
    AffineComposition;
}

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
            [a.times(e).plus(b.times(g)), a.times(f).plus(b.times(h))],
            [c.times(e).plus(d.times(g)), c.times(f).plus(d.times(h))],
        ]
    }
}

impl<T: Number> DeviceMonoid for Matrix2Product<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let arithmetic = <T as Arithmetic>::ARITHMETIC;
        body(format!(
            "typedef {arithmetic} A;
const A a = left[0][0], b = left[0][1], c = left[1][0], d = left[1][1];
const A e = right[0][0], f = right[0][1], g = right[1][0], h = right[1][1];
left[0][0] = a * e + b * g;
left[0][1] = a * f + b * h;
left[1][0] = c * e + d * g;
left[1][1] = c * f + d * h;
return left;"
        ))
    }
}

impl<T: Number> Monoid for AffineComposition<T> {
    type Item = [T; 2];
    fn identity(&self) -> Self::Item {
        [T::ONE, T::ZERO]
    }
    #[inline]
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
        let ([a1, b1], [a2, b2]) = (left, right);
        [a2.times(a1), a2.times(b1).plus(b2)]
    }
}

impl<T: Number> DeviceMonoid for AffineComposition<T> {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let arithmetic = <T as Arithmetic>::ARITHMETIC;
        body(format!(
            "typedef {arithmetic} A;
const A a1 = left[0], b1 = left[1], a2 = right[0], b2 = right[1];
left[0] = a2 * a1;
left[1] = a2 * b1 + b2;
return left;"
        ))
    }
}
