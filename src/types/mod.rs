//! Types that Rust and CUDA C++ agree on: values, and GPU architectures.

mod architecture;
mod bitmap;
mod bits;
mod device_type;
mod element;
mod foreign;
mod layout;
mod offset;
mod preparation;
mod primitives;
mod segments;
mod value;

pub use architecture::Architecture;
pub use bitmap::{Bit, Bitmap};
pub(crate) use bits::Bits;
pub use device_type::{Arrangement, DeviceType, Value};
pub(crate) use device_type::{Described, Describes, Held, InMemory, Indices, PointerVisitor, SliceVisitor};
pub use element::Element;
pub(crate) use element::{Array, InStep, NoArray};
#[cfg(feature = "bytemuck")]
pub use foreign::Pod;
pub use layout::{Field, Kind, Layout, Literal, Scalar, Type};
pub use offset::{Offset, Offsets};
pub(crate) use preparation::{AsTheyAre, Preparation};
pub use segments::Segments;
pub use value::{Maybe, Tuple2, Tuple3, Tuple4, Tuple5, Tuple6, Tuple7, Tuple8};
