use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Borrowed {
    x: f32,
    name: &'static str,
}

fn main() {}
