use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Named {
    x: f32,
    name: String,
}

fn main() {}
