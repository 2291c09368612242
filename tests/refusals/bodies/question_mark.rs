use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    let b = a.checked_add(1)?;
    b
}

fn main() {}
