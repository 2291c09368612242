use warpfold::device;

struct Saturating;

impl Saturating {
    fn pow(a: i32, by: u32) -> i32 {
        a.saturating_pow(by)
    }
}

#[device]
fn f(a: i32) -> i32 {
    Saturating::pow(a, 2)
}

fn main() {}
