//! Readers stage the elements of an input for a primitive.
//!
//! A reader is one file here, one template, and one file each in `cuda/read/` and `cpu/read/`.

mod array;
mod reader;

pub use array::{ArrayInput, data_of_aggregate};
pub(crate) use array::{ArrayOfItems, ArraysOf, ReaderOf, is_default};
pub(crate) use reader::{Reader, data_of, operator_of};
