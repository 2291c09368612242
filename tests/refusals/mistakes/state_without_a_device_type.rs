use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op {
    factor: f32,
}

#[monoid]
impl Monoid for Op {
    type Item = f32;
    fn identity(&self) -> f32 {
        0.0
    }
    fn combine(&self, a: f32, b: f32) -> f32 {
        a + b * self.factor
    }
}

fn main() {}
