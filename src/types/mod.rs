//! Types that Rust and CUDA C++ agree on: values, and GPU architectures.

mod architecture;
mod device_type;

pub use architecture::Architecture;
pub use device_type::{DeviceType, Field, Kind, Layout, Literal, Scalar};
