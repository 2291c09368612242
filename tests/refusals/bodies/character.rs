use warpfold::device;

#[device]
fn f(a: u8) -> u8 {
    let letter = a as char;
    letter as u8
}

fn main() {}
