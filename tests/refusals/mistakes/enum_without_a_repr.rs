use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
enum Phase {
    Solid,
    Liquid,
}

fn main() {}
