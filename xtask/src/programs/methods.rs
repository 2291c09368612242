//! Random methods and operators of the structs that a program declares.

use std::fmt::Write;
use std::rc::Rc;

use rand::Rng;

use super::generator::{Generator, Variable};
use super::types::{Called, Method, Struct, Ty};

/// Names of methods. Numbers have some of them, too.
const NAMES: [&str; 10] =
    ["norm", "abs", "sqrt", "min", "max", "is_zero", "count_ones", "towards", "r#final", "combine"];
/// Operator traits, their functions, and their symbols.
const OPERATORS: [(&str, &str, &str); 8] = [
    ("Add", "add", "+"),
    ("Sub", "sub", "-"),
    ("Mul", "mul", "*"),
    ("Div", "div", "/"),
    ("Rem", "rem", "%"),
    ("BitAnd", "bitand", "&"),
    ("BitOr", "bitor", "|"),
    ("BitXor", "bitxor", "^"),
];

impl Generator<'_> {
    /// Gives a struct methods and operators. From now on expressions may use them.
    pub(super) fn methods_of(&mut self, of: &Rc<Struct>) -> String {
        let ty = Ty::Struct(of.clone());
        let name = ty.name();
        let mut text = String::new();
        // Two instances of a generic struct may be one type.
        if self.methods.iter().any(|method| method.of.name() == name) {
            return text;
        }
        let used = (self.names, self.budget);
        if self.chance(2) {
            let mut methods = String::new();
            let first = self.random.random_range(0..NAMES.len());
            for number in 0..self.random.random_range(1..4) {
                let method = NAMES[(first + number) % NAMES.len()];
                let (other, result) = (self.ty(), self.ty());
                // A trait's method of this name that takes `self` would come before one that takes `&self`.
                let has_rival = matches!(method, "min" | "max" | "abs" | "sqrt" | "count_ones");
                let by_value = self.chance(2) || has_rival;
                let (receiver, this) = if by_value { ("self", "self") } else { ("&self", "(*self)") };
                let body = self.body_of_method(this, &ty, &other, &result);
                let _ = writeln!(
                    methods,
                    "    pub fn {method}({receiver}, x1: {}) -> {} {{\n{body}    }}",
                    other.name(),
                    result.name()
                );
                let kind = if by_value && self.chance(3) {
                    Called::Function(method)
                } else {
                    Called::Method(method)
                };
                self.methods.push(Method { of: ty.clone(), other, result, kind });
            }
            let _ = writeln!(text, "#[device]\nimpl {name} {{\n{methods}}}");
        }
        if self.chance(2) {
            let (of_trait, function, symbol) = self.pick(&OPERATORS);
            let (other, result) = (if self.chance(2) { ty.clone() } else { self.ty() }, self.ty());
            let body = self.body_of_method("self", &ty, &other, &result);
            let (other_name, result_name) = (other.name(), result.name());
            let output = if self.chance(2) { "Self::Output" } else { &result_name };
            let _ = writeln!(
                text,
                "#[device]\nimpl ::std::ops::{of_trait}<{other_name}> for {name} {{\n    type Output = {result_name};\n    \
                 fn {function}(self, x1: {other_name}) -> {output} {{\n{body}    }}\n}}"
            );
            self.methods.push(Method { of: ty.clone(), other, result, kind: Called::Operator(symbol) });
        }
        if self.chance(3) {
            let body = self.body_of_method("self", &ty, &Ty::Scalar("u8"), &ty);
            let _ = writeln!(
                text,
                "#[device]\nimpl ::std::ops::Neg for {name} {{\n    type Output = Self;\n    \
                 fn neg(self) -> Self {{\n        let x1 = 1u8;\n{body}    }}\n}}"
            );
            let (other, result) = (Ty::Scalar("u8"), ty.clone());
            self.methods.push(Method { of: ty, other, result, kind: Called::Negation });
        }
        (self.names, self.budget) = used;
        text
    }

    fn body_of_method(&mut self, this: &str, of: &Ty, other: &Ty, result: &Ty) -> String {
        let variable =
            |name: &str, ty: &Ty| Variable { name: name.to_owned(), ty: ty.clone(), mutable: false };
        let outer = std::mem::replace(&mut self.variables, vec![variable(this, of), variable("x1", other)]);
        let (before, loops) = (self.result.clone(), self.loops);
        (self.result, self.budget, self.loops) = (result.clone(), 4, 0);
        let mut text = String::new();
        self.statements(&mut text, 2);
        let value = self.value(result, 2);
        let _ = writeln!(text, "        {value}");
        (self.variables, self.result, self.loops) = (outer, before, loops);
        text
    }

    /// A call of a method with this result, if a struct has one.
    pub(super) fn called_method(&mut self, result: &Ty, depth: u32) -> Option<String> {
        let fitting: Vec<Method> =
            self.methods.iter().filter(|method| method.result == *result).cloned().collect();
        if fitting.is_empty() {
            return None;
        }
        let Method { of, other, kind, .. } = self.pick(&fitting);
        let (left, right) = (self.value(&of, depth), self.value(&other, depth));
        Some(match kind {
            Called::Method(name) => format!("({left}).{name}({right})"),
            Called::Function(name) => format!("<{}>::{name}({left}, {right})", of.name()),
            Called::Operator(symbol) => format!("(({left}) {symbol} ({right}))"),
            Called::Negation => format!("(-({left}))"),
        })
    }

    /// A value from an option.
    pub(super) fn of_option(&mut self, ty: &Ty, depth: u32) -> String {
        let condition = self.boolean(depth);
        let (some, none) = (self.value(ty, depth), self.value(ty, depth));
        let option = format!("maybe({condition}, {some})");
        self.names += 1;
        let name = format!("o{}", self.names);
        match self.random.random_range(0..4) {
            0 => format!("({option}).unwrap_or({none})"),
            1 => format!("(if let Some({name}) = {option} {{ {name} }} else {{ {none} }})"),
            2 => format!("(match {option} {{ None => {none}, Some({name}) => {name} }})"),
            _ => format!("{{ let Some({name}) = ({option}) else {{ return {} }}; {name} }}", {
                let result = self.result.clone();
                self.leaf(&result)
            }),
        }
    }

    /// A value of an enum, made of an integer.
    pub(super) fn phase(&mut self, depth: u32) -> String {
        let of = self.value(&Ty::Scalar("i32"), depth);
        let phase = format!("Phase::of({of})");
        if self.chance(3) { format!("{phase}.next()") } else { phase }
    }
}
