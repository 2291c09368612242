//! The readers on the CPU, with one file for each.

mod array;
mod elements;

pub(crate) use array::{Prepared, length_of};
pub(crate) use elements::Elements;
