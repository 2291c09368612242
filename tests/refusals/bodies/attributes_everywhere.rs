use warpfold::{DeviceType, device};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair(u32, u32);

#[device]
fn first(a: u32, _: u32) -> u32 {
    a
}

#[device]
fn leaves(a: u32, b: u32) -> u32 {
    for k in 0..4 {
        #[cfg(any())]
        break;
        #[cfg(any())]
        continue;
        #[cfg(any())]
        return b + k;
    }
    a
}

#[device]
fn arguments(a: u32, b: u32) -> u32 {
    first(#[cfg(any())] b, a, b)
}

#[device]
fn elements(a: u32, b: u32) -> u32 {
    let Pair(x, _) = Pair(#[cfg(any())] b, a, b);
    let y = [#[cfg(any())] b, a, b];
    let (z, _) = (#[cfg(any())] b, a, b);
    x + y[0] + z
}

#[device]
fn assignments(mut a: u32, b: u32) -> u32 {
    #[cfg(any())]
    { a = b; }
    #[cfg(any())]
    a += b;
    a
}

fn main() {}
