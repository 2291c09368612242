use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    let 3 = a else { return 0 };
    a
}

fn main() {}
