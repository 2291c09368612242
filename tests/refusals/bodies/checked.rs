use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> i32 {
    a.checked_add(b).unwrap_or(0)
}

fn main() {}
