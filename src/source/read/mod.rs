//! Readers: what stages the elements of an input for a primitive. Each is a file here, a template, and a file of
//! `cuda/read/` and `cpu/read/`.

mod array;
mod reader;

pub use array::ArrayInput;
pub(crate) use array::ItemsAsTheyAre;
pub(crate) use reader::{Reader, data_of};
