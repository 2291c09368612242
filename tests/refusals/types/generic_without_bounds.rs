use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair<T> {
    first: T,
    second: T,
}

fn main() {}
