use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> i32 {
    match (a, b) {
        (0, x) | (x, 0) => x,
        _ => 1,
    }
}

fn main() {}
