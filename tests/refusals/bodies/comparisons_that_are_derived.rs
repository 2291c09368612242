use warpfold::{DeviceType, device};

#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(C)]
struct Undeclared {
    x: f32,
}

#[device]
#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Underived {
    x: f32,
}

#[device]
#[derive(Clone, Copy, PartialEq, DeviceType)]
#[repr(C)]
struct Outer {
    inner: Undeclared,
}

#[device]
fn same(a: Undeclared, b: Undeclared) -> bool {
    a == b
}

fn main() {}
