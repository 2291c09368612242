use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> i32 {
    assert!(b > 0);
    a / b
}

fn main() {}
