use warpfold::device;

#[device]
fn f(a: u32) -> u32 {
    if a == 0 { 1 } else { a * f(a - 1) }
}

fn main() {}
