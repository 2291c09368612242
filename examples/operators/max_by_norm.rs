//! The point farthest from the origin.

use warpfold::{DeviceType, Monoid, device, monoid};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Point {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

#[device]
impl Point {
    /// The square of the distance from the origin.
    pub fn norm_squared(self) -> f32 {
        self.x * self.x + self.y * self.y + self.z * self.z
    }
}

/// The point farthest from the origin; the earlier one on a tie.
///
/// It is associative if no square overflows or underflows, and no coordinate is NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaxByNorm;

#[monoid]
impl Monoid for MaxByNorm {
    type Item = Point;
    fn identity(&self) -> Point {
        Point { x: 0.0, y: 0.0, z: 0.0 }
    }
    fn combine(&self, a: Point, b: Point) -> Point {
        if b.norm_squared() > a.norm_squared() { b } else { a }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    fn points() -> impl Strategy<Value = Point> + Clone {
        let coordinate = || prop_oneof![(-1e3_f32..1e3), (-2_i8..=2).prop_map(|k| f32::from(k) + 0.5)];
        (coordinate(), coordinate(), coordinate()).prop_map(|(x, y, z)| Point { x, y, z })
    }

    warpfold::laws! {
        max_by_norm: Laws::of(MaxByNorm, points());
    }
}
