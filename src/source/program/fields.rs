//! The fields of an operator: those of its parts, at their offsets in Rust.

use std::any::TypeId;

use super::functions::Functions;
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

impl Functions<'_> {
    /// Writes the fields of the parts that have any, at their offsets in Rust.
    pub(super) fn fields(&mut self, members: &[Member], owner: &Owner) -> bool {
        let mut stored: Vec<&Member> = members.iter().filter(|member| member.has_state).collect();
        stored.sort_by_key(|member| member.offset);
        let mut end = 0;
        for member in &stored {
            if member.offset > end {
                self.code.line(&format!(
                    "    unsigned char before_{}[{}];",
                    member.name,
                    member.offset - end
                ));
            }
            self.code.line(&format!("    {} {};", member.ty, member.name));
            end = member.offset + member.size;
        }
        if !stored.is_empty() && owner.size > end {
            self.code.line(&format!("    unsigned char unused[{}];", owner.size - end));
        }
        !stored.is_empty()
    }

    pub(super) fn assert_fields(&mut self, name: &str, members: &[Member], owner: &Owner) {
        for member in members.iter().filter(|member| member.has_state) {
            let (field, offset) = (&member.name, member.offset);
            self.code.line(&format!(
                "static_assert(WARPFOLD_OFFSET({name}, {field}) == {offset}, \"operator state\");"
            ));
        }
        if members.iter().any(|member| member.has_state) {
            self.code.line(&format!("static_assert(sizeof({name}) == {}, \"operator state\");", owner.size));
        }
    }
}

/// The fields of an item that is a struct.
pub(super) fn fields_of(item: &Layout) -> &[Field] {
    let Kind::Struct { fields } = &item.kind else { unreachable!("the item has parts") };
    fields
}
