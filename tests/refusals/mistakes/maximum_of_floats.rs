use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = f32;
    fn identity(&self) -> f32 {
        f32::NEG_INFINITY
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        a.max(b)
    }
}

fn main() {}
