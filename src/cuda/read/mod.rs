//! Elements in device memory: what a call reads, for each reader a file.

mod array;
mod elements;

pub(crate) use array::Array;
pub(crate) use elements::{Elements, InputOf};
