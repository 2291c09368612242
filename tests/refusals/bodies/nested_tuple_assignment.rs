use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> i32 {
    let (mut x, mut y, mut z) = (a, b, a);
    ((x, y), z) = ((b, a), b);
    x + y + z
}

fn main() {}
