use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> bool {
    (a, b) < (b, a)
}

fn main() {}
