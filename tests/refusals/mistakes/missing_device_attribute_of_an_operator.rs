use warpfold::{DeviceType, Monoid, monoid};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

impl std::ops::Add for Point {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x }
    }
}

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = Point;
    fn identity(&self) -> Point {
        Point { x: 0.0 }
    }
    fn combine(&self, a: Point, b: Point) -> Point {
        a + b
    }
}

fn main() {}
