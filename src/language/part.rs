//! The parts of an operator or of an aggregate's steps.

use std::any::TypeId;

/// A part of an operator, and where its fields are in the fields of the whole.
#[derive(Clone, Debug)]
pub(crate) struct Part<T> {
    pub(crate) form: T,
    pub(crate) offset: usize,
    /// The Rust type of the part.
    pub(crate) id: TypeId,
    pub(crate) name: &'static str,
    pub(crate) size: usize,
}

impl<T> Part<T> {
    /// A part of the Rust type `P`.
    pub(crate) fn of<P: 'static>(form: T, offset: usize) -> Self {
        Self { form, offset, id: TypeId::of::<P>(), name: std::any::type_name::<P>(), size: size_of::<P>() }
    }
}
