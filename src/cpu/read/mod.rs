//! The readers on the CPU, with one file for each.

mod array;
mod elements;

pub(crate) use array::{FEW, Prepared, length_of, prefetch_ahead, prefetch_next};
pub(crate) use elements::Elements;
