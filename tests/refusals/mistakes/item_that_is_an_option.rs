use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = Option<f32>;
    fn identity(&self) -> Option<f32> {
        None
    }
    fn combine(&self, a: Option<f32>, b: Option<f32>) -> Option<f32> {
        a
    }
}

fn main() {}
