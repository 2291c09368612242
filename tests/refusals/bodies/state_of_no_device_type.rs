use warpfold::{Monoid, monoid};

#[derive(Clone, Copy)]
struct Sum {
    bias: i32,
}

#[monoid]
impl Monoid for Sum {
    type Item = i32;
    fn identity(&self) -> i32 {
        0
    }
    fn combine(&self, a: i32, b: i32) -> i32 {
        a + b + self.bias
    }
}

fn main() {}
