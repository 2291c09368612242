use warpfold::device;

#[device]
fn f(a: [i32; 2]) -> i32 {
    let _ = debug_assert!(a[0] > 0);
    a[0]
}

#[device]
fn g(a: i32) -> bool {
    core::matches!(a, 1 | 2)
}

#[device]
fn h(mut a: [i32; 2], mut b: i32) -> i32 {
    core::mem::swap(&mut a[0], &mut b);
    a[0]
}

fn main() {}
