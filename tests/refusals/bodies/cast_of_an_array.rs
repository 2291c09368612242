use warpfold::device;

#[device]
fn f(a: [u8; 4]) -> u32 {
    u32::from_le_bytes(a)
}

fn main() {}
