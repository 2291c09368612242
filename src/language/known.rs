//! The traits whose methods have a counterpart in CUDA C++.

#[doc(no_inline)]
pub use crate::operators::Number;
#[doc(hidden)]
pub use crate::operators::math::Ieee;
#[doc(no_inline)]
pub use core::cmp::{Ord, PartialEq, PartialOrd};
#[doc(no_inline)]
pub use num_traits::float::FloatCore;
#[doc(no_inline)]
pub use num_traits::real::Real;
#[doc(no_inline)]
pub use num_traits::{
    AsPrimitive, Euclid, Float, MulAdd, One, Pow, PrimInt, Saturating, SaturatingAdd, SaturatingMul,
    SaturatingSub, Signed, Unsigned, WrappingAdd, WrappingMul, WrappingNeg, WrappingShl, WrappingShr,
    WrappingSub, Zero,
};
