use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Linked {
    next: *const f32,
}

fn main() {}
