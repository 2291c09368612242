use warpfold::device;

const ORIGIN: [i32; 2] = [0, 0];

#[device]
fn f(a: [i32; 2]) -> i32 {
    match a {
        ORIGIN => 1,
        _ => 0,
    }
}

fn main() {}
