use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    #[cfg(unix)]
    if a > 0 {
        return 1;
    }
    a
}

fn main() {}
