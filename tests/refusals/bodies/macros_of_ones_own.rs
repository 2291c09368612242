use warpfold::device;

macro_rules! matches {
    ($($token:tt)*) => {
        false
    };
}
mod own {
    macro_rules! debug_assert {
        ($($token:tt)*) => {
            ()
        };
    }
    pub(crate) use debug_assert;

    pub fn swap<T>(_: &mut T, _: &mut T) {}
}
use own::debug_assert;

#[device]
fn f(a: i32) -> bool {
    matches!(a, 1 | 2)
}

#[device]
fn g(a: i32) -> i32 {
    debug_assert!(a > 0);
    a
}

#[device]
fn h(mut a: i32, mut b: i32) -> i32 {
    own::swap(&mut a, &mut b);
    a - b
}

fn main() {}
