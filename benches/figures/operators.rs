//! The operators that are measured. They and their items are those of
//! `benches/peers/operators.cuh`.

use warpfold::operators::{Matrix2Product, Max, Min, Sum};
use warpfold::{DeviceMonoid, Monoid, Value, device, math, monoid};

/// An operator that is measured. Device memory holds its items as they are.
pub trait Measured: DeviceMonoid<Item: Value<Stored = <Self as Monoid>::Item>> + Default {}
impl<M: DeviceMonoid<Item: Value<Stored = <M as Monoid>::Item>> + Default> Measured for M {}

/// Visits each operator. The arguments are the names of the operator, of its item, and of the
/// kernel of `items.cu` that makes the items.
pub trait Visitor {
    fn visit<M: Measured>(&mut self, operator: &str, item: &str, fill: &str);
}

/// Whether `only` names an operator: by its name, its item's name, or both, as in `max:u8`. An
/// empty list names all.
pub fn is_asked(only: &[String], operator: &str, item: &str) -> bool {
    only.is_empty()
        || only.iter().any(|only| only == operator || only == item || *only == format!("{operator}:{item}"))
}

/// The maximum in each lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct LaneMax<T, const N: usize>(std::marker::PhantomData<T>);

#[monoid]
impl<const N: usize> Monoid for LaneMax<f32, N> {
    type Item = [f32; N];
    fn identity(&self) -> [f32; N] {
        [f32::NEG_INFINITY; N]
    }
    fn combine(&self, mut a: [f32; N], b: [f32; N]) -> [f32; N] {
        for k in 0..N {
            a[k] = math::maximum_number(a[k], b[k]);
        }
        a
    }
}

#[monoid]
impl<const N: usize> Monoid for LaneMax<u32, N> {
    type Item = [u32; N];
    fn identity(&self) -> [u32; N] {
        [0; N]
    }
    fn combine(&self, mut a: [u32; N], b: [u32; N]) -> [u32; N] {
        for k in 0..N {
            a[k] = a[k].max(b[k]);
        }
        a
    }
}

#[device]
fn norm(p: [f32; 3]) -> f32 {
    p[0] * p[0] + p[1] * p[1] + p[2] * p[2]
}

#[derive(Clone, Copy, Default)]
pub struct MaxByNorm;

#[monoid]
impl Monoid for MaxByNorm {
    type Item = [f32; 3];
    fn identity(&self) -> [f32; 3] {
        [0.0; 3]
    }
    fn combine(&self, a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
        if norm(b) > norm(a) { b } else { a }
    }
}

/// The minima of the first three lanes, and the maxima of the last three.
#[derive(Clone, Copy, Default)]
pub struct BoundingBox;

#[monoid]
impl Monoid for BoundingBox {
    type Item = [f32; 6];
    fn identity(&self) -> [f32; 6] {
        const FAR: f32 = f32::INFINITY;
        [FAR, FAR, FAR, -FAR, -FAR, -FAR]
    }
    fn combine(&self, mut a: [f32; 6], b: [f32; 6]) -> [f32; 6] {
        for k in 0..3 {
            a[k] = math::minimum(a[k], b[k]);
            a[k + 3] = math::maximum(a[k + 3], b[k + 3]);
        }
        a
    }
}

/// Lanes: count, mean, sum of squared deviations from the mean.
#[derive(Clone, Copy, Default)]
pub struct Welford;

#[monoid]
impl Monoid for Welford {
    type Item = [f64; 3];
    fn identity(&self) -> [f64; 3] {
        [0.0; 3]
    }
    fn combine(&self, a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        if a[0] == 0.0 {
            return b;
        }
        if b[0] == 0.0 {
            return a;
        }
        let count = a[0] + b[0];
        let delta = b[1] - a[1];
        let weight = b[0] / count;
        [count, a[1] + delta * weight, a[2] + b[2] + delta * delta * a[0] * weight]
    }
}

#[derive(Clone, Copy, Default)]
pub struct QuaternionProduct;

#[monoid]
impl Monoid for QuaternionProduct {
    type Item = [f32; 4];
    fn identity(&self) -> [f32; 4] {
        [1.0, 0.0, 0.0, 0.0]
    }
    fn combine(&self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        [
            a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
            a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
            a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
            a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
        ]
    }
}

/// Lanes: the largest exponent, and the sum of exponentials divided by the largest one.
#[derive(Clone, Copy, Default)]
pub struct LogSumExp;

#[monoid]
impl Monoid for LogSumExp {
    type Item = [f32; 2];
    fn identity(&self) -> [f32; 2] {
        [f32::NEG_INFINITY, 0.0]
    }
    fn combine(&self, a: [f32; 2], b: [f32; 2]) -> [f32; 2] {
        let (high, low) = if b[0] <= a[0] { (a, b) } else { (b, a) };
        let rest = if low[1] == 0.0 { 0.0 } else { low[1] * (low[0] - high[0]).exp() };
        [high[0], high[1] + rest]
    }
}

/// The four largest numbers, largest first.
#[derive(Clone, Copy, Default)]
pub struct TopFour;

#[monoid]
impl Monoid for TopFour {
    type Item = [f32; 4];
    fn identity(&self) -> [f32; 4] {
        [f32::NEG_INFINITY; 4]
    }
    fn combine(&self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        // One list is compared with the other in reverse. The four maxima form a bitonic sequence.
        let (p, q) = (math::maximum_number(a[0], b[3]), math::maximum_number(a[1], b[2]));
        let (r, s) = (math::maximum_number(a[2], b[1]), math::maximum_number(a[3], b[0]));
        let (p, r) = (math::maximum_number(p, r), math::minimum_number(p, r));
        let (q, s) = (math::maximum_number(q, s), math::minimum_number(q, s));
        [
            math::maximum_number(p, q),
            math::minimum_number(p, q),
            math::maximum_number(r, s),
            math::minimum_number(r, s),
        ]
    }
}

pub fn all(visitor: &mut impl Visitor) {
    visitor.visit::<Sum<f32>>("sum", "f32", "sign_f32");
    visitor.visit::<Max<u8>>("max", "u8", "bits_u8");
    visitor.visit::<Max<u16>>("max", "u16", "bits_u16");
    visitor.visit::<Min<i32>>("min", "i32", "bits_i32");
    visitor.visit::<Sum<f64>>("sum", "f64", "sign_f64");
    visitor.visit::<MaxByNorm>("max-by-norm", "f32x3", "uniform_f32x3");
    visitor.visit::<Matrix2Product<u32>>("matrix-product", "u32x4", "matrix_u32x4");
    visitor.visit::<LaneMax<u32, 5>>("max", "u32x5", "bits_u32x5");
    visitor.visit::<BoundingBox>("bounding-box", "f32x6", "uniform_f32x6");
    visitor.visit::<LaneMax<f32, 8>>("max", "f32x8", "uniform_f32x8");
    visitor.visit::<LaneMax<f32, 12>>("max", "f32x12", "uniform_f32x12");
    visitor.visit::<LaneMax<u32, 16>>("max", "u32x16", "bits_u32x16");
    visitor.visit::<Welford>("welford", "f64x3", "welford_f64x3");
    visitor.visit::<QuaternionProduct>("quaternion-product", "f32x4", "unit_f32x4");
    visitor.visit::<LogSumExp>("log-sum-exp", "f32x2", "exponent_f32x2");
    visitor.visit::<TopFour>("top-4", "f32x4", "top_f32x4");
}
