//! Device functions. A body is CUDA C++ or translated Rust.

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
    /// A tuple. Its layout is private to the generated code.
    Tuple(Vec<Type>),
}

/// A translated body, with the types, constants and callees that its numbers refer to.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The source file of the body.
    pub file: &'static str,
    /// The tree.
    pub body: &'static syntax::Body,
    /// The types of the slots, by number.
    pub types: Vec<Type>,
    /// The values of paths such as `f32::INFINITY`, `LIMIT` and `N`, and of calls without arguments
    /// such as `T::zero()`.
    pub constants: Vec<(Type, Literal)>,
    /// What the calls, methods and operators of the body mean. None is an operation of numbers.
    pub callees: Vec<Option<Callee>>,
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
    /// Identifies the function with its generic arguments.
    pub id: TypeId,
    /// Makes the translation. It is made on demand, since a function may call itself.
    pub function: fn() -> DeviceFunction,
}

impl fmt::Debug for Callee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Callee").field(&self.id).finish()
    }
}

/// The body of a function.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// CUDA C++ that is written by hand.
    Code(DeviceCode),
    /// Rust, as data.
    Translation(Translation),
}

/// A function that an operator's body calls.
///
/// ```
/// use warpfold::{DeviceFunction, device_code};
///
/// // SAFETY: the body terminates, uses only its parameters and returns a valid `f32`.
/// let body = unsafe { device_code!("return sqrtf(v[0] * v[0] + v[1] * v[1]);") };
/// let norm = DeviceFunction::new::<f32>("norm", body).parameter::<[f32; 2]>("v");
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DeviceFunction {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<(&'static str, Type)>,
    pub(crate) result: Type,
    pub(crate) body: Body,
}

impl DeviceFunction {
    /// Creates a function `name` without parameters that returns an `R`.
    ///
    /// ```
    /// use warpfold::{DeviceFunction, device_code};
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `f32`.
    /// let body = unsafe { device_code!("return x > 0 ? x : 0;") };
    /// let positive_part = DeviceFunction::new::<f32>("positive_part", body).parameter::<f32>("x");
    /// ```
    pub fn new<R: DeviceType>(name: &'static str, body: DeviceCode) -> Self {
        Self { name, parameters: Vec::new(), result: Type::Value(R::layout()), body: Body::Code(body) }
    }

    /// The function that `#[device]` makes of a Rust function.
    #[doc(hidden)]
    pub fn translated(name: &'static str, result: Type, translation: Translation) -> Self {
        let parameters = &translation.body.locals[..translation.body.parameters];
        let typed = |parameter: &syntax::Variable| (parameter.name, translation.types[parameter.ty].clone());
        let parameters = parameters.iter().map(typed).collect();
        Self { name, parameters, result, body: Body::Translation(translation) }
    }

    /// Adds the next parameter.
    ///
    /// ```
    /// use warpfold::{DeviceFunction, device_code};
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `f32`.
    /// let body = unsafe { device_code!("return x * x + y * y;") };
    /// let square = DeviceFunction::new::<f32>("square", body)
    ///     .parameter::<f32>("x")
    ///     .parameter::<f32>("y");
    /// ```
    pub fn parameter<T: DeviceType>(mut self, name: &'static str) -> Self {
        self.parameters.push((name, Type::Value(T::layout())));
        self
    }
}
