//! Functions, and the bodies that they have: of CUDA C++, or of Rust.

use std::any::TypeId;
use std::fmt;

use super::device_code::DeviceCode;
use super::syntax;
use crate::types::{DeviceType, Layout, Literal};

/// The type of a value inside a body.
#[derive(Clone, Debug)]
pub enum Type {
    /// A device type.
    Value(Layout),
    /// A tuple, which has no layout that anybody else knows.
    Tuple(Vec<Type>),
}

/// A body with all that its numbers stand for.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The source file of the body.
    pub file: &'static str,
    /// The tree.
    pub body: &'static syntax::Body,
    /// The types of the slots.
    pub types: Vec<Type>,
    /// The values of paths such as `f32::INFINITY`, `LIMIT` and `N`, and of calls without arguments such as
    /// `T::zero()`.
    pub constants: Vec<(Type, Literal)>,
    /// The `#[device]` functions that are called.
    pub callees: Vec<Callee>,
}

impl Translation {
    /// The first line of the body, from 1.
    pub fn line(&self) -> u32 {
        let block = &self.body.block;
        block
            .statements
            .first()
            .map(|statement| statement.line)
            .or(block.value.map(|(line, _)| line))
            .unwrap_or(1)
    }
}

/// A `#[device]` function, with its generic arguments.
#[derive(Clone, Copy)]
pub struct Callee {
    /// The same for the same function with the same arguments.
    pub id: TypeId,
    /// Its translation: not made here, since a function may call itself.
    pub function: fn() -> DeviceFunction,
}

impl fmt::Debug for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callee").field(&self.id).finish()
    }
}

/// What a function does.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// Written by hand.
    Code(DeviceCode),
    /// Rust, as data.
    Translation(Translation),
}

/// A helper function that an operator's body calls.
#[derive(Clone, Debug)]
pub struct DeviceFunction {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<(&'static str, Type)>,
    pub(crate) result: Type,
    pub(crate) body: Body,
}

impl DeviceFunction {
    /// A function `name` that returns an `R`.
    pub fn new<R: DeviceType>(name: &'static str, body: DeviceCode) -> Self {
        Self { name, parameters: Vec::new(), result: Type::Value(R::layout()), body: Body::Code(body) }
    }

    /// What `#[device]` makes of a Rust function.
    #[doc(hidden)]
    pub fn translated(name: &'static str, result: Type, translation: Translation) -> Self {
        let parameters = &translation.body.locals[..translation.body.parameters];
        let typed = |parameter: &syntax::Variable| (parameter.name, translation.types[parameter.ty].clone());
        let parameters = parameters.iter().map(typed).collect();
        Self { name, parameters, result, body: Body::Translation(translation) }
    }

    /// Adds the next parameter.
    pub fn parameter<T: DeviceType>(mut self, name: &'static str) -> Self {
        self.parameters.push((name, Type::Value(T::layout())));
        self
    }
}
