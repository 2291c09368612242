use warpfold::device;

#[device]
fn f(a: f32, b: f32) -> bool {
    a.partial_cmp(&b).is_some()
}

fn main() {}
