use warpfold::device;

#[device]
fn f(a: f32, b: f32) -> f32 {
    a.max(b)
}

fn main() {}
