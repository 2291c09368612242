use warpfold::device;

#[device]
fn f(a: [i32; 4]) -> i32 {
    a.iter().sum()
}

fn main() {}
