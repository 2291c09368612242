//! The bounding box of points.

use warpfold::{DeviceType, Monoid, math, monoid};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Aabb {
    pub low: [f32; 3],
    pub high: [f32; 3],
}

impl Aabb {
    pub fn of(point: [f32; 3]) -> Self {
        Self { low: point, high: point }
    }
}

/// The smallest axis-parallel box that holds both boxes. A NaN in either operand is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct BoundingBox;

#[monoid]
impl Monoid for BoundingBox {
    type Item = Aabb;
    fn identity(&self) -> Aabb {
        Aabb { low: [f32::INFINITY; 3], high: [f32::NEG_INFINITY; 3] }
    }
    fn combine(&self, mut a: Aabb, b: Aabb) -> Aabb {
        for k in 0..3 {
            a.low[k] = math::minimum(a.low[k], b.low[k]);
            a.high[k] = math::maximum(a.high[k], b.high[k]);
        }
        a
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    warpfold::laws! {
        bounding_box [commutative]: Laws::of(BoundingBox, any::<[f32; 3]>().prop_map(Aabb::of));
    }
}
