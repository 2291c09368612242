use warpfold::{Monoid, device, monoid};

#[derive(Clone, Copy, Default)]
struct Twice;

#[monoid]
impl Monoid for Twice {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    #[cfg(any())]
    fn combine(&self, a: u32, b: u32) -> u32 {
        a * b
    }
    #[cfg(not(any()))]
    fn combine(&self, a: u32, b: u32) -> u32 {
        a + b
    }
}

#[device]
#[cfg(not(any()))]
fn f(#[cfg(all())] a: u32) -> u32 {
    a
}

fn main() {}
