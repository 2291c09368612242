//! Elements in device memory, one file per reader.

mod array;
mod copied;
mod elements;

pub(crate) use array::Arrays;
pub(crate) use copied::CopiedArrays;
pub(crate) use elements::{Elements, InputOf, MAX_ARRAYS, StreamOrder};
