use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = (f32, u32);
    fn identity(&self) -> (f32, u32) {
        (0.0, 0)
    }
    fn combine(&self, a: (f32, u32), b: (f32, u32)) -> (f32, u32) {
        a
    }
}

fn main() {}
