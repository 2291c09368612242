//! Patterns: the condition under which they match, and the variables that they bind.

use super::{ATOM, Lowering, Value, scalar, stored_scalar};
use crate::language::Type;
use crate::language::syntax::{Operator, Pattern, PatternValue};
use crate::source::number;
use crate::{Error, Kind, Layout, Scalar};

impl Lowering<'_> {
    /// The condition under which a value matches, or `None` if it always matches.
    pub(super) fn test(&mut self, pattern: &Pattern, value: &Value) -> Result<Option<String>, Error> {
        Ok(match pattern {
            Pattern::Any | Pattern::Local(_, None) => None,
            Pattern::Local(_, Some(inner)) => self.test(inner, value)?,
            Pattern::Value(PatternValue::Bool(true)) => Some(value.text.clone()),
            Pattern::Value(PatternValue::Bool(false)) => Some(format!("!{}", value.text)),
            Pattern::Value(expected) => Some(self.compared(Operator::Equal, value, *expected)?),
            Pattern::Range(low, high, inclusive) => {
                let below = if *inclusive { Operator::LessOrEqual } else { Operator::Less };
                let low = low.map(|low| self.compared(Operator::GreaterOrEqual, value, low)).transpose()?;
                let high = high.map(|high| self.compared(below, value, high)).transpose()?;
                all([low, high].into_iter().flatten())
            }
            Pattern::Or(patterns) => {
                let mut either = Vec::new();
                for pattern in *patterns {
                    match self.test(pattern, value)? {
                        Some(condition) if condition.contains("&&") => either.push(format!("({condition})")),
                        Some(condition) => either.push(condition),
                        None => return Ok(None),
                    }
                }
                Some(match &either[..] {
                    [one] => one.clone(),
                    _ => format!("({})", either.join(" || ")),
                })
            }
            Pattern::Fields(_) | Pattern::Elements(..) => {
                let mut conditions = Vec::new();
                for (pattern, part) in self.parts(pattern, value)? {
                    conditions.extend(self.test(pattern, &part)?);
                }
                all(conditions)
            }
        })
    }

    /// Declares the variables that a pattern binds.
    pub(super) fn bind(&mut self, pattern: &Pattern, value: &Value) -> Result<(), Error> {
        if let Pattern::Local(local, inner) = pattern {
            let declared = self.declaration(*local);
            let text = self.as_tuple(self.locals[*local].ty, value);
            self.push(format!("{declared} = {text};"));
            return inner.map_or(Ok(()), |inner| self.bind(inner, value));
        }
        for (pattern, part) in self.parts(pattern, value)? {
            self.bind(pattern, &part)?;
        }
        Ok(())
    }

    /// Makes the variables that a pattern binds refer to the value's parts, until they are bound.
    /// Returns their previous names.
    pub(super) fn alias(&mut self, pattern: &Pattern, value: &Value) -> Result<Vec<(usize, String)>, Error> {
        let mut before = Vec::new();
        if let Pattern::Local(local, inner) = pattern {
            let text = self.as_tuple(self.locals[*local].ty, value);
            before.push((*local, std::mem::replace(&mut self.names[*local], text)));
            if let Some(inner) = inner {
                before.extend(self.alias(inner, value)?);
            }
            return Ok(before);
        }
        for (pattern, part) in self.parts(pattern, value)? {
            before.extend(self.alias(pattern, &part)?);
        }
        Ok(before)
    }

    /// A value of the type of a slot. A tuple in an option is stored as a struct.
    fn as_tuple(&mut self, slot: usize, value: &Value) -> String {
        match (self.type_of(slot), &value.ty) {
            (ty @ Type::Tuple(_), Type::Value(stored)) => {
                let whole = value.within(ATOM);
                self.converted(&ty, &whole, stored)
            }
            _ => value.text.clone(),
        }
    }

    /// The same for a variable of this type and a struct that stores it, each with its parts.
    fn converted(&mut self, ty: &Type, stored: &str, layout: &Layout) -> String {
        let (Type::Tuple(parts), Kind::Struct { fields }) = (ty, &layout.kind) else {
            return stored.to_owned();
        };
        let parts = parts.iter().zip(fields).enumerate();
        let parts: Vec<String> = parts
            .map(|(k, (part, field))| self.converted(part, &format!("{stored}._{k}"), &field.layout))
            .collect();
        format!("{}{{{}}}", self.types.name_of(ty), parts.join(", "))
    }

    /// The declaration of a variable, such as `const float x`.
    pub(super) fn declaration(&mut self, local: usize) -> String {
        let variable = &self.locals[local];
        let (ty, constant) = (self.type_of(variable.ty), if variable.mutable { "" } else { "const " });
        format!("{constant}{} {}", self.types.name_of(&ty), self.names[local])
    }

    /// The parts of a value, each with its pattern.
    fn parts<'p>(&mut self, pattern: &'p Pattern, value: &Value) -> Result<Vec<(&'p Pattern, Value)>, Error> {
        match pattern {
            Pattern::Fields(fields) => {
                fields.iter().map(|(name, pattern)| Ok((pattern, self.field(value, name)?))).collect()
            }
            Pattern::Elements(front, back) => {
                let Some(length) = length(&value.ty) else {
                    return self.refuse("only arrays, tuples and tuple structs have elements");
                };
                if front.len() + back.len() > length {
                    return self.refuse("a pattern has more elements than its value");
                }
                let positions = (0..front.len()).chain(length.saturating_sub(back.len())..length);
                let patterns = front.iter().chain(*back);
                patterns.zip(positions).map(|(pattern, k)| Ok((pattern, self.part(value, k)?))).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The element at a position.
    pub(super) fn part(&mut self, value: &Value, position: usize) -> Result<Value, Error> {
        let Type::Value(Layout { kind: Kind::Array { element, .. }, .. }) = &value.ty else {
            return self.field(value, &position.to_string());
        };
        let text = format!("{}[{position}]", value.within(ATOM));
        Ok(Value::atom(text, Type::of(element), value.stable))
    }

    fn compared(
        &mut self,
        operator: Operator,
        value: &Value,
        expected: PatternValue,
    ) -> Result<String, Error> {
        let text = match expected {
            PatternValue::Bool(truth) => truth.to_string(),
            PatternValue::Number(digits) => {
                match scalar(&value.ty).and_then(|scalar| number::of_digits(scalar, digits)) {
                    Some(text) => text,
                    None => return self.refuse(format!("`{digits}` is no number of its type")),
                }
            }
            PatternValue::Constant(constant) => {
                let (ty, literal) = &self.translation.constants[constant];
                self.types.constant(ty, literal)
            }
        };
        if scalar(&value.ty).is_none() && stored_scalar(&value.ty).is_some() && operator == Operator::Equal {
            return Ok(format!("{} == {text}", value.within(ATOM)));
        }
        let expected = Value::atom(text, value.ty.clone(), true);
        Ok(self.binary(operator, value, &expected)?.text)
    }
}

/// The number of elements of a tuple, an array or a struct.
pub(super) fn length(ty: &Type) -> Option<usize> {
    match ty {
        Type::Tuple(parts) => Some(parts.len()),
        Type::Value(Layout { kind: Kind::Array { length, .. }, .. }) => Some(*length),
        Type::Value(Layout { kind: Kind::Struct { fields }, .. }) => Some(fields.len()),
        Type::Value(Layout { kind: Kind::Scalar(Scalar::Bit), .. }) => Some(1),
        Type::Value(_) => None,
    }
}

fn all(conditions: impl IntoIterator<Item = String>) -> Option<String> {
    let conditions: Vec<String> = conditions.into_iter().collect();
    (!conditions.is_empty()).then(|| conditions.join(" && "))
}
