use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = f32;
    fn identity(&self) -> f32 {
        0.0
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        let add = |x: f32| x + 1.0;
        add(a) + b
    }
}

fn main() {}
