//! Types, constants and functions that the operators use.

use num_traits::Float;
use proptest::prelude::*;
use warpfold::{DeviceType, device};

use super::Edge;

/// A struct with fields of every kind.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Mixed {
    pub flag: bool,
    pub small: i8,
    pub long: u64,
    pub float: f32,
    pub pair: Pair,
    pub list: [i16; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Pair(pub i32, pub f64);

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct point {
    pub x: f32,
    pub y: f32,
}

/// A struct with a member that has the name of its type.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
#[allow(non_camel_case_types)]
pub struct segment {
    pub point: point,
    pub to: point,
    pub points: [point; 2],
}

impl Edge for point {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(x, y)| Self { x, y }).boxed()
    }
}

impl Edge for segment {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy(), Edge::strategy())
            .prop_map(|(point, to, points)| Self { point, to, points })
            .boxed()
    }
}

impl Edge for Pair {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(count, mean)| Self(count, mean)).boxed()
    }
}

impl Edge for Mixed {
    fn strategy() -> BoxedStrategy<Self> {
        (
            Edge::strategy(),
            Edge::strategy(),
            Edge::strategy(),
            Edge::strategy(),
            Edge::strategy(),
            Edge::strategy(),
        )
            .prop_map(|(flag, small, long, float, pair, list)| Self { flag, small, long, float, pair, list })
            .boxed()
    }
}

pub const LIMIT: i32 = 1000;
pub const TABLE: [u32; 4] = [3, 1, 4, 0xffff_ffff];
pub const ORIGIN: Pair = Pair(-1, 0.1);
pub mod constants {
    pub const DEEP: f32 = 1e-7;
}

/// A function with the name of the operator's method.
#[device]
pub fn combine(a: i32, b: i32) -> i32 {
    a ^ b
}

#[device]
pub fn sqrt(abs: i32) -> i32 {
    abs + 1
}

#[device]
pub fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    a
}

#[device]
pub fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let virtual_b = sum - a;
    (sum, (a - (sum - virtual_b)) + (b - virtual_b))
}

#[device]
pub fn scaled<const N: usize>(list: [i32; N], by: i32) -> [i32; N] {
    let mut scaled = [0; N];
    for k in 0..N {
        scaled[k] = list[k].wrapping_mul(by);
    }
    scaled
}

#[device]
pub fn larger<T: PartialOrd + Copy>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

#[device]
pub fn square<T: Float>(x: T) -> T {
    x * x + T::one()
}

pub mod helpers {
    use warpfold::device;

    /// Calls a helper of another module.
    #[device]
    pub fn least_of_three(a: i16, b: i16, c: i16) -> i16 {
        inner::least(inner::least(a, b), c)
    }
    pub mod inner {
        #[warpfold::device]
        pub fn least(a: i16, b: i16) -> i16 {
            if a < b { a } else { b }
        }
    }
}
