use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = [f32; 4];
    fn identity(&self) -> [f32; 4] {
        [0.0; 4]
    }
    fn combine(&self, a: [f32; 4], b: [f32; 4]) -> [f32; 4] {
        let first = &a[..2];
        b
    }
}

fn main() {}
