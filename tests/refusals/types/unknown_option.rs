use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[device_type(path = warpfold)]
#[repr(C)]
struct Point {
    x: f32,
}

fn main() {}
