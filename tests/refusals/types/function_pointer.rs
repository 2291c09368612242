use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Callback {
    call: fn(f32) -> f32,
}

fn main() {}
