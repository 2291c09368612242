use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = [f32; 3];
    fn identity(&self) -> [f32; 3] {
        [0.0; 3]
    }
    fn combine(&self, a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
        a.map(|x| x + b[0])
    }
}

fn main() {}
