use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> i32 {
    let twice = |x: i32| x * 2;
    twice(a) + b
}

fn main() {}
