//! Types that Rust and CUDA C++ agree on: values, and GPU architectures.

mod architecture;
mod bitmap;
mod device_type;
mod element;
mod foreign;
mod offset;
mod segments;
mod value;

pub use architecture::Architecture;
pub use bitmap::{Bit, Bitmap};
pub use device_type::{DeviceType, Field, Kind, Layout, Literal, Scalar, Value};
pub use element::{Element, OneArray};
pub(crate) use element::{Indices, PointerVisitor, SliceVisitor};
#[cfg(feature = "bytemuck")]
pub use foreign::Pod;
pub use offset::{Offset, Offsets};
pub use segments::Segments;
pub use value::{Maybe, Tuple2, Tuple3, Tuple4, Tuple5, Tuple6, Tuple7, Tuple8};
