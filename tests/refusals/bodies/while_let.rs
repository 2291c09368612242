use warpfold::device;

#[device]
fn f(mut a: i32) -> i32 {
    while let 3 = a {
        a += 1;
    }
    a
}

fn main() {}
