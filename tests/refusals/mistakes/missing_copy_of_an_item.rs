use warpfold::{DeviceType, Monoid, monoid};

#[derive(DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
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
        a
    }
}

fn main() {}
