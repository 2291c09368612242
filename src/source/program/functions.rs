//! The functions of a program, each before its callers.

use std::any::TypeId;
use std::collections::HashMap;

use super::code::{Code, Line};
use super::fields::{Member, Owner};
use crate::language::{Body, Callee, Inner, Translation, Type};
use crate::source::lower::{self, Around, lower};
use crate::source::names::identifier;
use crate::source::types::Types;
use crate::{DeviceFunction, DeviceOperator, Error, Layout};

/// The functions of a program, each before its callers.
pub(super) struct Functions<'a> {
    pub(super) types: &'a mut Types,
    pub(super) code: Code,
    /// Declarations at the head of every hand-written body.
    pub(super) constants: Vec<String>,
    /// The type of `self`, if the function has a `self`.
    pub(super) state: Option<Layout>,
    /// The fields of the current operator: those of its inner operators, and its own if it has inner
    /// operators.
    pub(super) members: Vec<Member>,
    /// The C++ names of the inner operators, and whether they have fields.
    pub(super) operators: HashMap<TypeId, (String, bool)>,
    /// The C++ names of the translated functions. `None` marks a function whose definition is in
    /// progress.
    pub(super) known: HashMap<TypeId, Option<String>>,
}

impl Functions<'_> {
    pub(super) fn define(&mut self, function: &DeviceFunction, name: String) -> Result<(), Error> {
        let (parameters, body) = self.parts(function)?;
        let result = self.types.name_of(&function.result);
        self.code.line(&format!("\nWARPFOLD_DEVICE {result} {name}({}) {{", parameters.join(", ")));
        self.code.0.extend(body);
        self.code.line("}");
        Ok(())
    }

    /// Defines the names that the author of an operator gave to types.
    pub(super) fn aliases(&mut self, operator: &DeviceOperator) {
        for (name, layout) in &operator.types {
            let (ty, name) = (self.types.name(layout), identifier(name));
            if ty != name {
                self.code.line(&format!("typedef {ty} {name};"));
            }
        }
    }

    /// A function's parameters and its body. Its callees are defined first.
    pub(super) fn parts(&mut self, function: &DeviceFunction) -> Result<(Vec<String>, Vec<Line>), Error> {
        let (names, body) = match &function.body {
            Body::Code(code) => {
                let names = function.parameters.iter().map(|(name, _)| identifier(name)).collect();
                let constants =
                    self.constants.iter().map(|constant| Line::Generated(format!("        {constant}")));
                (names, constants.chain([Line::Author(code.clone())]).collect())
            }
            Body::Translation(translation) => {
                let mut called = |callee: &Option<Callee>| match callee {
                    Some(callee) => self.callee(callee).map(Some),
                    None => Ok(None),
                };
                let callees: Result<Vec<_>, _> = translation.callees.iter().map(&mut called).collect();
                let around = self.around(translation)?;
                let (names, lines) = lower(translation, &callees?, &around, self.types)?;
                (names, vec![Line::Translated(translation.file, lines)])
            }
        };
        let typed = |((_, ty), name): (&(&str, Type), String)| format!("{} {name}", self.types.name_of(ty));
        Ok((function.parameters.iter().zip(names).map(typed).collect(), body))
    }

    /// The inner operators and the fields of a function. Their definitions come first.
    fn around(&mut self, translation: &Translation) -> Result<Around, Error> {
        let mut around = Around { state: self.state.clone(), ..Around::default() };
        for inner in translation.inner {
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
                self.members.push(member);
            }
        }
        for field in translation.fields {
            let layout = (field.layout)();
            let (number, ty) = (self.members.len(), self.types.name(&layout));
            let (name, size) = (format!("field_{number}__"), layout.size);
            around.fields.push((name.clone(), layout));
            self.members.push(Member { ty, name, has_state: true, offset: field.offset, size });
        }
        Ok(around)
    }

    /// The C++ name of an inner operator, and whether it has fields.
    fn inner(&mut self, inner: &Inner) -> Result<(String, bool), Error> {
        let id = (inner.id)();
        if let Some(known) = self.operators.get(&id) {
            return Ok(known.clone());
        }
        let (state, members) = (self.state.take(), std::mem::take(&mut self.members));
        let constants = std::mem::take(&mut self.constants);
        let name = self.types.scope.claim("Inner".to_owned());
        let owner = Owner { id, name: (inner.name)(), size: inner.size };
        let has_state = self.operator(&name, &(inner.operator)(), &(inner.item)(), &owner, None)?;
        (self.state, self.members, self.constants) = (state, members, constants);
        self.operators.insert(id, (name.clone(), has_state));
        Ok((name, has_state))
    }

    pub(super) fn callee(&mut self, callee: &Callee) -> Result<lower::Callee, Error> {
        let (id, function) = ((callee.id)(), (callee.function)());
        let name = match self.known.get(&id) {
            Some(Some(name)) => name.clone(),
            Some(None) => {
                let (file, line) = match &function.body {
                    Body::Translation(translation) => (translation.file, translation.line()),
                    Body::Code(code) => (code.file(), code.line()),
                };
                let reason = format!("`{}` calls itself by way of others: use a loop", function.name);
                return Err(Error::Untranslatable { file, line, reason });
            }
            None => {
                self.known.insert(id, None);
                let name = self.types.scope.claim(identifier(function.name));
                let (state, members) = (self.state.take(), std::mem::take(&mut self.members));
                self.define(&function, name.clone())?;
                (self.state, self.members) = (state, members);
                self.known.insert(id, Some(name.clone()));
                name
            }
        };
        Ok(lower::Callee { name, result: function.result })
    }
}

/// The operator's constants as declarations. They stand at the head of every hand-written body.
pub(super) fn declarations(operator: &DeviceOperator, types: &mut Types) -> Vec<String> {
    let declare = |(name, layout, literal): &(&str, _, _)| {
        let (name, value) = (identifier(name), types.literal(layout, literal));
        format!("const {} {name} = {value}; (void){name};", types.name(layout))
    };
    operator.constants.iter().map(declare).collect()
}
