//! What is inside an operator: inner operators, and fields of its own beside them.

use super::functions::Functions;
use super::members::{Member, Owner};
use crate::Error;
use crate::language::{Inner, Inside, Translation};
use crate::source::lower::Around;

impl Functions<'_> {
    /// The inner operators and the fields of a function. Their definitions come first.
    pub(super) fn around(&mut self, translation: &Translation) -> Result<Around, Error> {
        let mut around = Around { state: self.state.clone(), ..Around::default() };
        for inner in self.inside.operators {
            let ((name, has_state), item) = (self.inner(inner)?, (inner.item)());
            let number = self.members.len();
            let member = Member {
                ty: name,
                name: format!("inner_{number}__"),
                has_state,
                offset: inner.offset.unwrap_or_default(),
                size: inner.size,
            };
            if has_state && inner.offset.is_none() {
                let (file, line) = (translation.file, translation.line());
                let reason = format!("`{}` has fields: combine with it as a field of `self`", (inner.name)());
                return Err(Error::Untranslatable { file, line, reason });
            }
            // Two calls of one operator read the same field.
            let known =
                self.members.iter().find(|known| known.ty == member.ty && known.offset == member.offset);
            around.inner.push((known.unwrap_or(&member).object(), item));
            if known.is_none() {
                self.add_member(member, translation)?;
            }
        }
        for field in self.inside.fields {
            let layout = (field.layout)();
            let (number, ty) = (self.members.len(), self.types.name(&layout));
            let (name, size) = (format!("field_{number}__"), layout.size);
            around.fields.push((name.clone(), layout));
            self.add_member(Member { ty, name, has_state: true, offset: field.offset, size }, translation)?;
        }
        Ok(around)
    }

    /// Adds a field, which must not be a part of another.
    fn add_member(&mut self, member: Member, translation: &Translation) -> Result<(), Error> {
        let overlaps = |known: &Member| {
            known.has_state
                && known.offset < member.offset + member.size
                && member.offset < known.offset + known.size
        };
        if member.has_state && self.members.iter().any(overlaps) {
            let (file, line) = (translation.file, translation.line());
            let reason =
                "a field that is an inner operator, and its fields, are not read as values".to_owned();
            return Err(Error::Untranslatable { file, line, reason });
        }
        self.members.push(member);
        Ok(())
    }

    /// The C++ name of an inner operator, and whether it has fields.
    fn inner(&mut self, inner: &Inner) -> Result<(String, bool), Error> {
        let id = (inner.id)();
        if let Some(known) = self.operators.get(&id) {
            return Ok(known.clone());
        }
        let (state, members) = (self.state.take(), std::mem::take(&mut self.members));
        let inside = std::mem::replace(&mut self.inside, Inside::NOTHING);
        let constants = std::mem::take(&mut self.constants);
        let name = self.types.scope.claim("Inner".to_owned());
        let owner = Owner { id, name: (inner.name)(), size: inner.size };
        let has_state = self.operator(&name, &(inner.operator)(), &(inner.item)(), &owner, None)?;
        (self.state, self.members, self.inside, self.constants) = (state, members, inside, constants);
        self.operators.insert(id, (name.clone(), has_state));
        Ok((name, has_state))
    }
}
