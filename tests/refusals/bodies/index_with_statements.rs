use warpfold::device;

#[device]
fn f(mut a: [i32; 3], x: i32) -> [i32; 3] {
    let mut k = 0;
    a[{
        k += 1;
        k
    }] = x;
    a
}

fn main() {}
