#![allow(non_upper_case_globals)]
use warpfold::device;

const limit: i32 = 5;

#[device]
fn f(a: i32) -> i32 {
    match a {
        limit => limit + 1,
    }
}

fn main() {}
