//! IEEE 754-2019 minimum and maximum, the same on the CPU and on a GPU.
//!
//! Rust's own `f32::max` and `f32::min` leave open which zero they return, and so have no place in an exact operator.
//! Here -0 is below +0. CUDA C++ bodies that are written by hand call `warpfold::minimum(a, b)` and its like.
//!
//! A GPU has an instruction for each of `f32` (7.5 for the last two). On the CPU none has a branch: a processor then makes many at once.

use std::any::TypeId;

use num_traits::Float;

use crate::device;

/// The same as methods, which the device's templates have under these names.
#[doc(hidden)]
pub trait Ieee: Float + 'static {
    #[inline]
    fn ieee_minimum(self, b: Self) -> Self {
        // They differ where the operands are zeros, of which one may be -0, or where there is a NaN, which stays one.
        let (first, second) = (if self < b { self } else { b }, if b < self { b } else { self });
        bits(first, second, |a, b| a | b, |a, b| a | b).unwrap_or(
            if self.is_nan() | (self < b) | ((self == b) & self.is_sign_negative()) { self } else { b },
        )
    }
    #[inline]
    fn ieee_maximum(self, b: Self) -> Self {
        let (first, second) = (if self > b { self } else { b }, if b > self { b } else { self });
        match bits(first, second, |a, b| a & b, |a, b| a & b) {
            Some(greater) => {
                if self.is_nan() | b.is_nan() {
                    Self::nan()
                } else {
                    greater
                }
            }
            None => {
                if self.is_nan() | (self > b) | ((self == b) & b.is_sign_negative()) {
                    self
                } else {
                    b
                }
            }
        }
    }
    #[inline]
    fn ieee_minimum_number(self, b: Self) -> Self {
        if self.is_nan() | (b < self) | ((self == b) & b.is_sign_negative()) { b } else { self }
    }
    #[inline]
    fn ieee_maximum_number(self, b: Self) -> Self {
        if self.is_nan() | (b > self) | ((self == b) & self.is_sign_negative()) { b } else { self }
    }
}
impl<T: Float + 'static> Ieee for T {}

/// What is made of the bits of two floats, if they are those of `f32` or `f64`.
#[inline]
fn bits<T: Float + 'static>(
    a: T,
    b: T,
    of_32: impl Fn(u32, u32) -> u32,
    of_64: impl Fn(u64, u64) -> u64,
) -> Option<T> {
    // Which it is, and the conversions, which change nothing, are known when it is compiled.
    if TypeId::of::<T>() == TypeId::of::<f32>() {
        T::from(f32::from_bits(of_32(a.to_f32()?.to_bits(), b.to_f32()?.to_bits())))
    } else if TypeId::of::<T>() == TypeId::of::<f64>() {
        T::from(f64::from_bits(of_64(a.to_f64()?.to_bits(), b.to_f64()?.to_bits())))
    } else {
        None
    }
}

/// The smaller of two numbers, -0 below +0; a NaN if either is one.
///
/// ```
/// # use warpfold::math::minimum;
/// assert!(minimum(0.0_f32, -0.0).is_sign_negative());
/// assert!(minimum(1.0, f64::NAN).is_nan());
/// ```
#[device]
#[inline]
pub fn minimum<T: Float + 'static>(a: T, b: T) -> T {
    Ieee::ieee_minimum(a, b)
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
pub fn maximum<T: Float + 'static>(a: T, b: T) -> T {
    Ieee::ieee_maximum(a, b)
}

/// The smaller of two numbers, -0 below +0; a NaN only if both are.
///
/// ```
/// # use warpfold::math::minimum_number;
/// assert_eq!(minimum_number(f32::NAN, 2.0), 2.0);
/// ```
#[device]
#[inline]
pub fn minimum_number<T: Float + 'static>(a: T, b: T) -> T {
    Ieee::ieee_minimum_number(a, b)
}

/// The larger of two numbers, -0 below +0; a NaN only if both are.
///
/// ```
/// # use warpfold::math::maximum_number;
/// assert_eq!(maximum_number(f32::NAN, 2.0), 2.0);
/// ```
#[device]
#[inline]
pub fn maximum_number<T: Float + 'static>(a: T, b: T) -> T {
    Ieee::ieee_maximum_number(a, b)
}

#[cfg(test)]
mod tests;
