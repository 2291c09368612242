use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    let mut sum = a;
    for k in (0..10).step_by(2) {
        sum += k;
    }
    sum
}

fn main() {}
