use std::ops::{Add, Deref};

use warpfold::{DeviceType, device};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

impl Point {
    fn undeclared(self) -> f32 {
        self.x
    }
    fn created(x: f32) -> Point {
        Point { x }
    }
}

trait Length {
    fn length(self) -> f32;
}
impl Length for Point {
    fn length(self) -> f32 {
        1.0
    }
}

#[device]
impl Point {
    fn length(&self) -> f32 {
        self.x
    }
    fn changed(&mut self) -> f32 {
        self.x
    }
    fn max(&self, _: Point) -> f32 {
        self.x
    }
    fn of_flags<const FLAG: bool>(self) -> f32 {
        self.x
    }
    fn without_a_result(self) {}
    fn circle(self) -> f32 {
        self.around()
    }
    fn around(self) -> f32 {
        self.circle()
    }
}

#[device]
impl Deref for Point {
    type Target = f32;
    fn deref(&self) -> &f32 {
        &self.x
    }
}

#[device]
impl Add<&Point> for Point {
    type Output = Point;
    fn add(self, _: &Point) -> Point {
        self
    }
}

mod own {
    pub trait Sub {
        fn sub(self, other: Self) -> Self;
    }
}
impl std::ops::Sub for Point {
    type Output = Point;
    fn sub(self, _: Point) -> Point {
        self
    }
}
#[device]
impl own::Sub for Point {
    fn sub(self, other: Point) -> Point {
        other
    }
}

#[device]
fn first(a: Point) -> f32 {
    a.undeclared()
}
#[device]
fn second(a: Point) -> Point {
    Point::created(a.x)
}
#[device]
fn third(a: Point) -> f32 {
    a.length()
}
#[device]
fn refused_above(a: Point) -> f32 {
    a.max(a) + a.of_flags::<true>()
}
#[device]
fn of_bounds<T: DeviceType + Add<Output = T>>(a: T) -> T {
    a + a
}

fn main() {}
