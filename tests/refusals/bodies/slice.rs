use warpfold::device;

#[device]
fn f(a: [i32; 4]) -> i32 {
    a[1..3][0]
}

fn main() {}
