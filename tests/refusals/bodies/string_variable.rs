use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    let name = String::new();
    a
}

fn main() {}
