//! Rust bodies as CUDA C++.
//!
//! Statements nest inside expressions in Rust, but not in C++. So each Rust expression becomes a
//! C++ expression without side effects. The statements that it needs are written before it: a block
//! with a value becomes statements that assign the value to a variable. An operand further left
//! that these statements could change is first stored in a variable. So side effects keep the order
//! of Rust.
//!
//! Every C++ expression has exactly the type of its Rust original. C++ promotes some operands and
//! leaves some results undefined. There, a function of `templates/rust/integers.cuh` or
//! `floats.cuh` has Rust's semantics.

mod by_fields;
mod call;
mod control;
mod expression;
mod pattern;
mod statement;

use super::names::{Scope, identifier};
use super::types::Types;
use crate::language::primitive::is_primitive;
use crate::language::syntax::{Expression, Variable};
use crate::language::{Translation, Type};
use crate::{DeviceType, Error, Kind, Layout, Scalar};

/// C++ text, each piece with the line of its Rust original. Pieces of one source line share a line.
pub(super) type Lines = Vec<(u32, String)>;

/// The names of a function's parameters, and its body. The names of its callees are known.
pub(super) fn lower(
    translation: &Translation,
    callees: &[Option<Callee>],
    scope: &Around,
    types: &mut Types,
) -> Result<(Vec<String>, Lines), Error> {
    // A variable with the name of a type would hide the type. So types take their names first.
    for ty in &translation.types {
        types.name_of(ty);
    }
    let around = scope;
    let mut scope = types.scope.clone();
    let locals = translation.body.locals;
    let names: Vec<String> = locals.iter().map(|local| scope.claim(identifier(local.name))).collect();
    let parameters = names[..translation.body.parameters].to_vec();
    let mut lowering = Lowering {
        translation,
        locals,
        callees,
        around,
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

/// A function that is already defined.
pub(super) struct Callee {
    pub(super) name: String,
    pub(super) result: Type,
}

/// What a function finds around itself.
#[derive(Default)]
pub(super) struct Around {
    /// The type of `self`, if the function has a `self`.
    pub(super) state: Option<Layout>,
    /// The inner operators, as expressions, with their items.
    pub(super) inner: Vec<(String, Layout)>,
    /// The fields of `self` that are variables.
    pub(super) fields: Vec<(String, Layout)>,
}

struct Lowering<'a> {
    translation: &'a Translation,
    locals: &'static [Variable],
    callees: &'a [Option<Callee>],
    around: &'a Around,
    types: &'a mut Types,
    /// The C++ names of the locals. All differ, since shadowing in C++ differs from Rust.
    names: Vec<String>,
    scope: Scope,
    out: Lines,
    /// The source line of the current statement.
    line: u32,
    loops: Vec<Loop>,
}

/// A loop around the current statement.
struct Loop {
    label: Option<&'static str>,
    destination: Destination,
    /// The C++ labels that jumps use: `end` after the loop, `next` at the end of its body.
    end: Option<String>,
    next: Option<String>,
}

/// The destination of a value.
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
    /// The precedence of its outermost operator. A higher rank binds more tightly.
    rank: u8,
    /// Whether no later statement can change it.
    stable: bool,
}

/// The rank of an expression that needs no parentheses anywhere.
const ATOM: u8 = 16;

impl Value {
    fn atom(text: impl Into<String>, ty: Type, stable: bool) -> Self {
        Self { text: text.into(), ty, rank: ATOM, stable }
    }

    /// The text, in parentheses if its rank is below `rank`.
    fn within(&self, rank: u8) -> String {
        match self.rank < rank {
            true => format!("({})", self.text),
            false => self.text.clone(),
        }
    }

    /// Whether the text is a name, or a field of a name.
    fn is_place(&self) -> bool {
        self.rank == ATOM && self.text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.')
    }
}

impl Lowering<'_> {
    fn push(&mut self, text: impl Into<String>) {
        self.out.push((self.line, text.into()));
    }

    /// Returns the lines that `work` writes, and does not add them to the output.
    fn captured<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Error>) -> Result<(T, Lines), Error> {
        let before = std::mem::take(&mut self.out);
        let result = work(self);
        let written = std::mem::replace(&mut self.out, before);
        Ok((result?, written))
    }

    /// A new variable name that has no counterpart in Rust.
    fn temporary(&mut self, name: &str) -> String {
        self.scope.claim(name.to_owned())
    }

    /// A value that later code can use several times: its expression is evaluated only once.
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

    /// The values of several operands, evaluated from left to right.
    fn operands<'e>(
        &mut self,
        operands: impl IntoIterator<Item = &'e Expression>,
    ) -> Result<Vec<Value>, Error> {
        let mut values: Vec<Value> = Vec::new();
        for operand in operands {
            let (value, written) = self.captured(|this| this.value(operand))?;
            if !written.is_empty() {
                // The written lines run before the earlier operands are used.
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

/// The scalar of a number, of `bool` or of `Ordering`. A type of the user may be stored as a scalar
/// and have operators and methods of its own, so it is none of these.
fn scalar(ty: &Type) -> Option<Scalar> {
    match ty {
        Type::Value(layout) if is_primitive(layout.id) => stored_scalar(ty),
        _ => None,
    }
}

/// The scalar by which a value is stored, also of an enum.
fn stored_scalar(ty: &Type) -> Option<Scalar> {
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
