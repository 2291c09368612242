use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    unsafe { a.unchecked_add(1) }
}

fn main() {}
