use warpfold::{DeviceType, device};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Point {
    x: f32,
}

#[device]
impl Point {
    fn halved(self) -> Point {
        if self.x < 1.0 { self } else { Point { x: self.x / 2.0 }.halved() }
    }
}

fn main() {}
