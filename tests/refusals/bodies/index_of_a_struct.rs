use warpfold::{DeviceType, device};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair {
    x: f32,
    y: f32,
}

impl std::ops::Index<usize> for Pair {
    type Output = f32;
    fn index(&self, k: usize) -> &f32 {
        if k == 0 { &self.x } else { &self.y }
    }
}

#[device]
fn f(a: Pair) -> f32 {
    a[0]
}

fn main() {}
