use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = u128;
    fn identity(&self) -> u128 {
        0
    }
    fn combine(&self, a: u128, b: u128) -> u128 {
        a + b
    }
}

fn main() {}
