use warpfold::{Monoid, monoid};

fn square(x: f32) -> f32 {
    x * x
}

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = f32;
    fn identity(&self) -> f32 {
        0.0
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        square(a) + b
    }
}

fn main() {}
