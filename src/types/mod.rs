//! Types that Rust and CUDA C++ agree on: values, and GPU architectures.

mod architecture;
mod bitmap;
mod device_type;
mod element;
mod foreign;
mod held;
mod offset;
mod preparation;
mod segments;
mod value;

pub use architecture::Architecture;
pub use bitmap::{Bit, Bitmap};
pub use device_type::{DeviceType, Field, Kind, Layout, Literal, Scalar, Value};
pub use element::{Arrangement, Element};
pub(crate) use element::{Array, Bits, InStep, Indices, NoArray, PointerVisitor, SliceVisitor};
#[cfg(feature = "bytemuck")]
pub use foreign::Pod;
pub use held::Type;
pub(crate) use held::{Describes, Held, Plain};
pub use offset::{Offset, Offsets};
pub(crate) use preparation::{AsTheyAre, Preparation};
pub use segments::Segments;
pub use value::{Maybe, Tuple2, Tuple3, Tuple4, Tuple5, Tuple6, Tuple7, Tuple8};
