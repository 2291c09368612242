use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
#[repr(u8)]
enum Shape {
    Point,
    Circle(f32),
}

fn main() {}
