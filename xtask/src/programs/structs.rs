//! Declarations of random structs that derive `DeviceType`.

use std::fmt::Write;
use std::rc::Rc;

use rand::Rng;
use rand::seq::SliceRandom;

use super::generator::Generator;
use super::types::{Struct, Ty};

/// Names of structs and fields. C++, the templates or the macros use some of them, and some are
/// alike in C++.
const NAMES: [&str; 44] = [
    "S",
    "Point",
    "a",
    "b",
    "int",
    "new",
    "new_",
    "class",
    "this",
    "template",
    "operator",
    "float",
    "float4",
    "struct_",
    "linux",
    "NULL",
    "Item",
    "Operator",
    "Array",
    "Tuple",
    "Half",
    "Arguments",
    "Layout",
    "Literal",
    "Kind",
    "Field",
    "DeviceRepr",
    "Vec",
    "Option",
    "String",
    "core",
    "std",
    "warpfold",
    "program",
    "rust",
    "a__b",
    "a_u_b",
    "_A",
    "result",
    "translation",
    "uA",
    "_a",
    "ß",
    "u00df",
];
/// Names of fields only.
const FIELD_NAMES: [&str; 12] =
    ["r#type", "r#match", "r#struct", "r#if", "r#fn", "u32", "bool", "f64", "combine", "_0", "x", "SEVEN"];
/// Most bytes of a struct, so that an array of two is an item.
const MOST: usize = 128;

/// A declaration. It may have a type parameter `A` and a parameter `N`, the length of arrays.
struct Declaration {
    name: String,
    fields: Vec<(String, Part)>,
    is_tuple: bool,
    repr: String,
    align: usize,
}

/// The type of a declared field.
struct Part {
    /// `None` is the parameter `A`.
    element: Option<Ty>,
    /// Whether the field is an array of `N` elements.
    is_array: bool,
}

impl Part {
    fn at(&self, argument: &Ty, length: usize) -> Ty {
        let element = self.element.as_ref().unwrap_or(argument).clone();
        if self.is_array { Ty::Array(Box::new(element), length) } else { element }
    }
}

impl Declaration {
    fn has_type(&self) -> bool {
        self.fields.iter().any(|(_, part)| part.element.is_none())
    }

    fn has_length(&self) -> bool {
        self.fields.iter().any(|(_, part)| part.is_array)
    }

    /// The parameters or arguments that the declaration has, in angle brackets.
    fn generics(&self, ty: &str, length: &str) -> String {
        match (self.has_type(), self.has_length()) {
            (false, false) => String::new(),
            (true, false) => format!("<{ty}>"),
            (false, true) => format!("<{length}>"),
            (true, true) => format!("<{ty}, {length}>"),
        }
    }

    /// The struct of these arguments.
    fn at(&self, argument: &Ty, length: usize, constant: String) -> Struct {
        let field = |(name, part): &(String, Part)| (name.clone(), part.at(argument, length));
        Struct {
            name: self.name.clone(),
            arguments: self.generics(&argument.name(), &length.to_string()),
            fields: self.fields.iter().map(field).collect(),
            is_tuple: self.is_tuple,
            align: self.align,
            constant,
        }
    }

    /// The `impl Edge`.
    fn edge(&self) -> String {
        let parts = 0..self.fields.len();
        let parts: Vec<String> = parts.map(|part| format!("f{part}")).collect();
        let fields = self.fields.iter().zip(&parts).map(|((name, _), part)| format!("{name}: {part}"));
        format!(
            "impl{} Edge for {}{} {{
    fn strategy() -> BoxedStrategy<Self> {{
        ({}).prop_map(|({},)| Self {{ {} }}).boxed()
    }}
}}\n",
            self.generics("A: Edge", "const N: usize"),
            self.name,
            self.generics("A", "N"),
            "Edge::strategy(), ".repeat(parts.len()),
            parts.join(", "),
            fields.collect::<Vec<_>>().join(", ")
        )
    }
}

impl Generator<'_> {
    /// Declares one to three structs, each of which may use those before it.
    pub(super) fn structs(&mut self) -> String {
        let mut names = NAMES;
        names.shuffle(self.random);
        let count = self.random.random_range(1..4);
        names[..count].iter().map(|name| self.structure(name, true)).collect()
    }

    /// Declares a struct, and constants of it. From now on types may use it.
    pub(super) fn structure(&mut self, name: &str, may_be_generic: bool) -> String {
        let (declaration, instances) = loop {
            let is_generic = may_be_generic && self.chance(3);
            let declaration = self.declaration(name, is_generic);
            let instances = self.instances(&declaration);
            if instances.iter().all(|of| Ty::Struct(of.clone()).size() <= MOST) {
                break (declaration, instances);
            }
        };
        let mut text = self.declared(&declaration) + &declaration.edge();
        for of in instances {
            let value = self.constructed(&of, None, Self::leaf);
            let _ = writeln!(text, "const {}: {} = {value};", of.constant, Ty::Struct(of.clone()).name());
            self.structs.push(of.clone());
            text.push_str(&self.methods_of(&of));
        }
        text
    }

    fn declaration(&mut self, name: &str, is_generic: bool) -> Declaration {
        let (is_tuple, mut names) = (self.chance(3), [&NAMES[..], &FIELD_NAMES].concat());
        names.shuffle(self.random);
        let count = if self.chance(4) { 1 } else { self.random.random_range(2..6) };
        let field = |number: usize| {
            let name = if is_tuple { number.to_string() } else { names[number].to_owned() };
            let element = if is_generic && self.chance(2) { None } else { Some(self.ty()) };
            (name, Part { element, is_array: is_generic && self.chance(2) })
        };
        let fields = (0..count).map(field).collect();
        let align = if self.chance(4) { self.pick(&[2, 4, 8, 16, 32, 64]) } else { 1 };
        let repr = match align {
            1 if count == 1 && self.chance(2) => "#[repr(transparent)]".to_owned(),
            1 => "#[repr(C)]".to_owned(),
            _ if self.chance(2) => format!("#[repr(align({align}))]\n#[repr(C)]"),
            _ => format!("#[repr(C, align({align}))]"),
        };
        Declaration { name: name.to_owned(), fields, is_tuple, repr, align }
    }

    /// The struct that is declared, or two instances of it.
    fn instances(&mut self, of: &Declaration) -> Vec<Rc<Struct>> {
        let count = if of.has_type() || of.has_length() { 2 } else { 1 };
        let instance = |number: usize| {
            let (argument, length) = (self.ty(), self.random.random_range(1..4));
            // The macros use the name `BODY`, too.
            let constant = match self.structs.len() + number {
                0 => "BODY".to_owned(),
                number => format!("K{number}"),
            };
            Rc::new(of.at(&argument, length, constant))
        };
        (0..count).map(instance).collect()
    }

    /// The text of a declaration.
    fn declared(&mut self, of: &Declaration) -> String {
        let types: Vec<String> = of.fields.iter().map(|(_, part)| self.field_type(part)).collect();
        let (types, macro_head, macro_call) = self.disguised_types(types);
        let mut fields = String::new();
        for ((name, _), ty) in of.fields.iter().zip(&types) {
            let name = if of.is_tuple { String::new() } else { format!("{name}: ") };
            let visibility = self.pick(&["", "pub ", "pub(super) "]);
            let before = self.absent_field(of.is_tuple);
            let _ = writeln!(fields, "    {before}{visibility}{name}{ty},");
        }
        let bound = if of.has_type() && self.chance(2) { " where A: DeviceType" } else { "" };
        let parameter = if bound.is_empty() { "A: DeviceType" } else { "A" };
        let body = match of.is_tuple {
            true => format!("(\n{fields}){bound};"),
            false => format!("{bound} {{\n{fields}}}"),
        };
        format!(
            "{macro_head}#[device]\n#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]\n{}\npub struct {}{}{body}\n{macro_call}",
            of.repr,
            of.name,
            of.generics(parameter, "const N: usize")
        )
    }

    fn field_type(&mut self, part: &Part) -> String {
        let element = match &part.element {
            None => "A".to_owned(),
            Some(Ty::Scalar(name)) => self.alias(name),
            Some(element) => element.name(),
        };
        if part.is_array { format!("[{element}; N]") } else { element }
    }
}
