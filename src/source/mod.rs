//! Rendering: from types, an operator, a policy and the templates to one CUDA C++ source.
//!
//! Rendering is a pure function and needs no GPU. The templates are whole files, concatenated
//! unchanged. The generated part follows them: the types and the operator in the namespace
//! `program`, and the `extern "C"` kernel that instantiates the templates. The generated part
//! asserts everything that Rust and CUDA C++ must agree on.

mod arguments;
mod entry;
#[cfg(feature = "ladder")]
mod ladder;
mod lower;
mod names;
mod number;
mod packed;
mod program;
mod read;
mod reduce;
mod rendered;
mod scan;
mod segments;
mod templates;
mod types;

#[cfg(feature = "ladder")]
pub use ladder::RungArguments;
pub use read::ArrayInput;
pub use read::data_of_aggregate;
pub(crate) use read::{ArrayOfItems, ArraysOf, Reader, ReaderOf, data_of, is_default};
pub use reduce::Arguments;
pub use rendered::Source;
pub use scan::ScanArguments;
pub use segments::{OffsetArguments, SegmentArguments};
pub(crate) use types::LAYOUT_ASSERTION;
