//! Rust bodies as data: what `#[monoid]` and `#[device]` expand to.
//!
//! A macro sees tokens and no types. So it writes two things. One is the body as a tree ([`syntax`]), in which every
//! literal, variable and written type is a number. The other is a probe ([`probe`]): the same body once more, in a
//! closure that is never called, in which whatever has a number passes through a slot of that number. The compiler
//! infers the slots' types from the probe exactly as it does in the body itself, and what a slot's type is can be asked
//! when the tree is rendered.

pub mod probe;
pub mod syntax;

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

use std::any::TypeId;
use std::fmt;

use self::syntax::Body;
use super::{DeviceFunction, Layout, Literal};

/// The type of a value inside a body.
#[derive(Clone, Debug)]
pub enum Type {
    /// A device type.
    Value(Layout),
    /// A tuple, which has no layout that anybody else knows.
    Tuple(Vec<Type>),
}

/// A body with all that its numbers stand for.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The source file of the body.
    pub file: &'static str,
    /// The tree.
    pub body: &'static Body,
    /// The types of the slots.
    pub types: Vec<Type>,
    /// The values of paths such as `f32::INFINITY`, `LIMIT` and `N`, and of calls without arguments such as
    /// `T::zero()`.
    pub constants: Vec<(Type, Literal)>,
    /// The `#[device]` functions that are called.
    pub callees: Vec<Callee>,
}

impl Translation {
    /// The first line of the body, from 1.
    pub fn line(&self) -> u32 {
        let block = &self.body.block;
        block
            .statements
            .first()
            .map(|statement| statement.line)
            .or(block.value.map(|(line, _)| line))
            .unwrap_or(1)
    }
}

/// A `#[device]` function, with its generic arguments.
#[derive(Clone, Copy)]
pub struct Callee {
    /// The same for the same function with the same arguments.
    pub id: TypeId,
    /// Its translation: not made here, since a function may call itself.
    pub function: fn() -> DeviceFunction,
}

impl fmt::Debug for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callee").field(&self.id).finish()
    }
}
