//! Operators of types of other crates, which act on each field of their operands.

use super::{Lowering, Value, aggregate, boolean};
use crate::language::Type;
use crate::language::syntax::{ByFields, Expression, Operator};
use crate::{Error, Kind, Layout};

impl Lowering<'_> {
    pub(super) fn by_fields(
        &mut self,
        operator: ByFields,
        operands: &[Expression],
        slot: usize,
    ) -> Result<Value, Error> {
        let operands = self.operands(operands)?;
        let ty = self.type_of(slot);
        match (operator, &operands[..]) {
            (ByFields::Element, [base, index]) => self.element_of_fields(base, index),
            (ByFields::Binary(Operator::Equal), [left, right]) => self.equal_fields(left, right),
            (ByFields::New, values) => Ok(aggregate(&self.types.name_of(&ty), values, ty)),
            (operator, operands) => self.on_each_field(operator, operands, ty),
        }
    }

    /// The result of an operator on each field, as a value of this type.
    fn on_each_field(&mut self, operator: ByFields, operands: &[Value], ty: Type) -> Result<Value, Error> {
        let Type::Value(layout) = &ty else { return self.not_a_number() };
        let parts: Vec<Type> = match &layout.kind {
            Kind::Scalar(_) => match (operator, operands) {
                (ByFields::Binary(operator), [left, right]) => return self.binary(operator, left, right),
                (ByFields::Negate, [operand]) => return self.negated(operand.clone()),
                (ByFields::Not, [operand]) => return self.inverted(operand.clone()),
                (ByFields::Splat, [operand]) => return Ok(operand.clone()),
                _ => return self.not_a_number(),
            },
            Kind::Struct { fields } | Kind::Tuple { fields } => {
                fields.iter().map(|field| Type::of(&field.layout)).collect()
            }
            Kind::Array { element, length } => vec![Type::of(element); *length],
        };
        let results = parts
            .into_iter()
            .enumerate()
            .map(|(position, part)| {
                let operands: Vec<Value> = operands
                    .iter()
                    .map(|operand| self.part_of(operand, position))
                    .collect::<Result<_, _>>()?;
                self.on_each_field(operator, &operands, part)
            })
            .collect::<Result<Vec<_>, _>>()?;
        let name = self.types.name_of(&ty);
        Ok(match layout.kind {
            // The elements are a member of the array.
            Kind::Array { .. } => {
                let elements = aggregate("", &results, ty.clone());
                Value::atom(format!("{name}{{{}}}", elements.text), ty, elements.stable)
            }
            _ => aggregate(&name, &results, ty),
        })
    }

    /// A field or an element by its position, or a number itself, which has no parts.
    fn part_of(&mut self, value: &Value, position: usize) -> Result<Value, Error> {
        match &value.ty {
            Type::Value(Layout { kind: Kind::Struct { fields }, .. }) => {
                let Some(field) = fields.get(position) else { return self.not_a_number() };
                self.field(value, field.name)
            }
            Type::Value(Layout { kind: Kind::Array { element, .. }, .. }) => {
                let ty = Type::of(element);
                Ok(Value::atom(format!("{}[{position}]", value.text), ty, value.stable))
            }
            Type::Tuple(_) => self.field(value, &position.to_string()),
            Type::Value(_) => Ok(value.clone()),
        }
    }

    /// Whether all fields are equal.
    fn equal_fields(&mut self, left: &Value, right: &Value) -> Result<Value, Error> {
        let parts = parts(&left.ty);
        if parts == 0 {
            return self.binary(Operator::Equal, left, right);
        }
        let mut equal = Vec::new();
        for position in 0..parts {
            let (left, right) = (self.part_of(left, position)?, self.part_of(right, position)?);
            equal.push(self.equal_fields(&left, &right)?.text);
        }
        Ok(Value { text: equal.join(" && "), ty: boolean(), rank: 5, stable: left.stable && right.stable })
    }

    /// The field at a position that is known at run time only. The fields of a field count as well.
    fn element_of_fields(&mut self, base: &Value, index: &Value) -> Result<Value, Error> {
        let mut numbers = Vec::new();
        self.numbers(base, &mut numbers)?;
        let Some((last, others)) = numbers.split_last() else { return self.not_a_number() };
        // As of an array, an index past the end gives the last element.
        let choices: String = others
            .iter()
            .enumerate()
            .map(|(position, other)| format!("{} == {position} ? {} : ", index.text, other.text))
            .collect();
        Ok(Value::atom(format!("({choices}{})", last.text), last.ty.clone(), false))
    }

    /// All numbers of a value, in order.
    fn numbers(&mut self, value: &Value, numbers: &mut Vec<Value>) -> Result<(), Error> {
        let parts = parts(&value.ty);
        if parts == 0 {
            numbers.push(value.clone());
        }
        for position in 0..parts {
            let part = self.part_of(value, position)?;
            self.numbers(&part, numbers)?;
        }
        Ok(())
    }
}

/// The number of fields or elements. 0 for a number.
fn parts(ty: &Type) -> usize {
    match ty {
        Type::Value(Layout { kind: Kind::Struct { fields }, .. }) => fields.len(),
        Type::Value(Layout { kind: Kind::Array { length, .. }, .. }) => *length,
        Type::Tuple(parts) => parts.len(),
        Type::Value(_) => 0,
    }
}
