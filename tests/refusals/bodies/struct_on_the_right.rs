use warpfold::device;

#[derive(Clone, Copy, warpfold::DeviceType)]
#[repr(C)]
struct V(f32);

impl std::ops::Mul<V> for f32 {
    type Output = V;
    fn mul(self, v: V) -> V {
        V(self * v.0)
    }
}

#[device]
fn f(a: V) -> V {
    2.0 * a
}

fn main() {}
