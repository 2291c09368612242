use warpfold::device;

#[device]
fn f(a: [i32; 4]) -> i32 {
    let [first, rest @ ..] = a;
    first
}

fn main() {}
