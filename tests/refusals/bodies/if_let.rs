use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    if let 3 = a { 1 } else { 2 }
}

fn main() {}
