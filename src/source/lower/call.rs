//! Calls of methods and functions, and struct literals.

use super::expression::widened;
use super::{ATOM, Lowering, Value, aggregate, boolean, scalar, u32_type};
use crate::language::Type;
use crate::language::syntax::{Expression, Operator, Returns};
use crate::{DeviceType, Error, Kind, Layout, Scalar};

impl Lowering<'_> {
    /// Whether the call is the known method of a number, and not a method of the same name from
    /// elsewhere.
    pub(super) fn has_method(&self, name: &str, kinds: &str, operands: &[Value]) -> Result<(), Error> {
        let ordering = <std::cmp::Ordering as crate::language::Local>::ty();
        let kind = match operands.first().map(|receiver| (&receiver.ty, scalar(&receiver.ty))) {
            Some((Type::Value(layout), Some(Scalar::I8))) if matches!(&ordering, Type::Value(of) if of.id == layout.id) => {
                'o'
            }
            Some((_, Some(Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64))) => 'i',
            Some((_, Some(Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64))) => 'u',
            Some((_, Some(Scalar::F32 | Scalar::F64))) => 'f',
            Some((_, Some(Scalar::Bool))) => 'b',
            Some((_, Some(Scalar::F16 | Scalar::BF16))) => 'h',
            _ => '?',
        };
        // `method` refuses `min`, `max` and `clamp` of floats, with a message that names a
        // replacement.
        if kinds.contains(kind) || matches!(name, "min" | "max" | "clamp") {
            return Ok(());
        }
        self.refuse(format!(
            "`{name}` is not a method of this type in CUDA C++: write a `#[device]` function"
        ))
    }

    pub(super) fn method(
        &mut self,
        name: &str,
        returns: Returns,
        operands: Vec<Value>,
    ) -> Result<Value, Error> {
        let Some(receiver) = operands.first() else { return self.not_a_number() };
        let Some(kind) = scalar(&receiver.ty) else { return self.not_a_number() };
        let float = matches!(kind, Scalar::F32 | Scalar::F64);
        if matches!(kind, Scalar::F16 | Scalar::BF16) {
            return self.method_of_half(name, returns, operands);
        }
        if float && matches!(name, "min" | "max" | "clamp") {
            return self.refuse(format!(
                "`{name}` of floats leaves open which zero it returns: write `warpfold::math::minimum(a, b)` or \
                 `warpfold::math::maximum(a, b)`"
            ));
        }
        // Generic code uses these methods for `+` and `*`, since integers wrap in them.
        match (name, &operands[..]) {
            ("plus", [left, right]) => return self.binary(Operator::Add, left, right),
            ("times", [left, right]) => return self.binary(Operator::Multiply, left, right),
            ("partial_cmp", [left, right]) => return self.partial_order(left.clone(), right.clone()),
            _ => {}
        }
        let unsigned = match kind {
            Scalar::I8 | Scalar::U8 => u8::layout(),
            Scalar::I16 | Scalar::U16 => u16::layout(),
            Scalar::I32 | Scalar::U32 | Scalar::F32 => u32::layout(),
            _ => u64::layout(),
        };
        let result = match returns {
            Returns::Same => receiver.ty.clone(),
            Returns::Unsigned => Type::Value(unsigned),
            Returns::Bool => boolean(),
            Returns::U32 => u32_type(),
            Returns::Ordering => <std::cmp::Ordering as crate::language::Local>::ty(),
            Returns::PartialOrdering => <Option<std::cmp::Ordering> as crate::language::Local>::ty(),
            Returns::Slot(slot) => {
                let ty = self.type_of(slot);
                let text = match scalar(&ty) {
                    Some(Scalar::F16 | Scalar::BF16) => {
                        format!("{}{{{}}}", self.types.name_of(&ty), receiver.text)
                    }
                    Some(Scalar::F32 | Scalar::F64) => {
                        format!("rust::{name}<{}>({})", self.types.name_of(&ty), receiver.text)
                    }
                    _ => return self.refuse(format!("`{name}` is known of floats")),
                };
                return Ok(Value::atom(text, ty, receiver.stable));
            }
        };
        self.function(name, operands, Some(result))
    }

    /// A method of a 16-bit float: that of `f32`, whose result is rounded.
    fn method_of_half(&mut self, name: &str, returns: Returns, operands: Vec<Value>) -> Result<Value, Error> {
        let Some(receiver) = operands.first() else { return self.not_a_number() };
        if name == "to_bits" {
            let text = format!("{}.bits", receiver.within(ATOM));
            return Ok(Value::atom(text, Type::Value(u16::layout()), receiver.stable));
        }
        let ty = receiver.ty.clone();
        let value = self.method(name, returns, operands.iter().map(widened).collect())?;
        Ok(match scalar(&value.ty) {
            Some(Scalar::F32) => self.rounded(value, ty),
            _ => value,
        })
    }

    /// `left.partial_cmp(&right)`. Without an order all bits of the option are zero.
    fn partial_order(&mut self, left: Value, right: Value) -> Result<Value, Error> {
        let (left, right) = (self.named(left), self.named(right));
        let ty = <Option<std::cmp::Ordering> as crate::language::Local>::ty();
        let (name, left, right) = (self.types.name_of(&ty), left.within(ATOM), right.within(ATOM));
        let text = format!(
            "{name}{{i8(({left} > {right}) - ({left} < {right})), {left} <= {right} || {left} > {right}}}"
        );
        Ok(Value::atom(text, ty, false))
    }

    /// A call of a function in the C++ namespace `rust`. By default the result has the type of the
    /// first operand.
    pub(super) fn function(
        &mut self,
        name: &str,
        operands: Vec<Value>,
        result: Option<Type>,
    ) -> Result<Value, Error> {
        let Some(first) = operands.first() else { return self.not_a_number() };
        if scalar(&first.ty).is_none() {
            return self.not_a_number();
        }
        if !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            return self.refuse(format!("`{name}` is no function"));
        }
        let texts: Vec<&str> = operands.iter().map(|operand| operand.text.as_str()).collect();
        let text = format!("rust::{name}({})", texts.join(", "));
        let stable = operands.iter().all(|operand| operand.stable);
        Ok(Value::atom(text, result.unwrap_or_else(|| first.ty.clone()), stable))
    }

    pub(super) fn structure(
        &mut self,
        ty: usize,
        fields: &[(&str, Expression)],
        base: Option<&Expression>,
    ) -> Result<Value, Error> {
        let ty = self.type_of(ty);
        let Type::Value(Layout { kind: Kind::Struct { fields: members }, .. }) = &ty else {
            return self.refuse("only a struct that derives `DeviceType` has fields");
        };
        let mut operands = self.operands(fields.iter().map(|(_, value)| value).chain(base))?;
        let base = match base {
            Some(_) => operands.pop().map(|base| self.named(base)),
            None => None,
        };
        let mut values = Vec::new();
        for member in members {
            let given = fields.iter().position(|(name, _)| *name == member.name);
            match (given, &base) {
                (Some(position), _) => values.push(operands[position].clone()),
                (None, Some(base)) => values.push(self.field(base, member.name)?),
                (None, None) => return self.refuse(format!("the field `{}` is missing", member.name)),
            }
        }
        let name = self.types.name_of(&ty);
        Ok(aggregate(&name, &values, ty))
    }
}
