use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> i32 {
    let c = &a;
    *c + b
}

fn main() {}
