use std::ops::Mul;

use warpfold::operators::Sum;
use warpfold::{DeviceType, Monoid, device, monoid};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

trait Score {
    fn score(&self) -> f32;
}
impl Score for Point {
    fn score(&self) -> f32 {
        1.0
    }
}

// Of a reference, the method of the trait comes first.
#[device]
impl Point {
    fn score(self) -> f32 {
        self.x
    }
    fn twice(&self) -> f32 {
        self.score() * 2.0
    }
    #[allow(non_snake_case)]
    fn Swapped(x: f32) -> Point {
        Point { x: -x }
    }
}

// A literal without a suffix is an `f64` in Rust.
#[device]
impl Mul<f32> for Point {
    type Output = Point;
    fn mul(self, by: f32) -> Point {
        Point { x: self.x * by }
    }
}
impl Mul<f64> for Point {
    type Output = Point;
    fn mul(self, by: f64) -> Point {
        Point { x: self.x * by as f32 + 1.0 }
    }
}

// A function that begins with a capital letter is no tuple struct.
#[device]
fn swapped(x: f32) -> Point {
    Point::Swapped(x)
}

#[device]
fn half(x: f32) -> f32 {
    x * 0.5
}
mod other {
    pub fn half(x: f32) -> f32 {
        x * 0.25
    }
}
#[device]
fn imported(x: f32) -> f32 {
    use other::half;
    half(x)
}

#[derive(Clone, Copy, Default)]
struct InAMacro(Sum<u32>);

#[monoid]
impl Monoid for InAMacro {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        matches!(self.0.combine(a, b), 0..10) as u32
    }
}

fn main() {}
