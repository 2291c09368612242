use warpfold::{DeviceType, Monoid, monoid};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

impl Point {
    fn norm(self) -> f32 {
        self.x
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
        if b.norm() > a.norm() { b } else { a }
    }
}

fn main() {}
