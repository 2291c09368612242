//! Device functions. A body is CUDA C++ or translated Rust.

use std::any::TypeId;
use std::fmt;

use super::device_code::DeviceCode;
use super::syntax;
pub use crate::types::Type;
use crate::types::{DeviceType, Literal};

/// A function that a macro has translated, as a constant: the tree of its body, and what the probe
/// tells of the types, constants and callees that the numbers in the tree refer to.
#[derive(Clone, Copy, Debug)]
pub struct Translated {
    /// The name.
    pub name: &'static str,
    /// The source file of the body.
    pub file: &'static str,
    /// The tree.
    pub body: &'static syntax::Body,
    /// The type of the result.
    pub result: fn() -> Type,
    /// The types of the slots, by number.
    pub types: &'static [fn() -> Type],
    /// The values of paths such as `f32::INFINITY`, `LIMIT` and `N`, and of calls without arguments
    /// such as `T::zero()`.
    pub constants: &'static [&'static dyn Value],
    /// What the calls, methods and operators of the body mean. None is an operation of numbers.
    pub callees: &'static [Option<Callee>],
    /// Whether every operation of the body is exact.
    pub exact: bool,
}

impl Translated {
    /// Stands for a function that a macro has refused. rustc reports the refusal.
    pub const REFUSED: Self = Self {
        name: "",
        file: "",
        body: &syntax::Body {
            locals: &[],
            parameters: 0,
            block: syntax::Block { statements: &[], value: None },
        },
        result: || Type::Tuple(Vec::new()),
        types: &[],
        constants: &[],
        callees: &[],
        exact: false,
    };

    /// Whether every operation of the body and of its callees is exact.
    pub const fn is_exact(&self) -> bool {
        let mut rest = self.callees;
        while let [callee, others @ ..] = rest {
            if let Some(Callee { exact: false, .. }) = callee {
                return false;
            }
            rest = others;
        }
        self.exact
    }
}

/// A constant of a body.
pub trait Value: fmt::Debug {
    /// The type and the value, as data.
    fn parts(&self) -> (Type, Literal);
}

/// A translated body, with the types, constants and callees that its numbers refer to.
#[derive(Clone, Debug)]
pub(crate) struct Translation {
    pub(crate) file: &'static str,
    pub(crate) body: &'static syntax::Body,
    pub(crate) types: Vec<Type>,
    pub(crate) constants: Vec<(Type, Literal)>,
    pub(crate) callees: &'static [Option<Callee>],
}

impl Translation {
    /// The first line of the body, from 1.
    pub(crate) fn line(&self) -> u32 {
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
#[derive(Clone, Copy, Debug)]
pub struct Callee {
    /// Identifies the function with its generic arguments.
    pub id: fn() -> TypeId,
    /// Makes the function. It is made on demand, since a function may call itself.
    pub function: fn() -> DeviceFunction,
    /// Whether the path of the call names this function.
    pub is_named: fn() -> bool,
    /// Whether the function and its callees are exact.
    pub exact: bool,
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

    /// The function that a macro made of a Rust function.
    #[doc(hidden)]
    pub fn translated(translated: Translated) -> Self {
        let Translated { name, file, body, result, types, constants, callees, exact: _ } = translated;
        let types: Vec<Type> = types.iter().map(|ty| ty()).collect();
        let parameters = &body.locals[..body.parameters];
        let typed = |parameter: &syntax::Variable| (parameter.name, types[parameter.ty].clone());
        let parameters = parameters.iter().map(typed).collect();
        let constants = constants.iter().map(|constant| constant.parts()).collect();
        let translation = Translation { file, body, types, constants, callees };
        Self { name, parameters, result: result(), body: Body::Translation(translation) }
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
