use warpfold::device;

fn host(a: i32) -> i32 {
    a + 1
}

#[device]
fn f(a: i32) -> i32 {
    host(a)
}

fn main() {}
