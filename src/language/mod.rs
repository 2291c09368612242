//! Rust bodies as data: the expansion of `#[monoid]` and `#[device]`.
//!
//! A macro sees tokens and no types. So it writes two things:
//!
//! - The body as a tree ([`syntax`]), in which every literal, variable and written type has a
//!   number.
//! - A probe ([`probe`]): a copy of the body in a closure that is never called. Every value with a
//!   number passes through the slot of that number.
//!
//! The compiler infers the slots' types from the probe exactly as in the original body. The type of
//! a slot at a call says which function is called ([`callee`]). Tree and types are one constant, a
//! [`Translated`], which rendering reads.

pub mod callee;
mod device_aggregate;
mod device_call;
mod device_code;
mod device_monoid;
mod device_operator;
mod device_steps;
mod foreign;
mod function;
mod inner;
mod key;
pub mod known;
mod part;
pub mod primitive;
pub mod probe;
pub mod syntax;
mod tuples;

pub use crate::types::Arrangement;
pub use callee::{Helper, Operator};
pub(crate) use device_aggregate::accumulates;
pub use device_aggregate::{DeviceAggregate, OfItems, PreparedBy, Preparing, steps_are_exact};
pub use device_call::DeviceCall;
pub use device_code::DeviceCode;
pub(crate) use device_monoid::check_sizes;
pub use device_monoid::{DeviceMonoid, RustType};
pub use device_operator::{DeviceOperator, Inside, TranslatedCombine, TranslatedMonoid};
pub(crate) use device_operator::{Form, Inner, Prepared};
pub(crate) use device_steps::{Called, Steps};
pub use device_steps::{DeviceSteps, TranslatedAggregate};
pub(crate) use function::{Body, Translation};
pub use function::{Callee, DeviceFunction, Translated, Type, Value};
pub use inner::{inner, inner_of, state_field};
pub use key::{Find, Key, argument};
pub(crate) use part::Part;
pub use primitive::{half, number, ordered, scalar};
pub use probe::{
    CastTo, Constant, Local, Slot, array, cast_of, constant, float_of, integer_of, is, marker, option, same,
    ty, undeclared,
};
