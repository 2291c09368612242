use warpfold::device;

#[device]
fn f(a: f64) -> f64 {
    a.clamp(0.0, 1.0)
}

fn main() {}
