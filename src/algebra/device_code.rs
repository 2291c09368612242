use std::borrow::Cow;

use super::translation::{Translation, Type};
use super::{DeviceType, Layout, Literal};

/// A piece of CUDA C++ together with the place in the Rust source that it came from, which is what a compiler error
/// names.
#[derive(Clone, Debug)]
pub struct DeviceCode {
    text: Cow<'static, str>,
    file: &'static str,
    line: u32,
}

impl DeviceCode {
    /// The body of a function, without its braces, whose first line stands in `line` of `file`. It returns its value;
    /// wrapping and promotion follow C++, not Rust.
    ///
    /// [`device_code!`](crate::device_code) reads file and line from a literal.
    ///
    /// Write `if (c) return a; return b;` rather than `return c ? a : b;` for structs: a select of two objects is a
    /// select of their addresses, and takes both out of registers.
    ///
    /// # Safety
    ///
    /// The code runs on the GPU as it stands. It must end, must read and write nothing but its parameters and its own
    /// variables, and must return a valid value of its Rust type (for a `bool`, 0 or 1). It is only ever called on valid
    /// items, but on any two of them, not on neighbours alone: a result that nobody needs may be computed and dropped. All
    /// that holds whatever functions, types and constants are added to its operator, which safe code can do.
    #[allow(unsafe_code)]
    pub unsafe fn at(text: impl Into<Cow<'static, str>>, file: &'static str, line: u32) -> Self {
        Self { text: text.into(), file, line }
    }

    /// The CUDA C++.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The source file that the first line of the text stands in.
    pub fn file(&self) -> &'static str {
        self.file
    }

    /// The line of [`file`](Self::file) that the first line of the text stands in, from 1.
    pub fn line(&self) -> u32 {
        self.line
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
        let typed = |parameter: &super::translation::syntax::Variable| {
            (parameter.name, translation.types[parameter.ty].clone())
        };
        let parameters = parameters.iter().map(typed).collect();
        Self { name, parameters, result, body: Body::Translation(translation) }
    }

    /// Adds the next parameter.
    pub fn parameter<T: DeviceType>(mut self, name: &'static str) -> Self {
        self.parameters.push((name, Type::Value(T::layout())));
        self
    }
}

const COMBINE: &str = "combine";

/// An operator as CUDA C++, in parts: the type of its run-time parameters, the names of its operands, the body of
/// `combine`, and whatever the body refers to.
///
/// The body sees its two operands under their names, as mutable values; `Item`, their type; `self`, if
/// [`state`](Self::state) was given; and the named types, constants and functions. Field names are those of the Rust
/// struct; one that C++ reserves gets a trailing underscore (`new` is `new_`), and field 0 of a tuple struct is `_0`.
#[derive(Clone, Debug)]
pub struct DeviceOperator {
    pub(crate) combine: DeviceFunction,
    pub(crate) state: Option<Layout>,
    pub(crate) types: Vec<(&'static str, Layout)>,
    pub(crate) constants: Vec<(&'static str, Layout, Literal)>,
    pub(crate) functions: Vec<DeviceFunction>,
}

impl DeviceOperator {
    /// An operator on items of type `T`, whose body calls its operands `left` and `right`.
    pub fn new<T: DeviceType>(left: &'static str, right: &'static str, body: DeviceCode) -> Self {
        Self::of(DeviceFunction::new::<T>(COMBINE, body).parameter::<T>(left).parameter::<T>(right))
    }

    /// What `#[monoid]` makes of a Rust `combine`.
    #[doc(hidden)]
    pub fn translated(result: Type, translation: Translation) -> Self {
        Self::of(DeviceFunction::translated(COMBINE, result, translation))
    }

    fn of(combine: DeviceFunction) -> Self {
        Self { combine, state: None, types: Vec::new(), constants: Vec::new(), functions: Vec::new() }
    }

    /// Lets the body read the operator's own fields as `self.field`. `S` is the operator's type.
    pub fn state<S: DeviceType>(mut self) -> Self {
        self.state = Some(S::layout());
        self
    }

    /// Lets the body and the functions call the device type `T` by `name`.
    pub fn with_type<T: DeviceType>(mut self, name: &'static str) -> Self {
        self.types.push((name, T::layout()));
        self
    }

    /// Gives the body and the functions the constant `name`, bit for bit.
    pub fn constant<T: DeviceType>(mut self, name: &'static str, value: T) -> Self {
        self.constants.push((name, T::layout(), value.literal()));
        self
    }

    /// Gives the body and the later functions a helper function.
    pub fn function(mut self, function: DeviceFunction) -> Self {
        self.functions.push(function);
        self
    }
}
