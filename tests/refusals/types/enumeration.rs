use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
enum WithoutRepr {
    Red,
}

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum WithFields {
    Grey(u8),
}

#[derive(Clone, Copy, DeviceType)]
#[repr(i16)]
enum WithoutZero {
    Red = 1,
    Green = -2,
}

fn main() {}
