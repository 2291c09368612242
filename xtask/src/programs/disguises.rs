//! The disguises, one for each part of a program.

use std::fmt::Write;

use rand::Rng;

use super::disguise::Disguise;
use super::generator::{Generator, STATE};
use super::types::{INTEGERS, Ty};

/// Attributes that compile a part out.
const ABSENT: [&str; 3] = ["#[cfg(any())]", "#[cfg(not(all()))]", "#[cfg_attr(all(), cfg(any()))]"];
/// Attributes that keep a part.
const PRESENT: [&str; 3] = ["#[cfg(all())]", "#[allow(unused)]", "#[cfg(not(any()))]"];

/// A user trait whose methods have the names of known methods.
const TRAITS: &str = "
trait Own: Copy {
    fn is_zero(&self) -> bool { true }
    fn is_one(&self) -> bool { true }
    fn swap_bytes(self) -> Self { self }
    fn count_ones(self) -> u32 { 5 }
    fn sqrt(self) -> Self { self }
    fn abs(self) -> Self { self }
    fn len(&self) -> usize { 77 }
}
impl<T: Copy> Own for T {}
";

impl Generator<'_> {
    /// Whether to disguise a part: with a chance of one in `of`, if the program has this kind of
    /// disguise.
    fn disguises(&mut self, kind: fn(&Disguise) -> bool, of: u32) -> bool {
        self.disguise.as_ref().is_some_and(kind) && self.chance(of)
    }

    pub(super) fn disguised_traits(&self) -> String {
        match self.disguise {
            Some(Disguise { traits: true, .. }) => TRAITS.to_owned(),
            _ => String::new(),
        }
    }

    /// A method that only the user trait supplies.
    pub(super) fn owned_method(&mut self) -> Option<&'static str> {
        self.disguises(|disguise| disguise.traits, 2).then(|| self.pick(&["is_zero", "is_one"]))
    }

    /// Sometimes writes a statement that is compiled out, or an attribute of the next statement.
    pub(super) fn disguise_statement(&mut self, text: &mut String) {
        if self.disguises(|disguise| disguise.attributes, 6) {
            let (absent, result) = (self.pick(&ABSENT), self.result.clone());
            let statement = match self.random.random_range(0..4) {
                0 => format!("return {};", self.leaf(&result)),
                1 => match self.visible(|variable| variable.mutable) {
                    Some(variable) => format!("{{ {} = {}; }}", variable.name, self.leaf(&variable.ty)),
                    None => "let whole = 1;".to_owned(),
                },
                2 => match self.visible(|variable| variable.name != STATE) {
                    Some(variable) => format!("let {} = 0u8;", variable.name),
                    None => "let whole = 1;".to_owned(),
                },
                _ => "{ loop {} }".to_owned(),
            };
            let _ = writeln!(text, "        {absent} {statement}");
        }
    }

    /// A text before the elements of an array or before arguments: an element that is compiled out,
    /// an attribute of the first one, or nothing.
    pub(super) fn absent_element(&mut self, value: &str) -> String {
        match self.disguises(|disguise| disguise.attributes, 8) {
            true if self.chance(2) => format!("{} ", self.pick(&PRESENT)),
            true => format!("{} {value}, ", self.pick(&ABSENT)),
            false => String::new(),
        }
    }

    /// A text before the arms of a `match`: an arm that is compiled out, or nothing.
    pub(super) fn absent_arm(&mut self, value: &str) -> String {
        match self.disguises(|disguise| disguise.attributes, 8) {
            true => format!("{} 0..=200 => {value}, ", self.pick(&ABSENT)),
            false => String::new(),
        }
    }

    /// A text before a field of a struct: a field that is compiled out, an attribute of the field,
    /// or nothing.
    pub(super) fn absent_field(&mut self, is_tuple: bool) -> String {
        match self.disguises(|disguise| disguise.attributes, 4) {
            true if self.chance(2) => format!("{} ", self.pick(&PRESENT)),
            true => {
                format!("{} {}Absent, ", self.pick(&ABSENT), if is_tuple { "" } else { "absent: " })
            }
            false => String::new(),
        }
    }

    /// The types of the fields of a struct, sometimes as arguments of a macro that declares the
    /// struct. Also returns the text before and after the declaration.
    pub(super) fn disguised_types(&mut self, types: Vec<String>) -> (Vec<String>, String, String) {
        if !self.disguises(|disguise| disguise.macros, 2) {
            return (types, String::new(), String::new());
        }
        let names: Vec<String> = (0..types.len()).map(|number| format!("$t{number}")).collect();
        let parameters: Vec<String> = names.iter().map(|name| format!("{name}:ty")).collect();
        let head = format!("macro_rules! declare {{ ({}) => {{\n", parameters.join(", "));
        (names, head, format!("}} }}\ndeclare!({});\n", types.join(", ")))
    }

    /// The type of a number, sometimes by its alias.
    pub(super) fn alias(&mut self, name: &str) -> String {
        match self.disguises(|disguise| disguise.aliases, 2) {
            true => format!("A{name}"),
            false => name.to_owned(),
        }
    }

    /// A helper function, sometimes in a module that re-exports it.
    pub(super) fn disguised_helper(&mut self, helper: String) -> String {
        if !self.disguises(|disguise| disguise.modules, 1) {
            return helper;
        }
        let exported = match self.chance(2) {
            true => format!("pub use inner::h{};", self.number),
            false => "pub use self::inner::*;".to_owned(),
        };
        format!("mod inner {{\nuse super::*;\n{helper}}}\n{exported}\n")
    }

    /// The operator of the program.
    pub(super) fn operator(&mut self, item: &Ty) -> String {
        if self.disguises(|disguise| disguise.macros, 1) {
            return self.operator_of_a_macro(item);
        }
        let body = self.body(&[item.clone(), item.clone()], "x", item, 30);
        let combine = |attribute: &str, name: &str, body: &str| {
            format!(
                "    {attribute}\n    fn combine(&self, x0: {name}, x1: {name}) -> {name} {{\n{body}    }}\n"
            )
        };
        let name = item.name();
        let mut functions = String::new();
        if self.disguises(|disguise| disguise.attributes, 4) {
            functions += &combine(self.pick(&ABSENT), &name, "        x1\n");
            functions += &combine(self.pick(&PRESENT), &name, &body);
        } else {
            functions += &combine("", &name, &body);
        }
        self.implementation(&name, &functions)
    }

    fn implementation(&self, item: &str, functions: &str) -> String {
        format!(
            "#[monoid]\nimpl Monoid for P{} {{\n    type Item = {item};\n    fn identity(&self) -> {item} {{ Edge::example() }}\n{functions}}}\n",
            self.number
        )
    }

    /// An operator that a macro writes. Its body declares variables with the names of the macro's
    /// arguments.
    fn operator_of_a_macro(&mut self, item: &Ty) -> String {
        let parameters = [item.clone(), item.clone()];
        // The argument stands at the macro's call, where only the parameters are in scope.
        let state = self.state.take();
        let argument = self.body(&parameters, "x", item, 8);
        self.state = state;
        let body = self.body(&parameters, "$x", item, 20);
        let other = self.body(&parameters, "$x", item, 4);
        let name = item.name();
        let integer = self.pick(&INTEGERS);
        let functions = format!(
            "    fn combine(&self, $x0: {name}, $x1: {name}) -> {name} {{\n        let x1 = {{\n{body}        }};\n        \
             let x0 = {{\n{other}        }};\n        let v1 = 3{integer};\n        if {} {{ $argument }} else {{ x1 }}\n    }}\n",
            self.random.random_range(0..4) < 3
        );
        let implementation = self.implementation(&name, &functions);
        format!(
            "macro_rules! make {{ ($x0:ident, $x1:ident, $argument:expr) => {{\n{implementation}}} }}\nmake!(x0, x1, {{\n{argument}        }});\n"
        )
    }
}
