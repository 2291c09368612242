//! Operators as CUDA C++.

use super::device_code::DeviceCode;
use super::function::{DeviceFunction, Translation, Type};
use crate::types::{DeviceType, Layout, Literal};

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
