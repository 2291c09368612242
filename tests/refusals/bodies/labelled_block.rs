use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    'out: {
        if a > 0 {
            break 'out 1;
        }
        2
    }
}

fn main() {}
