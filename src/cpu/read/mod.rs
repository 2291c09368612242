//! What primitives read on the CPU, for each reader a file.

mod array;
mod elements;

pub(crate) use elements::Elements;
