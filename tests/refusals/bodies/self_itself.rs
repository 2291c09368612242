use warpfold::{Monoid, monoid};

#[derive(Clone, Copy, Default)]
struct Sum;

impl Sum {
    fn add(&self, a: i32, b: i32) -> i32 {
        a + b
    }
}

#[monoid]
impl Monoid for Sum {
    type Item = i32;
    fn identity(&self) -> i32 {
        0
    }
    fn combine(&self, a: i32, b: i32) -> i32 {
        let me = self;
        a
    }
}

fn main() {}
