use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    #[cfg(debug_assertions)]
    let k = 3;
    #[cfg(not(debug_assertions))]
    let k = 5;
    a * k
}

fn main() {}
