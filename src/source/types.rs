//! Device types as CUDA C++ types. Each is defined once, and the source asserts its layout in Rust.

use std::any::TypeId;
use std::collections::HashMap;

use super::names::{Scope, identifier, scalar_name, type_identifier};
use super::number;
use crate::language::Type;
use crate::{Field, Kind, Layout, Literal};

/// The type definitions of one program.
#[derive(Default)]
pub(super) struct Types {
    /// The definitions so far, each after the definitions that it needs.
    pub(super) definitions: String,
    /// The taken names, which no other name of the program may use.
    pub(super) scope: Scope,
    names: HashMap<TypeId, String>,
    /// The names of the tuple types, by the type names of their elements.
    tuples: HashMap<Vec<String>, String>,
    /// Whether the program has arithmetic of 16-bit floats.
    pub(super) rounds: bool,
    /// The names that the author of an operator chose.
    chosen: HashMap<TypeId, String>,
}

impl Types {
    /// Reserves a name of the author for a type, before any type is defined. If the type is a
    /// struct, the struct is defined under that name.
    pub(super) fn choose(&mut self, layout: &Layout, name: &str) {
        let name = self.scope.claim(identifier(name));
        if matches!(layout.kind, Kind::Struct { .. }) {
            self.chosen.entry(layout.id).or_insert(name);
        }
    }

    /// The C++ name of a type. The first call defines the type.
    pub(super) fn name(&mut self, layout: &Layout) -> String {
        if let Some(name) = self.names.get(&layout.id) {
            return name.clone();
        }
        let name = match &layout.kind {
            Kind::Scalar(scalar) => scalar_name(*scalar).to_owned(),
            Kind::Array { element, length } => format!("Array<{}, {length}>", self.name(element)),
            Kind::Struct { fields } => self.define(layout, fields),
            Kind::Tuple { fields } => self.define_tuple(layout, fields),
        };
        let Layout { name: rust, size, align, .. } = layout;
        self.assert(&format!("sizeof({name}) == {size}"), &format!("{rust} has {size} bytes"));
        self.assert(&format!("alignof({name}) == {align}"), &format!("{rust} is aligned to {align} bytes"));
        self.names.insert(layout.id, name.clone());
        name
    }

    fn define(&mut self, layout: &Layout, fields: &[Field]) -> String {
        let members = field_names(fields);
        let types: Vec<String> =
            fields.iter().map(|field| self.member_type(&field.layout, &members)).collect();
        let name = match self.chosen.get(&layout.id) {
            Some(name) => name.clone(),
            None => self.scope.claim(type_identifier(layout.name)),
        };
        self.definitions
            .push_str(&format!("\n// {}\nstruct alignas({}) {name} {{\n", layout.name, layout.align));
        for (ty, member) in types.iter().zip(&members) {
            self.definitions.push_str(&format!("    {ty} {member};\n"));
        }
        self.definitions.push_str("};\n");
        self.assert_offsets(layout, &name, fields, &members);
        name
    }

    /// Defines a tuple as memory holds it: rustc chose the order of the parts. Variables hold another struct
    /// ([`name_of`](Self::name_of)), and each converts to the other.
    fn define_tuple(&mut self, layout: &Layout, fields: &[Field]) -> String {
        let types: Vec<String> = fields.iter().map(|field| self.name(&field.layout)).collect();
        let members: Vec<String> = fields.iter().map(|field| format!("_{}", field.name)).collect();
        let name = self.scope.claim("TupleInMemory".to_owned());
        let mut text = format!("\n// {}\nstruct alignas({}) {name} {{\n", layout.name, layout.align);
        let mut order: Vec<usize> = (0..fields.len()).collect();
        order.sort_by_key(|&k| fields[k].offset);
        let mut end = 0;
        for &k in &order {
            let Field { offset, layout, .. } = &fields[k];
            if *offset > end {
                text.push_str(&format!("    unsigned char padding{k}[{}];\n", offset - end));
            }
            text.push_str(&format!("    {} {};\n", types[k], members[k]));
            end = offset + layout.size;
        }
        let parameters: Vec<String> =
            types.iter().zip(&members).map(|(ty, member)| format!("const {ty}& {member}")).collect();
        let set: Vec<String> = order.iter().map(|&k| format!("{0}({0})", members[k])).collect();
        text.push_str(&format!(
            "    {name}() = default;\n    WARPFOLD_DEVICE {name}({}) : {} {{}}\n",
            parameters.join(", "),
            set.join(", ")
        ));
        text.push_str(&conversion(&members));
        self.definitions.push_str(&text);
        self.assert_offsets(layout, &name, fields, &members);
        name
    }

    fn assert_offsets(&mut self, layout: &Layout, name: &str, fields: &[Field], members: &[String]) {
        for (field, member) in fields.iter().zip(members) {
            let (rust, field, offset) = (layout.name, field.name, field.offset);
            self.assert(
                &format!("WARPFOLD_OFFSET({name}, {member}) == {offset}"),
                &format!("{rust} has the field {field} at byte {offset}"),
            );
        }
    }

    /// The type of a member of a struct. A member hides a type of the same name from later members,
    /// so that type is named with its namespace.
    fn member_type(&mut self, layout: &Layout, members: &[String]) -> String {
        let name = self.name(layout);
        match &layout.kind {
            Kind::Struct { .. } if members.contains(&name) => format!("program::{name}"),
            Kind::Array { element, length } => {
                format!("Array<{}, {length}>", self.member_type(element, members))
            }
            _ => name,
        }
    }

    fn assert(&mut self, condition: &str, expected: &str) {
        // The name of a type may contain a character literal.
        let expected = expected.replace(['"', '\\'], "'");
        self.definitions
            .push_str(&format!("static_assert({condition}, \"{LAYOUT_ASSERTION}{expected}\");\n"));
    }

    /// The C++ name of a variable's type.
    pub(super) fn name_of(&mut self, ty: &Type) -> String {
        let parts = match ty {
            Type::Value(layout) => return self.name(layout),
            Type::Tuple(parts) => parts,
        };
        let parts: Vec<String> = parts.iter().map(|part| self.name_of(part)).collect();
        if let Some(name) = self.tuples.get(&parts) {
            return name.clone();
        }
        let name = self.scope.claim("Tuple".to_owned());
        self.definitions.push_str(&format!("\nstruct {name} {{\n"));
        for (position, part) in parts.iter().enumerate() {
            self.definitions.push_str(&format!("    {part} _{position};\n"));
        }
        let members: Vec<String> = (0..parts.len()).map(|position| format!("_{position}")).collect();
        self.definitions.push_str(&conversion(&members));
        self.tuples.insert(parts, name.clone());
        name
    }

    /// A value of a variable's type, as C++.
    pub(super) fn constant(&mut self, ty: &Type, literal: &Literal) -> String {
        match (ty, literal) {
            (Type::Value(layout), literal) => self.literal(layout, literal),
            (Type::Tuple(parts), Literal::Sequence(values)) => {
                let name = self.name_of(ty);
                let values: Vec<String> =
                    parts.iter().zip(values).map(|(part, value)| self.constant(part, value)).collect();
                format!("{name}{{{}}}", values.join(", "))
            }
            (_, literal) => format!("/* {literal:?} is no literal of a tuple */"),
        }
    }

    /// A value as C++, bit for bit.
    pub(super) fn literal(&mut self, layout: &Layout, literal: &Literal) -> String {
        let name = self.name(layout);
        match (&layout.kind, literal) {
            (Kind::Scalar(scalar), Literal::Scalar(bits)) => number::of_bits(*scalar, *bits),
            (Kind::Array { element, .. }, Literal::Sequence(values)) => {
                let values: Vec<String> = values.iter().map(|value| self.literal(element, value)).collect();
                format!("{name}{{{{{}}}}}", values.join(", "))
            }
            (Kind::Struct { fields } | Kind::Tuple { fields }, Literal::Sequence(values)) => {
                let values: Vec<String> = fields
                    .iter()
                    .zip(values)
                    .map(|(field, value)| self.literal(&field.layout, value))
                    .collect();
                format!("{name}{{{}}}", values.join(", "))
            }
            // The literal of a hand-written `DeviceType` does not match its layout. The comment
            // makes the compiler report the place.
            (_, literal) => format!("/* {literal:?} is no literal of {name} */"),
        }
    }
}

/// The end of a struct of a tuple: its conversion to other structs of the same parts. A result in device memory
/// is such a struct, and so is the value of an option.
fn conversion(members: &[String]) -> String {
    format!(
        "    template <class Stored> WARPFOLD_DEVICE operator Stored() const {{ return Stored{{{}}}; }}\n}};\n",
        members.join(", ")
    )
}

/// The start of the message of a failed layout assertion. `cuda::jit` looks for it in the
/// compiler's log.
pub(crate) const LAYOUT_ASSERTION: &str = "layout: in Rust ";

/// The C++ names of the fields. A struct is a scope of its own.
pub(super) fn field_names(fields: &[Field]) -> Vec<String> {
    let mut scope = Scope::default();
    fields.iter().map(|field| scope.claim(identifier(field.name))).collect()
}
