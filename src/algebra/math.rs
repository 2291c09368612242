//! IEEE 754-2019 minimum and maximum, the same on the CPU and on a GPU.
//!
//! Rust's own `f32::max` and `f32::min` leave open which zero they return, and so have no place in an exact operator.
//! Here -0 is below +0. CUDA C++ bodies that are written by hand call `warpfold::minimum(a, b)` and its like.

use num_traits::Float;

use crate::device;

/// The smaller of two numbers, -0 below +0; a NaN if either is one.
///
/// ```
/// # use warpfold::math::minimum;
/// assert!(minimum(0.0_f32, -0.0).is_sign_negative());
/// assert!(minimum(1.0, f64::NAN).is_nan());
/// ```
#[device]
#[inline]
pub fn minimum<T: Float>(a: T, b: T) -> T {
    if a.is_nan() {
        a
    } else if b.is_nan() {
        b
    } else if a == b {
        if b.is_sign_negative() { b } else { a }
    } else if b < a {
        b
    } else {
        a
    }
}

/// The larger of two numbers, -0 below +0; a NaN if either is one.
///
/// ```
/// # use warpfold::math::maximum;
/// assert!(maximum(-0.0_f32, 0.0).is_sign_positive());
/// assert!(maximum(f64::NAN, 1.0).is_nan());
/// ```
#[device]
#[inline]
pub fn maximum<T: Float>(a: T, b: T) -> T {
    if a.is_nan() {
        a
    } else if b.is_nan() {
        b
    } else if a == b {
        if a.is_sign_negative() { b } else { a }
    } else if b > a {
        b
    } else {
        a
    }
}

/// The smaller of two numbers, -0 below +0; a NaN only if both are.
///
/// ```
/// # use warpfold::math::minimum_number;
/// assert_eq!(minimum_number(f32::NAN, 2.0), 2.0);
/// ```
#[device]
#[inline]
pub fn minimum_number<T: Float>(a: T, b: T) -> T {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        minimum(a, b)
    }
}

/// The larger of two numbers, -0 below +0; a NaN only if both are.
///
/// ```
/// # use warpfold::math::maximum_number;
/// assert_eq!(maximum_number(f32::NAN, 2.0), 2.0);
/// ```
#[device]
#[inline]
pub fn maximum_number<T: Float>(a: T, b: T) -> T {
    if a.is_nan() {
        b
    } else if b.is_nan() {
        a
    } else {
        maximum(a, b)
    }
}
