//! Rust bodies as data: what `#[monoid]` and `#[device]` expand to.
//!
//! A macro sees tokens and no types. So it writes two things. One is the body as a tree ([`syntax`]), in which every
//! literal, variable and written type is a number. The other is a probe ([`probe`]): the same body once more, in a
//! closure that is never called, in which whatever has a number passes through a slot of that number. The compiler
//! infers the slots' types from the probe exactly as it does in the body itself, and what a slot's type is can be asked
//! when the tree is rendered.

mod function;
pub mod probe;
pub mod syntax;

pub(crate) use function::Body;
pub use function::{Callee, DeviceFunction, Translation, Type};
pub use probe::{
    CastTo, Constant, Helper, Local, Slot, array, cast_of, constant, float_of, integer_of, is, number,
    ordered, same, undeclared,
};

/// The traits whose methods have a counterpart in CUDA C++.
pub mod known {
    #[doc(hidden)]
    pub use crate::math::Ieee;
    #[doc(no_inline)]
    pub use crate::operators::Number;
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
}
