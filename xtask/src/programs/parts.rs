//! Structs and arrays in bodies: their construction, their parts, and patterns.

use rand::Rng;
use rand::seq::SliceRandom;

use super::generator::{Generator, STATE, Variable};
use super::types::{Struct, Ty, is_float};

impl Generator<'_> {
    /// A struct whose fields `write` supplies. Those that it does not supply are of `base`.
    pub(super) fn constructed(
        &mut self,
        of: &Struct,
        base: Option<String>,
        mut write: impl FnMut(&mut Self, &Ty) -> String,
    ) -> String {
        let path = match self.chance(4) && !of.arguments.is_empty() {
            true => format!("{}::{}", of.name, of.arguments),
            false => of.name.clone(),
        };
        // A call of a name in lower case is of a function.
        let is_call = of.is_tuple && of.name.starts_with(char::is_uppercase);
        if is_call && base.is_none() && self.chance(2) {
            let values: Vec<String> = of.fields.iter().map(|(_, ty)| write(self, ty)).collect();
            return format!("{path}({})", values.join(", "));
        }
        let mut fields: Vec<_> = of.fields.iter().collect();
        fields.shuffle(self.random);
        if base.is_some() {
            fields.truncate(self.random.random_range(0..fields.len()));
        }
        let values = fields.into_iter().map(|(name, ty)| format!("{name}: {}", write(self, ty)));
        let values: Vec<String> = values.chain(base.map(|base| format!("..{base}"))).collect();
        // Parentheses, since a `{` in a condition opens the block.
        format!("({path} {{ {} }})", values.join(", "))
    }

    /// Some parts of a place of type `ty` that are of type `wanted`.
    pub(super) fn places(&mut self, place: String, ty: &Ty, wanted: &Ty) -> Vec<String> {
        if ty == wanted {
            return vec![place];
        }
        if !ty.contains(wanted) {
            return Vec::new();
        }
        match ty {
            Ty::Scalar(_) => Vec::new(),
            Ty::Array(element, length) => {
                let index = match self.visible(|variable| matches!(variable.ty, Ty::Scalar(_))) {
                    Some(variable) if self.chance(2) => format!("{} as usize % {length}", variable.name),
                    _ => self.random.random_range(0..*length).to_string(),
                };
                self.places(format!("{place}[{index}]"), element, wanted)
            }
            Ty::Tuple(parts) => {
                let parts = parts.iter().enumerate();
                parts.flat_map(|(k, ty)| self.places(format!("{place}.{k}"), ty, wanted)).collect()
            }
            Ty::Struct(of) => {
                let field = |(name, ty): &(String, Ty)| self.places(field_of(&place, name), ty, wanted);
                of.fields.iter().flat_map(field).collect()
            }
        }
    }

    /// A random part of a place, with its type.
    pub(super) fn part(&mut self, place: &str, ty: &Ty) -> (String, Ty) {
        if self.chance(4) {
            return (place.to_owned(), ty.clone());
        }
        match ty {
            Ty::Scalar(_) => (place.to_owned(), ty.clone()),
            Ty::Array(element, length) => {
                let index = self.index(*length);
                self.part(&format!("{place}[{index}]"), element)
            }
            Ty::Tuple(parts) => {
                let k = self.random.random_range(0..parts.len());
                self.part(&format!("{place}.{k}"), &parts[k])
            }
            Ty::Struct(of) => {
                let (name, ty) = self.pick(&of.fields);
                self.part(&field_of(place, &name), &ty)
            }
        }
    }

    fn index(&mut self, length: usize) -> String {
        if self.chance(2) {
            return self.random.random_range(0..length).to_string();
        }
        let value = self.leaf(&Ty::Scalar("usize"));
        format!("({value}) % {length}")
    }

    /// A pattern of a type, which not all values match if it `may_fail`. Appends the variables that
    /// it binds.
    pub(super) fn pattern(&mut self, ty: &Ty, may_fail: bool, bound: &mut Vec<Variable>) -> String {
        match ty {
            _ if self.chance(5) => "_".to_owned(),
            Ty::Scalar(name) if may_fail && !is_float(name) && self.chance(2) => {
                let of_bool = ["true", "false", "_"];
                let of_integer = ["0..=9", "1 | 3", "(7..)"];
                self.pick(if *name == "bool" { &of_bool } else { &of_integer }).to_owned()
            }
            Ty::Array(element, length) if !self.chance(4) => {
                format!("[{}]", self.elements(&vec![&**element; *length], may_fail, bound))
            }
            Ty::Tuple(parts) if !self.chance(4) => {
                let types: Vec<&Ty> = parts.iter().collect();
                format!("({})", self.elements(&types, may_fail, bound))
            }
            Ty::Struct(of) if of.is_tuple && self.chance(2) => {
                let types: Vec<&Ty> = of.fields.iter().map(|(_, ty)| ty).collect();
                format!("{}({})", of.name, self.elements(&types, may_fail, bound))
            }
            Ty::Struct(of) if !self.chance(4) => {
                let mut fields: Vec<_> = of.fields.iter().collect();
                fields.shuffle(self.random);
                let count = self.random.random_range(0..=fields.len());
                let named = fields[..count].iter();
                let named = named.map(|(name, ty)| format!("{name}: {}", self.pattern(ty, may_fail, bound)));
                let mut parts: Vec<String> = named.collect();
                if count < fields.len() {
                    parts.push("..".to_owned());
                }
                format!("{} {{ {} }}", of.name, parts.join(", "))
            }
            _ => {
                self.names += 1;
                let (name, mutable) = (format!("v{}", self.names), !may_fail && self.chance(3));
                bound.push(Variable { name: name.clone(), ty: ty.clone(), mutable });
                if mutable { format!("mut {name}") } else { name }
            }
        }
    }

    /// The patterns of elements, of which `..` may leave some out.
    fn elements(&mut self, types: &[&Ty], may_fail: bool, bound: &mut Vec<Variable>) -> String {
        let from = self.random.random_range(0..=types.len());
        let to = self.random.random_range(from..=types.len());
        let mut parts: Vec<String> = Vec::new();
        for ty in &types[..from] {
            parts.push(self.pattern(ty, may_fail, bound));
        }
        if from < to || self.chance(4) {
            parts.push("..".to_owned());
        }
        for ty in &types[to..] {
            parts.push(self.pattern(ty, may_fail, bound));
        }
        parts.join(", ")
    }
}

/// A field of a place.
fn field_of(place: &str, name: &str) -> String {
    let place = if place == STATE { "self" } else { place };
    format!("{place}.{name}")
}
