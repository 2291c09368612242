//! Expressions.

use super::pattern::length;
use super::{ATOM, Callee, Lowering, Value, aggregate, boolean, scalar, stored_scalar, u32_type};
use crate::language::Type;
use crate::language::syntax::{Control, Expression, Operator};
use crate::source::names::scalar_name;
use crate::source::number;
use crate::source::types::field_names;
use crate::{DeviceType, Error, Kind, Layout, Scalar};

const UNARY: u8 = 15;

impl Lowering<'_> {
    pub(super) fn value(&mut self, expression: &Expression) -> Result<Value, Error> {
        match expression {
            Expression::Local(local) => {
                let variable = &self.locals[*local];
                Ok(Value::atom(self.names[*local].clone(), self.type_of(variable.ty), !variable.mutable))
            }
            Expression::StateField(field) => {
                let (name, layout) = &self.around.fields[*field];
                Ok(Value::atom(name, Type::of(layout), true))
            }
            Expression::Inner(inner, operands) => {
                let operands = self.operands(*operands)?;
                let (object, item) = &self.around.inner[*inner];
                let callee = Callee { name: format!("{object}.combine"), result: Type::of(item) };
                Ok(call(&callee, &operands))
            }
            Expression::State => match &self.around.state {
                Some(state) => Ok(Value::atom("self", Type::Value(state.clone()), true)),
                None => self.refuse("there is no `self` here"),
            },
            Expression::Number { text, ty } => {
                let ty = self.type_of(*ty);
                match scalar(&ty).and_then(|scalar| number::of_digits(scalar, text)) {
                    Some(text) => {
                        let rank = if text.starts_with('-') { UNARY } else { ATOM };
                        Ok(Value { text, ty, rank, stable: true })
                    }
                    None => self.refuse(format!("`{text}` is no number of its type")),
                }
            }
            Expression::Bool(truth) => Ok(Value::atom(truth.to_string(), boolean(), true)),
            Expression::Constant(constant) => {
                let (ty, literal) = &self.translation.constants[*constant];
                let text = self.types.constant(ty, literal);
                let rank = if text.starts_with('-') { UNARY } else { ATOM };
                Ok(Value { text, ty: ty.clone(), rank, stable: true })
            }
            Expression::Field(base, name) => {
                let base = self.value(base)?;
                self.field(&base, name)
            }
            Expression::Index(base, index, callee) => {
                if let Some(number) = callee.filter(|_| self.callee(*callee).is_some()) {
                    return self.value_of_call(number, [*base, *index]);
                }
                let base = self.value(base)?;
                self.element(base, index)
            }
            Expression::Negate(operand, callee) => {
                let operand = self.value(operand)?;
                if let Some(callee) = self.callee(*callee) {
                    return Ok(call(callee, &[operand]));
                }
                self.negated(operand)
            }
            Expression::Not(operand, callee) => {
                let operand = self.value(operand)?;
                if let Some(callee) = self.callee(*callee) {
                    return Ok(call(callee, &[operand]));
                }
                self.inverted(operand)
            }
            Expression::Binary(Operator::And, left, right, _) => self.short_circuit(left, right, true),
            Expression::Binary(Operator::Or, left, right, _) => self.short_circuit(left, right, false),
            Expression::Binary(operator, left, right, callee) => {
                let operands = self.operands([*left, *right])?;
                if let Some(callee) = self.callee(*callee) {
                    let value = call(callee, &operands);
                    return self.compared_by(*operator, value);
                }
                let [left, right] = &operands[..] else { return self.not_a_number() };
                self.binary(*operator, left, right)
            }
            Expression::OfNumber(operand) => {
                let value = self.value(operand)?;
                if scalar(&value.ty).is_none() {
                    return self.not_a_number();
                }
                Ok(value)
            }
            Expression::Cast(operand, ty) => {
                let (operand, ty) = (self.value(operand)?, self.type_of(*ty));
                self.cast(operand, ty)
            }
            Expression::Method { name, kinds, returns, operands, callee } => {
                let operands = self.operands(*operands)?;
                if let Some(callee) = self.callee(*callee) {
                    return Ok(call(callee, &operands));
                }
                self.has_method(name, kinds, &operands)?;
                self.method(name, *returns, operands)
            }
            Expression::Call(callee, arguments) => self.value_of_call(*callee, *arguments),
            Expression::Struct { ty, fields, base } => self.structure(*ty, fields, *base),
            Expression::Tuple(elements) => {
                let elements = self.operands(*elements)?;
                let ty = Type::Tuple(elements.iter().map(|element| element.ty.clone()).collect());
                let name = self.types.name_of(&ty);
                Ok(aggregate(&name, &elements, ty))
            }
            Expression::Array(ty, elements) => {
                let (elements, ty) = (self.operands(*elements)?, self.type_of(*ty));
                let name = self.types.name_of(&ty);
                let list = aggregate("", &elements, ty);
                Ok(Value { text: format!("{name}{{{}}}", list.text), ..list })
            }
            Expression::Repeat(ty, element) => {
                let (element, ty) = (self.value(element)?, self.type_of(*ty));
                let text = format!("rust::filled<{}>({})", self.types.name_of(&ty), element.text);
                Ok(Value::atom(text, ty, element.stable))
            }
            Expression::Control(slot, control) => self.flow(*slot, control),
            Expression::Length(array) => match length(&self.value(array)?.ty) {
                Some(length) => Ok(Value::atom(format!("{length}ull"), Type::Value(usize::layout()), true)),
                None => self.refuse("only an array has a length"),
            },
            Expression::ByFields(operator, operands, ty) => self.by_fields(*operator, operands, *ty),
            Expression::Nowhere => self.refuse("`_` has no value"),
            Expression::Assign(..) | Expression::Compound(..) => {
                self.refuse("an assignment has no value: write it as a statement")
            }
        }
    }

    fn value_of_call<'e>(
        &mut self,
        callee: usize,
        arguments: impl IntoIterator<Item = &'e Expression>,
    ) -> Result<Value, Error> {
        let arguments = self.operands(arguments)?;
        match self.callee(Some(callee)) {
            Some(callee) => Ok(call(callee, &arguments)),
            None => self.refuse("a kernel can call `#[device]` functions only"),
        }
    }

    /// The function that a place in the body calls. None for an operation of numbers.
    pub(super) fn callee(&self, callee: Option<usize>) -> Option<&Callee> {
        self.callees[callee?].as_ref()
    }

    /// `-x` of a number.
    pub(super) fn negated(&mut self, operand: Value) -> Result<Value, Error> {
        match scalar(&operand.ty) {
            Some(Scalar::F16 | Scalar::BF16) => {
                self.types.rounds = true;
                let text = format!("halves__::negated({})", operand.text);
                Ok(Value::atom(text, operand.ty, operand.stable))
            }
            Some(Scalar::F32 | Scalar::F64) => {
                let text = format!("-{}", operand.within(ATOM));
                Ok(Value { text, rank: UNARY, ..operand })
            }
            _ => self.function("wrapping_neg", vec![operand], None),
        }
    }

    /// `!x` of a number or a `bool`.
    pub(super) fn inverted(&mut self, operand: Value) -> Result<Value, Error> {
        let inner = operand.within(ATOM);
        let (text, rank) = match scalar(&operand.ty) {
            Some(Scalar::Bool) => (format!("!{inner}"), UNARY),
            Some(Scalar::I32 | Scalar::I64 | Scalar::U32 | Scalar::U64) => (format!("~{inner}"), UNARY),
            Some(small) => (format!("{}(~{inner})", scalar_name(small)), ATOM),
            None => return self.not_a_number(),
        };
        Ok(Value { text, rank, ..operand })
    }

    /// The value of an operator whose function returned this: `a != b` is `!a.eq(b)`, and `a < b` asks
    /// whether `a.partial_cmp(b)` is less.
    fn compared_by(&mut self, operator: Operator, value: Value) -> Result<Value, Error> {
        let symbol = match operator {
            Operator::NotEqual => {
                return Ok(Value { text: format!("!{}", value.text), rank: UNARY, ..value });
            }
            Operator::Less => "<",
            Operator::LessOrEqual => "<=",
            Operator::Greater => ">",
            Operator::GreaterOrEqual => ">=",
            _ => return Ok(value),
        };
        let order = self.named(value);
        let (some, order) = (self.field(&order, "is_some")?, self.field(&order, "value")?);
        let text = format!("{} && {} {symbol} 0", some.text, order.text);
        Ok(Value { text, ty: boolean(), rank: 5, stable: true })
    }

    fn flow(&mut self, slot: Option<usize>, control: &Control) -> Result<Value, Error> {
        // A block without statements is its value.
        if let Control::Block(block) = control
            && let (true, Some((_, value))) = (block.statements.is_empty(), block.value)
        {
            return self.value(value);
        }
        let Some(slot) = slot else {
            return self.refuse("`return`, `break` and `continue` have no value: write them as statements");
        };
        let ty = self.type_of(slot);
        let (type_name, name) = (self.types.name_of(&ty), self.temporary("value"));
        self.push(format!("{type_name} {name};"));
        self.control(control, &super::Destination::Variable(name.clone()))?;
        Ok(Value::atom(name, ty, true))
    }

    pub(super) fn field(&mut self, base: &Value, name: &str) -> Result<Value, Error> {
        let (member, ty) = match &base.ty {
            Type::Tuple(parts) => {
                let part = name.parse().ok().and_then(|position: usize| parts.get(position));
                part.map(|part| (format!("_{name}"), part.clone())).unzip()
            }
            Type::Value(Layout { kind: Kind::Struct { fields }, .. }) => {
                let position = fields.iter().position(|field| field.name == name);
                let found = position.map(|k| (field_names(fields)[k].clone(), Type::of(&fields[k].layout)));
                found.unzip()
            }
            // A `Bit` has one field, as in `templates/core/types.cuh`.
            Type::Value(Layout { kind: Kind::Scalar(Scalar::Bit), .. }) if name == "0" => {
                (Some("is_set".to_owned()), Some(boolean()))
            }
            Type::Value(_) => (None, None),
        };
        let (Some(member), Some(ty)) = (member, ty) else {
            return self.refuse(format!("there is no field `{name}`"));
        };
        Ok(Value::atom(format!("{}.{member}", base.within(ATOM)), ty, base.stable))
    }

    fn element(&mut self, base: Value, index: &Expression) -> Result<Value, Error> {
        let Type::Value(Layout { kind: Kind::Array { element, length }, .. }) = &base.ty else {
            return self.refuse("only an array is indexed");
        };
        let ty = Type::of(element);
        if let Expression::Number { text, .. } = index
            && text.parse().is_ok_and(|index: usize| index < *length)
        {
            return Ok(Value::atom(format!("{}[{text}]", base.within(ATOM)), ty, base.stable));
        }
        let (stable, index) = (base.stable, self.value(index)?);
        let text = format!("rust::at({}, {})", base.text, index.text);
        Ok(Value::atom(text, ty, stable && index.stable))
    }

    fn short_circuit(&mut self, left: &Expression, right: &Expression, and: bool) -> Result<Value, Error> {
        let left = self.value(left)?;
        let (right, written) = self.captured(|this| this.value(right))?;
        // A mix of `&&` and `||` keeps its parentheses, for the reader of the C++.
        let (operator, rank, inner) = if and { ("&&", 5, 8) } else { ("||", 4, 8) };
        if written.is_empty() {
            let side =
                |value: &Value| if value.rank == rank { value.text.clone() } else { value.within(inner) };
            let text = format!("{} {operator} {}", side(&left), right.within(inner));
            return Ok(Value { text, ty: boolean(), rank, stable: left.stable && right.stable });
        }
        let name = self.temporary("value");
        self.push(format!("bool {name} = {};", left.text));
        self.push(format!("if ({}{name}) {{", if and { "" } else { "!" }));
        self.out.extend(written);
        self.push(format!("{name} = {}; }}", right.text));
        Ok(Value::atom(name, boolean(), true))
    }

    pub(super) fn binary(&mut self, operator: Operator, left: &Value, right: &Value) -> Result<Value, Error> {
        if scalar(&right.ty).is_none() {
            return self.not_a_number();
        }
        use Scalar::{Bool, F16, F32, F64, I32, I64, U32, U64};
        let Some(kind) = scalar(&left.ty) else { return self.not_a_number() };
        if matches!(kind, F16 | Scalar::BF16) {
            let value = self.binary(operator, &widened(left), &widened(right))?;
            return Ok(match scalar(&value.ty) {
                Some(F32) => self.rounded(value, left.ty.clone()),
                _ => value,
            });
        }
        let (float, plain) = (matches!(kind, F32 | F64), matches!(kind, U32 | U64));
        let whole = matches!(kind, I32 | I64 | U32 | U64);
        let stable = left.stable && right.stable;
        let infix = |symbol: &str, rank: u8, sides: u8| {
            // A right operand of the same rank keeps its parentheses.
            let left = if left.rank == rank { left.text.clone() } else { left.within(sides) };
            let text = format!("{left} {symbol} {}", right.within(sides));
            Value { text, ty: right.ty.clone(), rank, stable }
        };
        let typed = |value: Value| Value { ty: left.ty.clone(), ..value };
        // C++ has two ranks of comparisons. A nested comparison keeps its parentheses.
        let compared = |symbol: &str| {
            let text = format!("{} {symbol} {}", left.within(11), right.within(11));
            Value { text, ty: boolean(), rank: 10, stable }
        };
        let small = |value: Value| {
            let text = format!("{}({})", scalar_name(kind), value.text);
            Value { text, rank: ATOM, ..value }
        };
        let literal = right.text.trim_end_matches(['u', 'l']).parse::<u32>().ok();
        let function = match operator {
            Operator::Equal => return Ok(compared("==")),
            Operator::NotEqual => return Ok(compared("!=")),
            Operator::Less => return Ok(compared("<")),
            Operator::LessOrEqual => return Ok(compared("<=")),
            Operator::Greater => return Ok(compared(">")),
            Operator::GreaterOrEqual => return Ok(compared(">=")),
            Operator::BitAnd | Operator::BitOr | Operator::BitXor => {
                let (symbol, rank) = match operator {
                    Operator::BitAnd => ("&", 8),
                    Operator::BitOr => ("|", 6),
                    _ => ("^", 7),
                };
                let value = typed(infix(symbol, rank, ATOM));
                return Ok(if whole { value } else { small(value) });
            }
            Operator::Add if float || plain => return Ok(typed(infix("+", 12, 13))),
            Operator::Subtract if float || plain => return Ok(typed(infix("-", 12, 13))),
            Operator::Multiply if float || plain => return Ok(typed(infix("*", 13, UNARY))),
            Operator::Divide if float || (whole && literal.is_some_and(|by| by > 0)) => {
                return Ok(typed(infix("/", 13, UNARY)));
            }
            Operator::Remainder if whole && literal.is_some_and(|by| by > 0) => {
                return Ok(typed(infix("%", 13, UNARY)));
            }
            Operator::ShiftLeft if plain && literal.is_some_and(|by| by < bits(kind)) => {
                return Ok(typed(infix("<<", 11, ATOM)));
            }
            Operator::ShiftRight if whole && literal.is_some_and(|by| by < bits(kind)) => {
                return Ok(typed(infix(">>", 11, ATOM)));
            }
            Operator::Remainder if float => "remainder",
            Operator::Add => "wrapping_add",
            Operator::Subtract => "wrapping_sub",
            Operator::Multiply => "wrapping_mul",
            Operator::Divide => "wrapping_div",
            Operator::Remainder => "wrapping_rem",
            Operator::ShiftLeft => "wrapping_shl",
            Operator::ShiftRight => "wrapping_shr",
            Operator::And | Operator::Or => return self.not_a_number(),
        };
        if kind == Bool {
            return self.not_a_number();
        }
        let shifts = matches!(operator, Operator::ShiftLeft | Operator::ShiftRight);
        let right = match scalar(&right.ty) {
            // The shift count is used modulo the width of the type, so the low 32 bits of any
            // integer suffice.
            Some(by) if shifts && by != U32 => {
                Value::atom(format!("u32({})", right.text), u32_type(), stable)
            }
            _ => right.clone(),
        };
        self.function(function, vec![left.clone(), right], None)
    }

    fn cast(&mut self, operand: Value, ty: Type) -> Result<Value, Error> {
        let (Some(from), Some(to)) = (stored_scalar(&operand.ty), scalar(&ty)) else {
            return self.not_a_number();
        };
        let half = |kind| matches!(kind, Scalar::F16 | Scalar::BF16);
        let float = |kind| matches!(kind, Scalar::F32 | Scalar::F64);
        let name = scalar_name(to);
        if half(from) && float(to) {
            return Ok(Value::atom(format!("{name}(rust::widened({}))", operand.text), ty, operand.stable));
        }
        if from == Scalar::F32 && half(to) {
            return Ok(self.rounded(operand, ty));
        }
        if half(from) || half(to) {
            return self.refuse("a 16-bit float is made of an `f32`, and becomes an `f32` or an `f64`");
        }
        let text = match float(from) && !float(to) {
            true => format!("rust::saturating_cast<{name}>({})", operand.text),
            false if from == to => return Ok(Value { ty, ..operand }),
            false => format!("{name}({})", operand.text),
        };
        Ok(Value::atom(text, ty, operand.stable))
    }

    /// A float, rounded to a 16-bit float.
    pub(super) fn rounded(&mut self, value: Value, ty: Type) -> Value {
        self.types.rounds = true;
        let text = format!("halves__::rounded<{}>({})", self.types.name_of(&ty), value.text);
        Value::atom(text, ty, value.stable)
    }

    pub(super) fn not_a_number<T>(&self) -> Result<T, Error> {
        self.refuse(
            "generic code has the operators and methods of numbers; those of other types have to be among its bounds: \
             write this code for the type itself, or a `#[device]` function",
        )
    }
}

/// A 16-bit float as an `f32`, and any other value itself.
pub(super) fn widened(value: &Value) -> Value {
    match scalar(&value.ty) {
        Some(Scalar::F16 | Scalar::BF16) => {
            Value::atom(format!("rust::widened({})", value.text), Type::Value(f32::layout()), value.stable)
        }
        _ => value.clone(),
    }
}

/// A call of a function.
pub(super) fn call(callee: &Callee, arguments: &[Value]) -> Value {
    let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
    let text = format!("{}({})", callee.name, texts.join(", "));
    Value::atom(text, callee.result.clone(), arguments.iter().all(|argument| argument.stable))
}

fn bits(scalar: Scalar) -> u32 {
    match scalar {
        Scalar::I64 | Scalar::U64 => 64,
        _ => 32,
    }
}
