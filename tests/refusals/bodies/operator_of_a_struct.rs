use warpfold::{DeviceType, device};

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Complex {
    re: f32,
    im: f32,
}

impl std::ops::Add for Complex {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

impl Complex {
    fn abs(self) -> f32 {
        self.re.hypot(self.im)
    }
}

#[device]
fn f(a: Complex, b: Complex) -> Complex {
    a + b
}

fn main() {}
