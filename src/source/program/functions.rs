//! The functions of a program, each before its callers.

use std::any::TypeId;
use std::collections::HashMap;

use super::code::{Code, Line};
use super::members::Member;
use crate::language::{Body, Callee, Inside, Translation, Type};
use crate::source::lower::{self, lower};
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
    /// The layout of an element of each array, if the reader prepares elements.
    pub(super) elements: Option<Vec<Layout>>,
    /// What is inside the current operator.
    pub(super) inside: Inside,
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
                    Some(callee) if !(callee.is_named)() => Err(hidden(callee, translation)),
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
                let inside = std::mem::replace(&mut self.inside, Inside::NOTHING);
                self.define(&function, name.clone())?;
                (self.state, self.members, self.inside) = (state, members, inside);
                self.known.insert(id, Some(name.clone()));
                name
            }
        };
        Ok(lower::Callee { name, result: function.result })
    }
}

/// A call means another function than its form.
fn hidden(callee: &Callee, translation: &Translation) -> Error {
    let name = (callee.function)().name;
    let reason = format!(
        "another function hides the `#[device]` function `{name}`, which is imported by `*`: rename one of the two, \
         or call `{name}` by its path"
    );
    Error::Untranslatable { file: translation.file, line: translation.line(), reason }
}

/// The operator's constants as declarations. They stand at the head of every hand-written body.
pub(super) fn declarations(operator: &DeviceOperator, types: &mut Types) -> Vec<String> {
    let declare = |(name, layout, literal): &(&str, _, _)| {
        let (name, value) = (identifier(name), types.literal(layout, literal));
        format!("const {} {name} = {value}; (void){name};", types.name(layout))
    };
    operator.constants.iter().map(declare).collect()
}
