use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
union Either {
    x: f32,
    y: u32,
}

fn main() {}
