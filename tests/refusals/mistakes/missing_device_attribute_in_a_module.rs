// A module with the name of its function.
use warpfold::{Monoid, monoid};

mod square {
    pub fn square(x: f32) -> f32 {
        x * x
    }
}
use square::square;

#[derive(Clone, Copy, Default)]
struct SumOfSquares;

#[monoid]
impl Monoid for SumOfSquares {
    type Item = f32;
    fn identity(&self) -> f32 {
        0.0
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        square(a) + square::square(b)
    }
}

fn main() {}
