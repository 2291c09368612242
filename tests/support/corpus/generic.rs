//! Operators that are generic or inexact, or that have run-time parameters.

use num_traits::{AsPrimitive, Float, MulAdd, Pow, PrimInt, Signed, WrappingAdd, Zero};
use proptest::prelude::*;
use warpfold::operators::{Number, Real};
use warpfold::{DeviceType, Monoid, device, math, monoid};

use super::{Edge, Visitor};

/// Every inexact function, at arguments where it is defined and well conditioned.
#[derive(Clone, Copy, Default, Debug)]
pub struct Inexact<T>(std::marker::PhantomData<T>);

macro_rules! inexact {
    ($($type:ident)*) => {$(
        #[monoid]
        impl Monoid for Inexact<$type> {
            type Item = [$type; 24];
            fn identity(&self) -> [$type; 24] {
                [0.0; 24]
            }
            fn combine(&self, a: [$type; 24], b: [$type; 24]) -> [$type; 24] {
                // From 0 to 1.
                let x = (a[0].abs() + 0.25).rem_euclid(1.0);
                let y = (b[0].abs() + 0.5).rem_euclid(1.0);
                [
                    x.exp(), x.exp2(), x.exp_m1(), (x + 0.5).ln(), x.ln_1p(), (x + 0.5).log2(), (x + 0.5).log10(),
                    x.sin(), x.cos(), x.tan(), (x * 0.9).asin(), (x * 0.9).acos(), x.atan(), x.atan2(y + 0.1), x.sinh(),
                    x.cosh(), x.tanh(), x.asinh(), (x + 1.5).acosh(), (x * 0.9).atanh(), x.cbrt(), x.hypot(y),
                    (x + 0.5).powf(y), (x + 0.5).powi(-3),
                ]
            }
        }
    )*};
}
inexact! { f32 f64 }

/// The item with the greater key, the left one on a tie. Generic over the key.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArgMax<T>(std::marker::PhantomData<T>);

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Keyed<T: DeviceType> {
    pub key: T,
    pub index: u64,
}

impl<T: Edge> Edge for Keyed<T> {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(key, index)| Self { key, index }).boxed()
    }
}

#[monoid]
impl<T: Edge + PartialOrd> Monoid for ArgMax<T> {
    type Item = Keyed<T>;
    fn identity(&self) -> Keyed<T> {
        Edge::example()
    }
    fn combine(&self, a: Keyed<T>, b: Keyed<T>) -> Keyed<T> {
        if b.key > a.key { b } else { Keyed { index: a.index, ..a } }
    }
}

/// Trait bounds of `num-traits`, and const generics.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lanes<T, const N: usize>(std::marker::PhantomData<T>);

#[monoid]
impl<T: Edge + PrimInt, const N: usize> Monoid for Lanes<T, N> {
    type Item = [T; N];
    fn identity(&self) -> [T; N] {
        Edge::example()
    }
    fn combine(&self, a: [T; N], b: [T; N]) -> [T; N] {
        let mut out = [T::zero(); N];
        let mut seen = T::zero();
        for k in 0..N {
            out[k] = (a[k] & b[k]) | (a[N - 1 - k] ^ T::max_value());
            // A cast of a product: the probe must keep the parentheses.
            if (out[k].count_ones() * 2) as u64 > 8 {
                seen = seen | Ord::min(out[k], b[k]);
            }
        }
        out[N - 1] = seen;
        out
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Blend<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: Edge + Float + Real> Monoid for Blend<T> {
    type Item = [T; 3];
    fn identity(&self) -> [T; 3] {
        Edge::example()
    }
    fn combine(&self, [x, y, z]: [T; 3], b: [T; 3]) -> [T; 3] {
        let half = T::one() / (T::one() + T::one());
        [
            (x + b[0]) * half,
            Number::minimum(y, b[1]).sqrt(),
            <T as Zero>::zero() - Float::abs(z) + math::maximum(z, b[2]),
        ]
    }
}

/// Methods that are called through the traits of the bounds.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traits<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: Edge + Float + Signed + MulAdd<Output = T> + Pow<i32, Output = T>> Monoid for Traits<T> {
    type Item = [T; 4];
    fn identity(&self) -> [T; 4] {
        Edge::example()
    }
    fn combine(&self, a: [T; 4], b: [T; 4]) -> [T; 4] {
        let tenth: T = <T as num_traits::NumCast>::from(0.1).unwrap();
        let clear = if Zero::is_zero(&a[3]) { tenth } else { a[3] };
        [
            Signed::abs(&a[0]) + tenth,
            MulAdd::mul_add(a[1], b[1], tenth),
            if a[2].is_sign_negative() {
                Signed::signum(&b[2])
            } else {
                b[2] * <T as num_traits::NumCast>::from(2).unwrap()
            },
            clear,
        ]
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Wrapping<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: Edge + PrimInt + WrappingAdd + AsPrimitive<u8>> Monoid for Wrapping<T> {
    type Item = [T; 2];
    fn identity(&self) -> [T; 2] {
        Edge::example()
    }
    fn combine(&self, a: [T; 2], b: [T; 2]) -> [T; 2] {
        let low: u8 = b[1].as_();
        [a[0].wrapping_add(&b[0]), if low % 2 == 0 { PrimInt::pow(T::one() + T::one(), 3) } else { a[1] }]
    }
}

/// In generic code, methods of numbers whose type is known.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ones<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: Edge + PrimInt> Monoid for Ones<T> {
    type Item = [T; 2];
    fn identity(&self) -> [T; 2] {
        Edge::example()
    }
    fn combine(&self, a: [T; 2], b: [T; 2]) -> [T; 2] {
        let more = a[0].count_ones() as i32 - b[1].count_ones() as i32;
        let far = more.abs().wrapping_mul(3).pow(2) > 40 || (more as f32).sqrt() > 2.5;
        if far { a } else { [b[0], if more.signum() < 0 { a[1] } else { b[1] }] }
    }
}

/// A module in which warpfold has another name.
mod elsewhere {
    pub use warpfold as reductions;

    #[reductions::device(crate = reductions)]
    fn half(x: i32) -> i32 {
        x / 2
    }

    #[derive(Clone, Copy, Debug, Default)]
    pub struct Halves;

    #[reductions::monoid(crate = self::reductions)]
    impl reductions::Monoid for Halves {
        type Item = i32;
        fn identity(&self) -> i32 {
            0
        }
        fn combine(&self, a: i32, b: i32) -> i32 {
            // A crate named `half` exists, too.
            self::half(a) - self::half(b)
        }
    }
}

/// Run-time parameters, read one at a time and as a whole.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Window {
    pub low: i64,
    pub high: i64,
    pub weights: [i32; 3],
}

#[device]
fn inside(value: i64, window: Window) -> bool {
    value >= window.low && value <= window.high
}

#[monoid]
impl Monoid for Window {
    type Item = i64;
    fn identity(&self) -> i64 {
        self.low
    }
    fn combine(&self, a: i64, mut b: i64) -> i64 {
        if !inside(b, *self) {
            b = self.high;
        }
        let mut total = 0;
        for k in 0..3 {
            total = total * 31 + self.weights[k] as i64;
        }
        a.wrapping_mul(total) ^ b
    }
}

pub(super) fn generic(visitor: &mut impl Visitor) {
    visitor.visit("argmax_f32", ArgMax::<f32>::default());
    visitor.visit("argmax_i8", ArgMax::<i8>::default());
    visitor.visit("lanes_u8", Lanes::<u8, 5>::default());
    visitor.visit("lanes_i32", Lanes::<i32, 3>::default());
    visitor.visit("lanes_u64", Lanes::<u64, 2>::default());
    visitor.visit("blend_f32", Blend::<f32>::default());
    visitor.visit("blend_f64", Blend::<f64>::default());
    visitor.visit("traits_f32", Traits::<f32>::default());
    visitor.visit("traits_f64", Traits::<f64>::default());
    visitor.visit("wrapping_i8", Wrapping::<i8>::default());
    visitor.visit("wrapping_u64", Wrapping::<u64>::default());
    visitor.visit("ones_i16", Ones::<i16>::default());
    visitor.visit("ones_u64", Ones::<u64>::default());
    visitor.visit("halves", elsewhere::Halves);
    visitor.visit("window", Window { low: -5, high: 1 << 40, weights: [3, -7, i32::MAX] });
    visitor.visit("wide_window", Window { low: i64::MIN, high: i64::MAX, weights: [0, 1, 2] });
}
