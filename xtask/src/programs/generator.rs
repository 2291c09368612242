//! Random types, functions and statements.

use std::fmt::Write;
use std::rc::Rc;

use rand::Rng;
use rand::rngs::SmallRng;
use rand::seq::IndexedRandom;

use super::disguise::Disguise;
use super::types::{INTEGERS, Method, SCALARS, Struct, Ty, is_float, is_signed};

/// The declaration of a program's aggregates.
pub(super) const AGGREGATES: &str = "pub fn aggregates()";

/// The operator itself, as a variable.
pub(super) const STATE: &str = "(*self)";

#[derive(Clone)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) mutable: bool,
}

pub(super) struct Generator<'r> {
    pub(super) random: &'r mut SmallRng,
    pub(super) number: u32,
    /// The structs that types may use.
    pub(super) structs: Vec<Rc<Struct>>,
    /// The type of the operator, if its body may read its fields.
    pub(super) state: Option<Ty>,
    pub(super) variables: Vec<Variable>,
    pub(super) names: u32,
    /// Number of loops that enclose the current statement.
    pub(super) loops: u32,
    /// The labels of these loops, if they have one.
    pub(super) labels: Vec<String>,
    pub(super) result: Ty,
    pub(super) helper: Option<(Vec<Ty>, Ty)>,
    /// Whether the body is `combine`, which may call other operators.
    pub(super) combines: bool,
    /// The methods and operators of the structs.
    pub(super) methods: Vec<Method>,
    /// Number of statements and expressions that may still be written.
    pub(super) budget: i32,
    /// The disguise of the program: see `disguise.rs`.
    pub(super) disguise: Option<Disguise>,
}

impl<'r> Generator<'r> {
    pub(super) fn new(random: &'r mut SmallRng, number: u32, disguise: Option<Disguise>) -> Self {
        Self {
            random,
            number,
            structs: Vec::new(),
            state: None,
            variables: Vec::new(),
            names: 0,
            loops: 0,
            labels: Vec::new(),
            result: Ty::Scalar("bool"),
            helper: None,
            combines: false,
            methods: Vec::new(),
            budget: 0,
            disguise,
        }
    }

    pub(super) fn chance(&mut self, of: u32) -> bool {
        self.random.random_range(0..of) == 0
    }

    pub(super) fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of.choose(self.random).expect("something to choose from").clone()
    }

    /// A type of at most 256 bytes, which is the most that an item has.
    pub(super) fn ty(&mut self) -> Ty {
        loop {
            let ty = match self.random.random_range(0..12) {
                0..3 if !self.structs.is_empty() => {
                    let structs = self.structs.clone();
                    Ty::Struct(self.pick(&structs))
                }
                3..6 => {
                    let element = match self.random.random_range(0..4) {
                        0 => self.ty(),
                        _ => Ty::Scalar(self.pick(&SCALARS)),
                    };
                    let most = if matches!(element, Ty::Scalar(_)) { 5 } else { 3 };
                    Ty::Array(Box::new(element), self.random.random_range(1..most))
                }
                6 | 7 => Ty::Tuple((0..self.random.random_range(2..4)).map(|_| self.ty()).collect()),
                _ => Ty::Scalar(self.pick(&SCALARS)),
            };
            if ty.size() <= 256 {
                return ty;
            }
        }
    }

    pub(super) fn program(mut self) -> String {
        let number = self.number;
        let mut text = self.disguised_traits() + &self.structs();
        let state = self.chance(3).then(|| self.structure(&format!("P{number}"), false));
        if self.chance(2) {
            let parameters: Vec<Ty> = (0..self.random.random_range(1..4)).map(|_| self.ty()).collect();
            let result = self.ty();
            let list: Vec<String> =
                parameters.iter().enumerate().map(|(k, ty)| format!("x{k}: {}", ty.name())).collect();
            let body = self.body(&parameters, "x", &result, 12);
            let helper = format!(
                "#[device]\npub fn h{number}({}) -> {} {{\n{body}}}\n",
                list.join(", "),
                result.name()
            );
            text.push_str(&self.disguised_helper(helper));
            self.helper = Some((parameters, result));
        }
        // Structs and tuples have the most to get wrong.
        let item = (0..4).map(|_| self.ty()).find(|ty| matches!(ty, Ty::Struct(_) | Ty::Tuple(_)));
        let item = item.unwrap_or_else(|| self.ty());
        let has_aggregate = state.is_none() && self.disguise.is_none();
        let operators = match state {
            Some(declared) => {
                text.push_str(&declared);
                self.state = self.structs.last().cloned().map(Ty::Struct);
                format!(
                    "crate::edges::pairs::<P{number}>(2).into_iter().flat_map(|(f0, f1)| [f0, f1]).collect()"
                )
            }
            None => {
                let _ = writeln!(text, "#[derive(Clone, Copy)]\npub struct P{number};");
                format!("::std::vec![P{number}]")
            }
        };
        let _ = writeln!(text, "pub fn operators() -> ::std::vec::Vec<P{number}> {{ {operators} }}");
        self.combines = true;
        text.push_str(&self.operator(&item));
        self.combines = false;
        if has_aggregate {
            text.push_str(&self.aggregate(&item));
        }
        text
    }

    /// An aggregate with the program's operator.
    fn aggregate(&mut self, item: &Ty) -> String {
        let number = self.number;
        // Those of the operator's body.
        self.variables.clear();
        let (mut text, aggregates) = match self.chance(3) {
            true => {
                let declared = self.structure(&format!("A{number}"), false);
                self.state = self.structs.last().cloned().map(Ty::Struct);
                let values = format!(
                    "crate::edges::pairs::<A{number}>(2).into_iter().flat_map(|(f0, f1)| [f0, f1]).collect()"
                );
                (declared, values)
            }
            false => (
                format!("#[derive(Clone, Copy)]\npub struct A{number};\n"),
                format!("::std::vec![A{number}]"),
            ),
        };
        let _ = writeln!(text, "{AGGREGATES} -> ::std::vec::Vec<A{number}> {{ {aggregates} }}");
        let parts: Vec<Ty> = (0..self.random.random_range(1..3)).map(|_| self.ty()).collect();
        let names: Vec<String> = parts.iter().map(Ty::name).collect();
        let (input, pattern) = match &names[..] {
            [name] => (name.clone(), "x1".to_owned()),
            names => (format!("({})", names.join(", ")), "(x1, x2)".to_owned()),
        };
        let (result, index) = (self.ty(), Ty::Scalar("u64"));
        let parameters: Vec<Ty> = std::iter::once(index.clone()).chain(parts).collect();
        let prepare = self.body(&parameters, "x", item, 20);
        let present = self.body(&[item.clone(), index], "x", &result, 20);
        let (item, result) = (item.name(), result.name());
        let _ = writeln!(
            text,
            "#[aggregate]
impl Aggregate for A{number} {{
    type Input = {input};
    type Monoid = P{number};
    type Output = {result};
    fn monoid(&self) -> P{number} {{ P{number} }}
    fn prepare(&self, x0: u64, {pattern}: {input}) -> {item} {{
{prepare}    }}
    fn present(&self, x0: {item}, x1: u64) -> {result} {{
{present}    }}
}}"
        );
        text
    }

    pub(super) fn body(&mut self, parameters: &[Ty], name: &str, result: &Ty, budget: i32) -> String {
        let variable =
            |(k, ty): (usize, &Ty)| Variable { name: format!("{name}{k}"), ty: ty.clone(), mutable: false };
        self.variables = parameters.iter().enumerate().map(variable).collect();
        let state = self.state.clone();
        self.variables.extend(state.map(|ty| Variable { name: STATE.to_owned(), ty, mutable: false }));
        self.result = result.clone();
        self.budget = budget;
        self.loops = 0;
        let mut text = String::new();
        self.statements(&mut text, 8);
        let value = self.value(result, 3);
        let _ = writeln!(text, "        {value}");
        text
    }

    pub(super) fn statements(&mut self, text: &mut String, most: u32) {
        for _ in 0..self.random.random_range(1..=most) {
            if self.budget <= 0 {
                return;
            }
            self.budget -= 1;
            self.disguise_statement(text);
            self.statement(text);
        }
    }

    pub(super) fn block(&mut self, most: u32) -> String {
        let outer = self.variables.len();
        let mut text = String::new();
        self.statements(&mut text, most);
        self.variables.truncate(outer);
        text
    }

    fn declare(&mut self, ty: Ty, mutable: bool) -> String {
        // Sometimes shadows an existing name.
        let name = match self.variables.choose(self.random) {
            Some(variable) if !variable.name.contains("self") && self.random.random_range(0..6) == 0 => {
                variable.name.clone()
            }
            _ => {
                self.names += 1;
                format!("v{}", self.names)
            }
        };
        self.variables.push(Variable { name: name.clone(), ty, mutable });
        name
    }

    /// A random variable that `pass` accepts and no other variable shadows.
    pub(super) fn visible(&mut self, pass: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let mut seen = Vec::new();
        let mut found = Vec::new();
        for variable in self.variables.iter().rev() {
            if seen.contains(&variable.name) {
                continue;
            }
            seen.push(variable.name.clone());
            if pass(variable) {
                found.push(variable.clone());
            }
        }
        found.choose(self.random).cloned()
    }

    fn statement(&mut self, text: &mut String) {
        match self.random.random_range(0..20) {
            0..6 => {
                let (ty, mutable) = (self.ty(), self.chance(2));
                let value = self.value(&ty, 3);
                let word = if mutable { "mut " } else { "" };
                let typed = if self.chance(2) { format!(": {}", ty.name()) } else { String::new() };
                // A literal alone would have another type.
                let typed = if value.chars().all(|c| c.is_ascii_digit() || "-._ e".contains(c)) {
                    format!(": {}", ty.name())
                } else {
                    typed
                };
                let name = self.declare(ty, mutable);
                let _ = writeln!(text, "        let {word}{name}{typed} = {value};");
            }
            6..10 => self.assignment(text),
            10 | 11 => {
                let condition = self.boolean(2);
                let then = self.block(3);
                let otherwise = if self.chance(2) {
                    format!(" else {{\n{}        }}", self.block(2))
                } else {
                    String::new()
                };
                let _ = writeln!(text, "        if {condition} {{\n{then}        }}{otherwise}");
            }
            12 => {
                let low = self.random.random_range(0..3);
                let high = low + self.random.random_range(0..5);
                let ty = self.pick(&INTEGERS);
                let (reverse, equals) = (self.chance(3), if self.chance(3) { "=" } else { "" });
                let range = format!("{low}{ty}..{equals}{high}");
                let range = if reverse { format!("({range}).rev()") } else { range };
                let outer = self.variables.len();
                self.names += 1;
                let name = format!("k{}", self.names);
                self.variables.push(Variable { name: name.clone(), ty: Ty::Scalar(ty), mutable: false });
                let (label, body) = self.repeated();
                self.variables.truncate(outer);
                let _ = writeln!(text, "        {label}for {name} in {range} {{\n{body}        }}");
            }
            13 => {
                self.names += 1;
                let (name, most) = (format!("n{}", self.names), self.random.random_range(1..6));
                // In a condition, Rust refuses a jump without a label.
                let condition = self.without_jumps(|this| this.boolean(2));
                let (label, body) = self.repeated();
                let _ = writeln!(
                    text,
                    "        let mut {name} = 0;\n        {label}while {name} < {most} && {condition} {{\n        {name} += 1;\n{body}        }}"
                );
            }
            14 => {
                let ty = Ty::Scalar(self.pick(&INTEGERS));
                let value = self.value(&ty, 2);
                let Ty::Scalar(scalar) = ty else { return };
                let arms = [self.block(2), self.block(2), self.block(2)];
                let guard = self.boolean(1);
                let top = if is_signed(scalar) { "-3" } else { "3" };
                let _ = writeln!(
                    text,
                    "        match {value} {{\n        0 | 1 => {{\n{}        }}\n        {top}..=9 if {guard} => {{\n{}        }}\n        _ => {{\n{}        }}\n        }}",
                    arms[0], arms[1], arms[2]
                );
            }
            15 if self.loops > 0 => {
                let condition = self.boolean(2);
                let jump = self.pick(&["break", "continue"]);
                let labels = self.labels.clone();
                let label = if labels.is_empty() || self.chance(2) { "" } else { &self.pick(&labels) };
                let _ = writeln!(text, "        if {condition} {{ {jump} {label}; }}");
            }
            16 => {
                let condition = self.boolean(2);
                let result = self.result.clone();
                let value = self.value(&result, 2);
                let _ = writeln!(text, "        if {condition} {{ return {value}; }}");
            }
            17 => {
                let ty = self.ty();
                let (a, b) = (self.value(&ty, 2), self.value(&ty, 2));
                let (first, second) = (self.declare(ty.clone(), true), self.declare(ty.clone(), true));
                if first == second {
                    self.variables.truncate(self.variables.len() - 2);
                    return;
                }
                let name = ty.name();
                let _ = writeln!(
                    text,
                    "        let (mut {first}, mut {second}): ({name}, {name}) = ({a}, {b});\n        ({first}, {second}) = ({second}, {first});"
                );
            }
            18 => {
                let value = self.value(&Ty::Scalar("u64"), 2);
                let (high, low) =
                    (self.declare(Ty::Scalar("u32"), false), self.declare(Ty::Scalar("u32"), false));
                if high == low {
                    self.variables.truncate(self.variables.len() - 2);
                    return;
                }
                let _ = match self.chance(3) {
                    true => writeln!(
                        text,
                        "        let whole = {value};\n        let (mut {high}, mut {low}) = (1, 2);\n        \
                         ({high}, _) = halves(whole);\n        (_, {low}) = halves(whole);"
                    ),
                    false => writeln!(text, "        let ({high}, {low}) = halves({value});"),
                };
            }
            _ => {
                let ty = self.ty();
                let (value, mut bound) = (self.value(&ty, 2), Vec::new());
                let pattern = self.pattern(&ty, false, &mut bound);
                self.variables.extend(bound);
                let _ = writeln!(text, "        let {pattern} = {value};");
            }
        }
    }

    /// The label and the body of a loop.
    fn repeated(&mut self) -> (String, String) {
        self.names += 1;
        let label = if self.chance(2) { Some(format!("'l{}", self.names)) } else { None };
        self.labels.extend(label.clone());
        self.loops += 1;
        let body = self.block(3);
        self.loops -= 1;
        if let Some(label) = label {
            self.labels.pop();
            return (format!("{label}: "), body);
        }
        (String::new(), body)
    }

    /// Writes code that must not jump: Rust refuses the jump there, or gives it another meaning.
    pub(super) fn without_jumps(&mut self, write: impl FnOnce(&mut Self) -> String) -> String {
        let outer = (std::mem::take(&mut self.loops), std::mem::take(&mut self.labels));
        let text = write(self);
        (self.loops, self.labels) = outer;
        text
    }

    fn assignment(&mut self, text: &mut String) {
        let Some(variable) = self.visible(|variable| variable.mutable) else { return };
        let (place, ty) = self.part(&variable.name, &variable.ty);
        let value = self.value(&ty, 2);
        let operator = match &ty {
            Ty::Scalar(name) if is_float(name) => self.pick(&["", "+", "-", "*", "/"]),
            Ty::Scalar("bool") => self.pick(&["", "&", "|", "^"]),
            Ty::Scalar(_) => self.pick(&["", "+", "-", "*", "&", "|", "^", "<<", ">>"]),
            _ => "",
        };
        let _ = writeln!(text, "        {place} {operator}= {value};");
    }

    pub(super) fn boolean(&mut self, depth: u32) -> String {
        // Parentheses, since a `{` in a condition opens the block.
        format!("({})", self.value(&Ty::Scalar("bool"), depth))
    }
}
