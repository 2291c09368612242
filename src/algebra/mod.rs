//! Monoids: what can be reduced. No CUDA call and no I/O happens here.

mod device_code;
mod device_operator;
mod device_type;
pub mod math;
mod monoid;
pub mod operators;
#[doc(hidden)]
pub mod translation;
pub mod tree;

pub use device_code::DeviceCode;
pub use device_operator::DeviceOperator;
pub use device_type::{DeviceType, Field, Kind, Layout, Literal, Scalar};
pub use monoid::{Commutative, DeviceMonoid, Monoid};
pub(crate) use translation::Body;
pub use translation::DeviceFunction;
