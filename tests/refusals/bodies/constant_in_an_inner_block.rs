use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    let b = {
        const K: i32 = 5;
        K * a
    };
    a + b
}

fn main() {}
