use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C, packed)]
struct Tight {
    flag: bool,
    x: f64,
}

fn main() {}
