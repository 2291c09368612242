use warpfold::device;

#[device]
fn f(a: i32) -> i32 {
    let mut m = a;
    'a: while {
        if m > 2 {
            break 'a;
        }
        m < 10
    } {
        m += 1;
    }
    m
}

fn main() {}
