//! The 16-bit floats of the crate `half`.

use half::{bf16, f16};
use proptest::prelude::*;
use warpfold::operators::{Max, MaxNumber, Min, MinNumber, Product, Sum};
use warpfold::{DeviceType, Monoid, math, monoid};

use super::{Edge, Visitor};

macro_rules! edges {
    ($($type:ident)*) => {$(
        impl Edge for $type {
            fn strategy() -> BoxedStrategy<Self> {
                let of_floats = any::<f32>().prop_map(Self::from_f32);
                prop_oneof![of_floats, any::<u16>().prop_map(Self::from_bits)].boxed()
            }
        }
    )*};
}
edges! { f16 bf16 }

/// What generic code says of any float.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfFloats<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: num_traits::Float + DeviceType + Edge> Monoid for OfFloats<T> {
    type Item = [T; 6];
    fn identity(&self) -> Self::Item {
        Edge::example()
    }
    fn combine(&self, a: Self::Item, b: Self::Item) -> Self::Item {
        let first = if a[0] < b[0] { a[0].sqrt() } else { (a[0] / b[0]).floor() };
        [
            first,
            a[1].mul_add(b[1], a[0]),
            a[2].abs().recip() - b[2].round(),
            math::minimum_number(a[3], -b[3]),
            a[4].trunc() * T::one() + b[4].fract(),
            if a[5].is_nan() || b[5].is_nan() { T::zero() } else { a[5].copysign(b[5]) },
        ]
    }
}

corpus! { of_halves:
    arithmetic_f16: [f16; 6] = |a, b| {
        let mut out = [a[0] + b[0], a[1] - b[1], a[2] * b[2], a[3] / b[3], -a[4], a[5] % b[5]];
        if a[0] < b[0] && a[1] != b[1] { out[4] += f16::ONE; } else { out[4] *= b[4]; }
        out
    }
    arithmetic_bf16: [bf16; 6] = |a, b| {
        let mut out = [a[0] + b[0], a[1] - b[1], a[2] * b[2], a[3] / b[3], -a[4], a[5] % b[5]];
        if a[0] >= b[0] || a[1] == b[1] { out[4] -= bf16::EPSILON; } else { out[4] /= b[4]; }
        out
    }
    conversions_f16: [f32; 3] = |a, b| {
        let halves = [f16::from_f32(a[0]), f16::from_f32(a[1] * b[1]), f16::from_bits(b[2] as u16)];
        [halves[0].to_f32(), halves[1].to_f64() as f32, halves[2].to_bits() as f32]
    }
    conversions_bf16: [f64; 3] = |a, b| {
        let halves = [bf16::from_f32(a[0] as f32), bf16::from_f32((a[1] * b[1]) as f32), bf16::from_bits(b[2] as u16)];
        [halves[0].to_f32() as f64, halves[1].to_f64(), halves[2].to_bits() as f64]
    }
    methods_f16: [f16; 2] = |a, b| {
        let order = a[0].partial_cmp(&b[0]).is_some() && a[1].is_finite() || !b[1].is_nan() && b[1].is_sign_negative();
        [if order { math::maximum(a[0], b[0]) } else { b[0] }, if a[1].is_infinite() { f16::NAN } else { a[1] }]
    }
}

/// Visits the operators of this module.
pub(super) fn halves(visitor: &mut impl Visitor) {
    of_halves(visitor);
    visitor.visit("floats_f16", OfFloats::<f16>::default());
    visitor.visit("floats_bf16", OfFloats::<bf16>::default());
    visitor.visit("floats_f32", OfFloats::<f32>::default());
    visitor.visit("sum_f16", Sum::<f16>::new());
    visitor.visit("sum_bf16", Sum::<bf16>::new());
    visitor.visit("product_f16", Product::<f16>::new());
    visitor.visit("product_bf16", Product::<bf16>::new());
    visitor.visit("min_f16", Min::<f16>::new());
    visitor.visit("max_bf16", Max::<bf16>::new());
    visitor.visit("min_number_bf16", MinNumber::<bf16>::new());
    visitor.visit("max_number_f16", MaxNumber::<f16>::new());
}
