use warpfold::device;

#[device]
fn f(a: f32, b: f32) -> f32 {
    f32::min(a, b)
}

fn main() {}
