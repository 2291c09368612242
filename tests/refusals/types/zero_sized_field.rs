use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Tagged {
    x: f32,
    none: [u8; 0],
}

fn main() {}
