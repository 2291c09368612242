//! Monoids: what can be reduced. No CUDA call and no I/O happens here.

mod device_code;
mod device_type;
pub mod math;
mod monoid;
pub mod operators;
#[doc(hidden)]
pub mod translation;
pub mod tree;

pub(crate) use device_code::Body;
pub use device_code::{DeviceCode, DeviceFunction, DeviceOperator};
pub use device_type::{DeviceType, Field, Kind, Layout, Literal, Scalar};
pub use monoid::{Commutative, DeviceMonoid, Monoid};
