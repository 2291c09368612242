//! An `impl Monoid` without `#[monoid]`.

use warpfold::{Device, Monoid, Reduction};

#[derive(Clone, Copy, Default)]
struct Forgotten;

impl Monoid for Forgotten {
    type Item = f32;
    fn identity(&self) -> f32 {
        0.0
    }
    fn combine(&self, left: f32, right: f32) -> f32 {
        left + right
    }
}

fn main() {
    let _ = Reduction::<Forgotten>::new(Device::cpu()).run(&[1.0]);
}
