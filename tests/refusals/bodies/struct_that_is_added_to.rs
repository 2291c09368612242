use warpfold::device;

#[derive(Clone, Copy, warpfold::DeviceType)]
#[repr(C)]
struct V(f32);

impl std::ops::AddAssign<f32> for V {
    fn add_assign(&mut self, by: f32) {
        self.0 += by;
    }
}

#[device]
fn f(mut a: V) -> V {
    a += 1.0;
    a
}

fn main() {}
