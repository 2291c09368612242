use num_traits::Float;
use warpfold::device;

#[device]
fn f<T: Float>(a: T, b: T) -> T {
    a.max(b)
}

fn main() {}
