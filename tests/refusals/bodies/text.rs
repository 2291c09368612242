use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    let name = "a";
    a
}

fn main() {}
