use warpfold::device;

#[device]
async fn f(a: i32) -> i32 {
    a
}

fn main() {}
