use warpfold::device;

#[device]
fn f(a: i32, b: i32) -> i32 {
    if b == 0 {
        panic!("no");
    }
    a / b
}

fn main() {}
