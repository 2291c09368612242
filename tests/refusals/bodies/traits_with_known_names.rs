use warpfold::{DeviceType, device};

/// With a meaning of its own.
trait Zero {
    fn is_zero(&self) -> bool;
}
trait Root {
    fn sqrt(self) -> Self;
}
trait Float: num_traits::Float {
    fn sqrt(self) -> Self;
}

#[device]
fn clear<T: DeviceType + Zero>(a: T, b: T) -> T {
    if a.is_zero() { b } else { a }
}
#[device]
fn root<T: DeviceType + Root>(a: T) -> T {
    a.sqrt()
}
#[device]
fn float<T: DeviceType + Float>(a: T) -> T {
    a.sqrt()
}
#[device]
fn path<T: DeviceType + Float>(a: T) -> T {
    Float::sqrt(a)
}
#[device]
fn of_parameter<T: DeviceType + Root>(a: T) -> T {
    T::sqrt(a)
}
trait Cast {
    fn as_(self) -> u32;
    fn into(self) -> u32;
    fn from(x: u32) -> Self;
}
#[device]
fn cast<T: DeviceType + Cast>(a: T) -> u32 {
    a.as_()
}
#[device]
fn cast_into<T: DeviceType + Cast>(a: T) -> u32 {
    a.into()
}
#[device]
fn cast_from<T: DeviceType + Cast>(a: u32) -> T {
    T::from(a)
}
trait Len {
    fn len(self) -> usize;
}
impl Len for [f32; 3] {
    fn len(self) -> usize {
        7
    }
}
#[device]
fn length(a: [f32; 3]) -> u32 {
    a.len() as u32
}
mod cmp {
    pub fn max(a: u32, _: u32) -> u32 {
        a
    }
}
#[device]
fn larger(a: u32, b: u32) -> u32 {
    cmp::max(a, b)
}
#[device]
fn scalar(a: f32) -> bool {
    f32::is_zero(&a)
}
impl Zero for f32 {
    fn is_zero(&self) -> bool {
        true
    }
}
trait Number {
    fn plus(self, b: Self) -> Self;
}
impl Number for u32 {
    fn plus(self, b: u32) -> u32 {
        self - b
    }
}
#[device]
fn sum(a: u32, b: u32) -> u32 {
    Number::plus(a, b)
}
/// By value, where the known one is by reference.
trait Negative {
    fn is_negative(self) -> bool;
}
#[device]
fn negative<T: DeviceType + num_traits::Signed + Negative>(a: T) -> bool {
    a.is_negative()
}
/// By reference, where the known one is a slice's.
trait Length {
    fn len(&self) -> usize;
}
impl Length for [f64; 3] {
    fn len(&self) -> usize {
        7
    }
}
#[device]
fn length_by_reference(a: [f64; 3]) -> u32 {
    a.len() as u32
}
trait Smaller {
    fn ieee_minimum(self, b: Self) -> Self;
}
impl Smaller for f32 {
    fn ieee_minimum(self, b: f32) -> f32 {
        self - b
    }
}
#[device]
fn smaller(a: f32, b: f32) -> f32 {
    f32::ieee_minimum(a, b)
}
fn main() {}
