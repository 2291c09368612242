//! What both compilers agree on: types of values, and of GPUs.

mod architecture;
mod device_type;

pub use architecture::Architecture;
pub use device_type::{DeviceType, Field, Kind, Layout, Literal, Scalar};
