use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    match a {
        #[cfg(any())]
        0..=9 => 5,
        _ => a,
    }
}

fn main() {}
