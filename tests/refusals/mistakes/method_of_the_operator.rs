use warpfold::{Monoid, monoid};

impl Op {
    fn add(&self, a: u32, b: u32) -> u32 {
        a + b
    }
}

#[derive(Clone, Copy, Default)]
struct Op;

#[monoid]
impl Monoid for Op {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        self.add(a, b)
    }
}

fn main() {}
