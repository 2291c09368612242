use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Colour {
    Red,
    Green,
}

fn main() {}
