//! Control flow.

use super::{Destination, Loop, Lowering, Value};
use crate::Error;
use crate::language::syntax::{Arm, Block, Control, Expression, Range};

/// Stands in each iteration of a loop that may be endless. C++ assumes that a loop without side
/// effects terminates, so the compiler could remove it and return any value.
const KEEP_LOOP: &str = "asm volatile(\"\");";

impl Lowering<'_> {
    pub(super) fn control(&mut self, control: &Control, destination: &Destination) -> Result<(), Error> {
        match control {
            Control::Block(block) => {
                self.push("{");
                self.block(block, destination)?;
                self.push("}");
                Ok(())
            }
            Control::If(condition, then, otherwise) => {
                let condition = self.value(condition)?;
                self.push(format!("if ({}) {{", condition.text));
                self.block(then, destination)?;
                match otherwise {
                    None => self.push("}"),
                    Some(otherwise) => self.else_branch(|this| match otherwise {
                        Expression::Control(_, Control::Block(block)) => this.block(block, destination),
                        otherwise => this.into(otherwise, destination),
                    })?,
                }
                Ok(())
            }
            Control::Match(value, arms) => {
                let value = self.value(value)?;
                let value = self.named(value);
                self.arms(&value, arms, destination)
            }
            Control::Loop(label, body) => {
                self.repeated(*label, destination, format!("while (true) {{ {KEEP_LOOP}"), body, "")
            }
            Control::While(label, condition, body) => {
                let (condition, written) = self.captured(|this| this.value(condition))?;
                if written.is_empty() {
                    let head = format!("while ({}) {{ {KEEP_LOOP}", condition.text);
                    return self.repeated(*label, &Destination::Nowhere, head, body, "");
                }
                self.push(format!("while (true) {{ {KEEP_LOOP}"));
                self.out.extend(written);
                let head = format!("if (!{}) break;", condition.within(super::ATOM));
                self.repeated(*label, &Destination::Nowhere, head, body, "")
            }
            Control::For { label, variable, ty, range, body } => {
                self.count(*label, *variable, *ty, range, body)
            }
            Control::Break(label, value) => self.leave(*label, value.as_ref()),
            Control::Continue(label) => {
                let depth = self.target(*label)?;
                if depth + 1 == self.loops.len() {
                    self.push("continue;");
                    return Ok(());
                }
                let label = match self.loops[depth].next.clone() {
                    Some(label) => label,
                    None => self.temporary("next"),
                };
                self.push(format!("goto {label};"));
                self.loops[depth].next = Some(label);
                Ok(())
            }
            Control::Return(value) => self.into(value, &Destination::Return),
        }
    }

    /// Writes `} else { ... }`, or `} else if ...` if the branch is a single `if` statement.
    fn else_branch(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Error>) -> Result<(), Error> {
        let ((), mut written) = self.captured(work)?;
        // Lines that start with `if` may be several statements. Those need braces, since `else`
        // would join only the first.
        let joined = written.first().is_some_and(|(_, text)| text.starts_with("if (")) && is_one(&written);
        match joined {
            true => {
                if let Some((_, first)) = written.first_mut() {
                    *first = format!("}} else {first}");
                }
                self.out.extend(written);
            }
            false => {
                self.push("} else {");
                self.out.extend(written);
                self.push("}");
            }
        }
        Ok(())
    }

    fn arms(&mut self, value: &Value, arms: &[Arm], destination: &Destination) -> Result<(), Error> {
        let Some((arm, rest)) = arms.split_first() else { return Ok(()) };
        self.line = arm.line;
        let mut condition = match (rest.is_empty(), &arm.guard) {
            // If the last arm is reached, Rust guarantees that it matches.
            (true, None) => None,
            _ => self.test(&arm.pattern, value)?,
        };
        if let Some(guard) = &arm.guard {
            let aliased = self.alias(&arm.pattern, value)?;
            let guarded = self.captured(|this| this.value(guard));
            for (local, name) in aliased {
                self.names[local] = name;
            }
            let (guard, written) = guarded?;
            condition = Some(match (condition, written.is_empty()) {
                (condition, false) => {
                    let matched = self.temporary("matched");
                    self.push(format!("bool {matched} = {};", condition.as_deref().unwrap_or("true")));
                    self.push(format!("if ({matched}) {{"));
                    self.out.extend(written);
                    self.push(format!("{matched} = {}; }}", guard.text));
                    matched
                }
                (Some(condition), true) => format!("{condition} && {}", guard.within(8)),
                (None, true) => guard.text,
            });
        }
        let body = |this: &mut Self| {
            this.line = arm.line;
            this.bind(&arm.pattern, value)?;
            match &arm.value {
                Expression::Control(_, Control::Block(block)) => this.block(block, destination),
                value => this.into(value, destination),
            }
        };
        match condition {
            None => {
                self.push("{");
                body(self)?;
                self.push("}");
            }
            Some(condition) => {
                self.push(format!("if ({condition}) {{"));
                body(self)?;
                match rest.is_empty() {
                    true => self.push("}"),
                    false => self.else_branch(|this| this.arms(value, rest, destination))?,
                }
            }
        }
        Ok(())
    }

    /// Writes a loop. `head` is its first line and opens the brace.
    fn repeated(
        &mut self,
        label: Option<&'static str>,
        destination: &Destination,
        head: String,
        body: &Block,
        tail: &str,
    ) -> Result<(), Error> {
        self.push(head);
        self.loops.push(Loop { label, destination: destination.clone(), end: None, next: None });
        let result = self.captured(|this| this.block(body, &Destination::Nowhere));
        let (end, next) = self.loops.pop().map(|left| (left.end, left.next)).unwrap_or_default();
        let ((), written) = result?;
        match next {
            // C++ forbids a `goto` past a declaration, so the body gets a block of its own.
            Some(next) => {
                self.push("{");
                self.out.extend(written);
                self.push(format!("}} {next}:; {tail}}}"));
            }
            None => {
                self.out.extend(written);
                self.push(format!("{tail}}}"));
            }
        }
        if let Some(end) = end {
            self.push(format!("{end}:;"));
        }
        Ok(())
    }

    fn count(
        &mut self,
        label: Option<&'static str>,
        variable: Option<usize>,
        ty: usize,
        range: &Range,
        body: &Block,
    ) -> Result<(), Error> {
        let mut bounds = self.operands([&range.low, &range.high])?.into_iter();
        let (Some(low), Some(high)) = (bounds.next(), bounds.next()) else {
            return self.refuse("a range has two ends");
        };
        let ty = self.types.name_of(&self.translation.types[ty]);
        let fixed = |this: &mut Self, value: Value, name: &str| match value.stable && value.is_place() {
            true => value.text,
            false => {
                let name = this.temporary(name);
                this.push(format!("const {ty} {name} = {};", value.text));
                name
            }
        };
        let low = if range.reversed { fixed(self, low, "low") } else { low.text };
        let high = fixed(self, high, "high");
        let own =
            variable.filter(|&local| !self.locals[local].mutable).map(|local| self.names[local].clone());
        // A separate counter is needed unless the body has an immutable loop variable that counts
        // up.
        let counts_itself = own.is_some() && !range.reversed;
        let counter = match own {
            Some(own) if counts_itself => own,
            _ => self.temporary("count"),
        };
        let current = |this: &mut Self, counted: &str| match variable {
            Some(local) if !counts_itself => {
                let declared = this.declaration(local);
                format!("{declared} = {counted};")
            }
            _ => String::new(),
        };
        let head = match (range.inclusive, range.reversed) {
            (false, false) => {
                let declared = current(self, &counter);
                format!("for ({ty} {counter} = {low}; {counter} < {high}; ++{counter}) {{ {declared}")
            }
            (false, true) => {
                let declared = current(self, &counter);
                format!("for ({ty} {counter} = {high}; {counter} > {low};) {{ --{counter}; {declared}")
            }
            (true, reversed) => {
                // The counter never steps past the last value, which may be the largest of its
                // type.
                let more = self.temporary("more");
                let (first, last, step) = if reversed { (&high, &low, "--") } else { (&low, &high, "++") };
                let before = if reversed { ">" } else { "<" };
                let declared = current(self, &counter);
                self.push(format!("{{ {ty} {counter} = {first};"));
                format!(
                    "for (bool {more} = {counter} {before}= {last}; {more}; {more} = {counter} {before} {last} && \
                     ({step}{counter}, true)) {{ {declared}"
                )
            }
        };
        self.repeated(label, &Destination::Nowhere, head.trim_end().to_owned(), body, "")?;
        if range.inclusive {
            self.push("}");
        }
        Ok(())
    }

    fn leave(&mut self, label: Option<&str>, value: Option<&Expression>) -> Result<(), Error> {
        let depth = self.target(label)?;
        if let Some(value) = value {
            let destination = self.loops[depth].destination.clone();
            self.into(value, &destination)?;
            if destination == Destination::Return {
                return Ok(());
            }
        }
        if depth + 1 == self.loops.len() {
            self.push("break;");
            return Ok(());
        }
        let label = match self.loops[depth].end.clone() {
            Some(label) => label,
            None => self.temporary("end"),
        };
        self.push(format!("goto {label};"));
        self.loops[depth].end = Some(label);
        Ok(())
    }

    /// The loop that a jump leaves or continues. rustc has checked that it exists.
    fn target(&self, label: Option<&str>) -> Result<usize, Error> {
        let named = |at: &Loop| label.is_none() || at.label == label;
        self.loops.iter().rposition(named).map_or_else(|| self.refuse("there is no such loop here"), Ok)
    }
}

/// Whether lines that start with `if` are one statement: its brace closes at the end of the lines.
fn is_one(lines: &[(u32, String)]) -> bool {
    let mut depth = 0_i32;
    for (position, (_, text)) in lines.iter().enumerate() {
        for (at, character) in text.char_indices() {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            // `} else {` closes one branch and opens the next.
            let closed = character == '}' && depth == 0 && !text[at..].starts_with("} else");
            if closed && (position + 1 < lines.len() || at + 1 < text.len()) {
                return false;
            }
        }
    }
    true
}
