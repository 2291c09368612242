use warpfold::device;

#[device(inline)]
fn f(a: i32) -> i32 {
    a
}

fn main() {}
