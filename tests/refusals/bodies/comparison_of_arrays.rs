use warpfold::device;

#[device]
fn f(a: [i32; 2], b: [i32; 2]) -> bool {
    a == b
}

fn main() {}
