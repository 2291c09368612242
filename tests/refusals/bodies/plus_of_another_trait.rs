use warpfold::device;

trait Tropical {
    fn plus(self, other: Self) -> Self;
}

impl Tropical for i32 {
    fn plus(self, other: Self) -> Self {
        self.min(other)
    }
}

#[device]
fn f(a: i32, b: i32) -> i32 {
    a.plus(b)
}

fn main() {}
