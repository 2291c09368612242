use warpfold::DeviceType;

#[derive(Clone, Copy, DeviceType)]
struct Point {
    x: f32,
    y: f32,
}

fn main() {}
