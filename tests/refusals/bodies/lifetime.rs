use warpfold::device;

#[device]
fn f<'a>(a: i32) -> i32 {
    a
}

fn main() {}
