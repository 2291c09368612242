use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    fn g(a: i32) -> i32 {
        a + 1
    }
    g(a)
}

fn main() {}
