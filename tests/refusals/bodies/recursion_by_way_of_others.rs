use warpfold::{DeviceMonoid, Monoid, device, monoid};

#[device]
fn even(a: u32) -> bool {
    if a == 0 { true } else { odd(a - 1) }
}

#[device]
fn odd(a: u32) -> bool {
    if a == 0 { false } else { even(a - 1) }
}

#[derive(Clone, Copy, Default)]
struct Parity;

#[monoid]
impl Monoid for Parity {
    type Item = bool;
    fn identity(&self) -> bool {
        true
    }
    fn combine(&self, a: bool, b: bool) -> bool {
        a ^ b ^ even(7)
    }
}

fn main() {
    assert!(Parity::EXACT);
}
