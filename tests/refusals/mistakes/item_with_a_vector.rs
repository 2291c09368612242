use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = Vec<f32>;
    fn identity(&self) -> Vec<f32> {
        Vec::new()
    }
    fn combine(&self, a: Vec<f32>, b: Vec<f32>) -> Vec<f32> {
        a
    }
}

fn main() {}
