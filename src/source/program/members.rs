//! The parts of an operator, as fields of a struct.

use std::any::TypeId;

use crate::language::Part;
use crate::{Field, Kind, Layout};

/// The Rust type of an operator, or of a part of one.
pub(super) struct Owner {
    pub(super) id: TypeId,
    pub(super) name: &'static str,
    pub(super) size: usize,
}

impl<T> From<&Part<T>> for Owner {
    fn from(part: &Part<T>) -> Self {
        Self { id: part.id, name: part.name, size: part.size }
    }
}

/// A part of an operator, as a field of a struct.
pub(super) struct Member {
    pub(super) ty: String,
    pub(super) name: String,
    pub(super) has_state: bool,
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Member {
    pub(super) fn of<T>(part: &Part<T>, ty: String, name: String, has_state: bool) -> Self {
        Self { ty, name, has_state, offset: part.offset, size: part.size }
    }

    /// An expression of the part. A part without fields is not stored.
    pub(super) fn object(&self) -> String {
        if self.has_state { self.name.clone() } else { format!("{}()", self.ty) }
    }
}

/// The fields of an item that is a struct.
pub(super) fn fields_of(item: &Layout) -> &[Field] {
    let Kind::Struct { fields } = &item.kind else { unreachable!("the item has parts") };
    fields
}
