use warpfold::device;

#[device]
fn f(a: i32) -> bool {
    matches!(a, 1 | 2)
}

fn main() {}
