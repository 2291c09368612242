use warpfold::device;

#[device]
fn f(a: [i32; 4]) -> i32 {
    let mut sum = 0;
    for x in &a {
        sum += x;
    }
    sum
}

#[device]
fn g(a: [i32; 4]) -> i32 {
    let mut sum = 0;
    for x in a.iter() {
        sum += x;
    }
    sum
}

fn main() {}
