//! IEEE 754-2019 minimum and maximum, with the same bits on the CPU and on a GPU (except those of a
//! NaN).
//!
//! `f32::max` and `f32::min` of Rust do not specify which zero they return, so an exact operator
//! cannot use them. Here -0 is less than +0. Hand-written CUDA C++ bodies call
//! `warpfold::minimum(a, b)`, and the other three functions in the same way.
//!
//! A GPU has an `f32` instruction for each function; compute capability 7.5 has only those of the
//! last two. The CPU versions have no branch, so that the compiler can vectorise them.

use std::any::TypeId;

use num_traits::Float;

use crate::device;

/// The four functions as methods. The device templates have functions of the same names.
#[doc(hidden)]
pub trait Ieee: Float + 'static {
    #[inline]
    fn ieee_minimum(self, b: Self) -> Self {
        // Both selections agree unless the operands are zeros of different sign or one is a NaN.
        // Or-ing the bits gives -0 for two zeros, and keeps a NaN a NaN.
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

/// Combines the bits of two floats if `T` is `f32` or `f64`; `None` for other types.
#[inline]
fn bits<T: Float + 'static>(
    a: T,
    b: T,
    of_32: impl Fn(u32, u32) -> u32,
    of_64: impl Fn(u64, u64) -> u64,
) -> Option<T> {
    // The compiler knows the type, so it removes the other branches. The conversions change no
    // bits.
    if TypeId::of::<T>() == TypeId::of::<f32>() {
        T::from(f32::from_bits(of_32(a.to_f32()?.to_bits(), b.to_f32()?.to_bits())))
    } else if TypeId::of::<T>() == TypeId::of::<f64>() {
        T::from(f64::from_bits(of_64(a.to_f64()?.to_bits(), b.to_f64()?.to_bits())))
    } else {
        None
    }
}

/// The smaller of two numbers, with -0 less than +0. The result is NaN if either operand is NaN.
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

/// The larger of two numbers, with -0 less than +0. The result is NaN if either operand is NaN.
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

/// The smaller of two numbers, with -0 less than +0. The result is NaN only if both operands are
/// NaN.
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

/// The larger of two numbers, with -0 less than +0. The result is NaN only if both operands are
/// NaN.
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
