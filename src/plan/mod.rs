//! Launch parameters and tile shapes: what is tuned, and never changes a result.
//!
//! The bracket's shape is a function of the number of items alone, so every power of two below is free. A kernel's shape
//! is fixed before compilation, for an item size; which kernel an input gets, and how many blocks of it, is decided at each
//! launch.

mod data;
mod kernel;
#[doc(hidden)]
pub mod ladder;
mod measured;
pub(crate) mod memory;
mod reduce;
mod scan;
mod shape;

pub use self::data::Data;
pub use self::kernel::Kernel;
pub use self::reduce::{Launch, Launches, Placed, Policy};
pub use self::scan::{Limits, ScanLaunch, ScanPolicy, ScanShape};
pub use self::shape::Shape;
