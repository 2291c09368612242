//! Writes the fields of an operator: those of its parts, at their offsets in Rust.

use super::functions::Functions;
use super::members::{Member, Owner};

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
