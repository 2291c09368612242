//! Statements, and the destinations of values.

use super::expression::call;
use super::{Destination, Lowering, Value, scalar};
use crate::language::syntax::{Block, Control, Expression, Operator, Pattern, StatementKind};
use crate::{Error, Scalar};

impl Lowering<'_> {
    pub(super) fn block(&mut self, block: &Block, destination: &Destination) -> Result<(), Error> {
        for statement in block.statements {
            self.line = statement.line;
            match &statement.kind {
                StatementKind::Let(pattern, Some(value)) => self.declare(pattern, value)?,
                StatementKind::Let(Pattern::Local(local, _), None) => {
                    let declared = self.declaration(*local);
                    self.push(format!("{declared};"));
                }
                StatementKind::Let(_, None) => {
                    return self.refuse("a declaration without a value is of one variable");
                }
                StatementKind::Expression(expression) => self.into(expression, &Destination::Nowhere)?,
            }
        }
        if let Some((line, value)) = block.value {
            self.line = line;
            self.into(value, destination)?;
        }
        Ok(())
    }

    /// Writes `let pattern = value;`.
    fn declare(&mut self, pattern: &Pattern, value: &Expression) -> Result<(), Error> {
        match (pattern, value) {
            (Pattern::Local(local, None), Expression::Control(Some(_), control)) if !matches!(control, Control::Block(block) if block.statements.is_empty()) =>
            {
                let ty = self.type_of(self.locals[*local].ty);
                let declared = format!("{} {}", self.types.name_of(&ty), self.names[*local]);
                self.push(format!("{declared};"));
                self.control(control, &Destination::Variable(self.names[*local].clone()))
            }
            (Pattern::Local(_, None), value) => {
                let value = self.value(value)?;
                self.bind(pattern, &value)
            }
            (Pattern::Elements(patterns, []), Expression::Tuple(elements))
                if patterns.len() == elements.len() =>
            {
                let values = self.operands(*elements)?;
                for (pattern, value) in patterns.iter().zip(values) {
                    let value = match pattern {
                        Pattern::Local(_, None) => value,
                        _ => self.named(value),
                    };
                    self.bind(pattern, &value)?;
                }
                Ok(())
            }
            (pattern, value) => {
                let value = self.value(value)?;
                let value = self.named(value);
                self.bind(pattern, &value)
            }
        }
    }

    /// Writes an expression and stores its value in a destination.
    pub(super) fn into(&mut self, expression: &Expression, destination: &Destination) -> Result<(), Error> {
        match expression {
            Expression::Control(_, control) => self.control(control, destination),
            Expression::Assign(place, value) => self.assign(place, value),
            Expression::Compound(operator, place, value, callee) => {
                if self.callee(*callee).is_some() {
                    return self.compound_call(place, value, *callee);
                }
                let value = self.value(value)?;
                let place = self.value(place)?;
                self.compound(*operator, &place, &value)
            }
            expression => {
                let value = self.value(expression)?;
                self.finish(value, destination);
                Ok(())
            }
        }
    }

    /// `place operator= value` by a function. Rust evaluates the place first here, and of numbers the
    /// value.
    fn compound_call(
        &mut self,
        place: &Expression,
        value: &Expression,
        callee: Option<usize>,
    ) -> Result<(), Error> {
        let place = self.value(place)?;
        let (value, written) = self.captured(|this| this.value(value))?;
        // A variable cannot change while it is assigned to, but an index can.
        if !written.is_empty() && place.text.contains("rust::at(") {
            return self
                .refuse("the value could change the index before it: name the value with `let` first");
        }
        self.out.extend(written);
        if let Some(callee) = self.callee(callee) {
            let changed = call(callee, &[place.clone(), value]);
            self.push(format!("{} = {};", place.text, changed.text));
        }
        Ok(())
    }

    fn finish(&mut self, value: Value, destination: &Destination) {
        match destination {
            Destination::Return => self.push(format!("return {};", value.text)),
            Destination::Variable(name) => self.push(format!("{name} = {};", value.text)),
            // The C++ expression has no side effects.
            Destination::Nowhere => {}
        }
    }

    fn assign(&mut self, place: &Expression, value: &Expression) -> Result<(), Error> {
        let Expression::Tuple(places) = place else {
            let value = self.value(value)?;
            if !matches!(place, Expression::Nowhere) {
                let place = self.value(place)?;
                self.push(format!("{} = {};", place.text, value.text));
            }
            return Ok(());
        };
        let values = match value {
            Expression::Tuple(values) if values.len() == places.len() => self.operands(*values)?,
            value => {
                let value = self.value(value)?;
                let value = self.named(value);
                (0..places.len()).map(|k| self.field(&value, &k.to_string())).collect::<Result<_, _>>()?
            }
        };
        // All values are read before the first place is written.
        let mut kept = Vec::new();
        for (place, value) in places.iter().zip(values) {
            if matches!(place, Expression::Nowhere) {
                continue;
            }
            let (ty, name) = (self.types.name_of(&value.ty), self.temporary("assigned"));
            self.push(format!("const {ty} {name} = {};", value.text));
            kept.push((place, name));
        }
        for (place, name) in kept {
            let place = self.value(place)?;
            self.push(format!("{} = {name};", place.text));
        }
        Ok(())
    }

    fn compound(&mut self, operator: Operator, place: &Value, value: &Value) -> Result<(), Error> {
        let symbol = match operator {
            Operator::Add => "+",
            Operator::Subtract => "-",
            Operator::Multiply => "*",
            Operator::BitAnd => "&",
            Operator::BitOr => "|",
            Operator::BitXor => "^",
            _ => "",
        };
        let simple = match scalar(&place.ty) {
            Some(Scalar::U32 | Scalar::U64) => !symbol.is_empty(),
            Some(Scalar::I32 | Scalar::I64) => matches!(symbol, "&" | "|" | "^"),
            Some(Scalar::F32 | Scalar::F64) => matches!(symbol, "+" | "-" | "*"),
            _ => false,
        };
        let text = match simple {
            true => format!("{} {symbol}= {};", place.text, value.text),
            false => format!("{} = {};", place.text, self.binary(operator, place, value)?.text),
        };
        self.push(text);
        Ok(())
    }
}
