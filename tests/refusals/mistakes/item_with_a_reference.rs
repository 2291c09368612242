use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Named<'a> {
    name: &'a u8,
}

fn main() {}
