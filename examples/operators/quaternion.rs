//! The product of a sequence of rotations.

use std::ops::Mul;

use warpfold::{DeviceType, Monoid, device, monoid};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C, align(16))]
pub struct Quaternion {
    pub w: f32,
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

/// Hamilton's product.
#[device]
impl Mul for Quaternion {
    type Output = Self;
    fn mul(self, b: Self) -> Self {
        let a = self;
        Self {
            w: a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            x: a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            y: a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            z: a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        }
    }
}

/// The product, left times right. Associative up to rounding.
#[derive(Clone, Copy, Debug, Default)]
pub struct QuaternionProduct;

#[monoid]
impl Monoid for QuaternionProduct {
    type Item = Quaternion;
    fn identity(&self) -> Quaternion {
        Quaternion { w: 1.0, x: 0.0, y: 0.0, z: 0.0 }
    }
    fn combine(&self, a: Quaternion, b: Quaternion) -> Quaternion {
        a * b
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{self, Laws, proptest::prelude::*};

    use super::*;

    fn unit() -> impl Strategy<Value = Quaternion> + Clone {
        prop::array::uniform4(-1.0_f32..1.0).prop_filter_map(
            "too short to have a direction",
            |[w, x, y, z]| {
                let norm = (w * w + x * x + y * y + z * z).sqrt();
                (norm > 0.1).then(|| Quaternion { w: w / norm, x: x / norm, y: y / norm, z: z / norm })
            },
        )
    }

    warpfold::laws! {
        quaternion_product: Laws::of(QuaternionProduct, unit()).within(1e-5, laws::product_of_magnitudes);
    }
}
