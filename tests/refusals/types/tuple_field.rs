use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Span {
    ends: (u32, u32),
}

fn main() {}
