//! Launch parameters and tile shapes. They are tuned, and never change a result.
//!
//! The number of items alone determines the shape of the bracket. So every power of two here is
//! free. The shape of a kernel is fixed for an item type when the kernel is compiled. Each launch
//! chooses the kernel for its input, and the number of blocks.

mod data;
mod kernel;
#[cfg(feature = "ladder")]
#[doc(hidden)]
pub mod ladder;
mod measured;
pub(crate) mod memory;
mod reduce;
mod scan;
mod segments;
mod shape;

pub use self::data::Data;
pub use self::kernel::Kernel;
pub use self::reduce::{Launch, Launches, Partition, Policy};
pub use self::scan::{Limits, ScanLaunch, ScanPolicy, ScanShape};
pub use self::segments::{LaneShape, OffsetPlan, SegmentLaunch, SegmentPolicy, Stage};
pub use self::shape::Shape;
#[doc(inline)]
pub use crate::types::Segments;
