use warpfold::device;

#[device]
fn f(a: i32) {
    let _ = a;
}

fn main() {}
