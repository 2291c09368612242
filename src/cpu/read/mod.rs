//! The readers on the CPU, with one file for each.

mod array;
mod elements;

pub(crate) use elements::Elements;
