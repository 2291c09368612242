use warpfold::device;

#[device]
unsafe fn f(a: i32) -> i32 {
    a
}

fn main() {}
