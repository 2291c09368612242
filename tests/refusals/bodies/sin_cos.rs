use warpfold::device;

#[device]
fn f(a: f32) -> f32 {
    let (s, c) = a.sin_cos();
    s + c
}

fn main() {}
