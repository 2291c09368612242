//! Rust bodies as CUDA C++.
//!
//! Rust's statements nest inside expressions, and C++'s do not. So an expression is lowered to a C++ expression without
//! side effects, and what must be done for it is written out before it: a block that has a value becomes statements that
//! assign it to a variable. Whatever was to its left and could be changed by that is kept in a variable first, so that
//! everything happens in the order in which Rust does it.
//!
//! Every C++ expression is exactly of the type of its Rust original. Where C++ would promote, or leave a result open, a
//! function of `templates/rust/integers.cuh` or `floats.cuh` says what Rust means.

mod call;
mod control;
mod expression;
mod pattern;
mod statement;

use super::names::{Scope, identifier};
use super::types::Types;
use crate::language::syntax::{Expression, Variable};
use crate::language::{Translation, Type};
use crate::{DeviceType, Error, Kind, Layout, Scalar};

/// C++ text, each piece with the line of its Rust original; pieces of one line stand on one line.
pub(super) type Lines = Vec<(u32, String)>;

/// The names of a function's parameters, and its body, where the names of its callees are known.
pub(super) fn lower(
    translation: &Translation,
    callees: &[Callee],
    state: Option<&Layout>,
    types: &mut Types,
) -> Result<(Vec<String>, Lines), Error> {
    // A name that is a type's would hide it: types are named first.
    for ty in &translation.types {
        types.name_of(ty);
    }
    let mut scope = types.scope.clone();
    let locals = translation.body.locals;
    let names: Vec<String> = locals.iter().map(|local| scope.claim(identifier(local.name))).collect();
    let parameters = names[..translation.body.parameters].to_vec();
    let mut lowering = Lowering {
        translation,
        locals,
        callees,
        state,
        types,
        names,
        scope,
        out: Vec::new(),
        line: 0,
        loops: Vec::new(),
    };
    lowering.block(&translation.body.block, &Destination::Return)?;
    Ok((parameters, lowering.out))
}

/// A function that is defined already.
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) result: Type,
}

struct Lowering<'a> {
    translation: &'a Translation,
    locals: &'static [Variable],
    callees: &'a [Callee],
    state: Option<&'a Layout>,
    types: &'a mut Types,
    /// The C++ names of the locals: all different, since C++ shadows otherwise than Rust.
    names: Vec<String>,
    scope: Scope,
    out: Lines,
    /// Of what is lowered now.
    line: u32,
    loops: Vec<Loop>,
}

/// A loop around what is lowered now.
struct Loop {
    label: Option<&'static str>,
    destination: Destination,
    /// The C++ labels that were jumped to, behind it and at the end of its body.
    end: Option<String>,
    next: Option<String>,
}

/// Where a value goes.
#[derive(Clone, PartialEq, Eq)]
enum Destination {
    Return,
    Variable(String),
    Nowhere,
}

/// A C++ expression.
#[derive(Clone)]
struct Value {
    text: String,
    ty: Type,
    /// How tightly its outermost operator binds.
    rank: u8,
    /// Whether nothing that is done later can change it.
    stable: bool,
}

/// What needs no parentheses anywhere.
const ATOM: u8 = 16;

impl Value {
    fn atom(text: impl Into<String>, ty: Type, stable: bool) -> Self {
        Self { text: text.into(), ty, rank: ATOM, stable }
    }

    /// The text, in parentheses if it binds less tightly than `rank`.
    fn within(&self, rank: u8) -> String {
        match self.rank < rank {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    /// Its own text if that is a name, or a field of one.
    fn is_place(&self) -> bool {
        self.rank == ATOM && self.text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    }
}

impl Lowering<'_> {
    fn push(&mut self, text: impl Into<String>) {
        self.out.push((self.line, text.into()));
    }

    /// What `work` writes, instead of writing it.
    fn captured<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<(T, Lines), Error> {
        let before = std::mem::take(&mut self.out);
        let result = work(self);
        let written = std::mem::replace(&mut self.out, before);
        Ok((result?, written))
    }

    /// A variable of the body that Rust has not.
    fn temporary(&mut self, name: &str) -> String {
        self.scope.claim(name.to_owned())
    }

    /// A value that can be named any number of times.
    fn named(&mut self, value: Value) -> Value {
        if value.is_place() {
            return value;
        }
        let (ty, name) = (self.types.name_of(&value.ty), self.temporary("value"));
        self.push(format!("const {ty} {name} = {};", value.text));
        Value::atom(name, value.ty, true)
    }

    fn type_of(&self, slot: usize) -> Type {
        self.translation.types[slot].clone()
    }

    fn refuse<T>(&self, reason: impl Into<String>) -> Result<T, Error> {
        Err(Error::Untranslatable { file: self.translation.file, line: self.line, reason: reason.into() })
    }

    /// Several operands, from left to right.
    fn operands<'e>(
        &mut self,
        operands: impl IntoIterator<Item = &'e Expression>,
    ) -> Result<Vec<Value>, Error> {
        let mut values: Vec<Value> = Vec::new();
        for operand in operands {
            let (value, written) = self.captured(|this| this.value(operand))?;
            if !written.is_empty() {
                // What comes later is done before what is to its left is used.
                for earlier in values.iter_mut().filter(|earlier| !earlier.stable) {
                    let (ty, name) =
                        (self.types.name_of(&earlier.ty), self.scope.claim("operand".to_owned()));
                    self.out.push((self.line, format!("const {ty} {name} = {};", earlier.text)));
                    *earlier = Value::atom(name, earlier.ty.clone(), true);
                }
                self.out.extend(written);
            }
            values.push(value);
        }
        Ok(values)
    }
}

fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Value(Layout { kind: Kind::Scalar(scalar), .. }) => Some(*scalar),
        _ => None,
    }
}

fn boolean() -> Type {
    Type::Value(bool::layout())
}

fn aggregate(name: &str, values: &[Value], ty: Type) -> Value {
    let texts: Vec<&str> = values.iter().map(|value| value.text.as_str()).collect();
    Value::atom(format!("{name}{{{}}}", texts.join(", ")), ty, values.iter().all(|value| value.stable))
}

fn u32_type() -> Type {
    Type::Value(u32::layout())
}
