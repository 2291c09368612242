//! Rust bodies as data: what `#[monoid]` and `#[device]` expand to.
//!
//! A macro sees tokens and no types. So it writes two things. One is the body as a tree ([`syntax`]), in which every
//! literal, variable and written type is a number. The other is a probe ([`probe`]): the same body once more, in a
//! closure that is never called, in which whatever has a number passes through a slot of that number. The compiler
//! infers the slots' types from the probe exactly as it does in the body itself, and what a slot's type is can be asked
//! when the tree is rendered.

mod device_code;
mod device_monoid;
mod device_operator;
mod function;
pub mod known;
pub mod probe;
pub mod syntax;

pub use device_code::DeviceCode;
pub use device_monoid::DeviceMonoid;
pub use device_operator::DeviceOperator;
pub(crate) use function::Body;
pub use function::{Callee, DeviceFunction, Translation, Type};
pub use probe::{
    CastTo, Constant, Helper, Local, Slot, array, cast_of, constant, float_of, integer_of, is, number,
    ordered, same, undeclared,
};
