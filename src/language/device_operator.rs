//! Operators as CUDA C++.

use super::device_code::DeviceCode;
use super::function::{DeviceFunction, Translation, Type};
use crate::types::{DeviceType, Layout, Literal};

const COMBINE: &str = "combine";

/// An operator as CUDA C++: the type of its run-time parameters, the names of its operands, the
/// body of `combine`, and the definitions that the body uses.
///
/// The body can use:
///
/// - the two operands under their names, as mutable values;
/// - `Item`, the type of the operands;
/// - `self`, if [`state`](Self::state) was called;
/// - the named types, constants and functions.
///
/// Field names are those of the Rust struct. A name that C++ reserves gets a trailing underscore:
/// `new` is `new_`. Field 0 of a tuple struct is `_0`.
#[derive(Clone, Debug)]
#[must_use]
pub struct DeviceOperator {
    pub(crate) combine: DeviceFunction,
    pub(crate) state: Option<Layout>,
    pub(crate) types: Vec<(&'static str, Layout)>,
    pub(crate) constants: Vec<(&'static str, Layout, Literal)>,
    pub(crate) functions: Vec<DeviceFunction>,
}

impl DeviceOperator {
    /// Creates an operator on items of type `T`, whose body names its operands `left` and `right`.
    pub fn new<T: DeviceType>(left: &'static str, right: &'static str, body: DeviceCode) -> Self {
        Self::of(DeviceFunction::new::<T>(COMBINE, body).parameter::<T>(left).parameter::<T>(right))
    }

    /// The operator that `#[monoid]` makes of a Rust `combine`.
    #[doc(hidden)]
    pub fn translated(result: Type, translation: Translation) -> Self {
        Self::of(DeviceFunction::translated(COMBINE, result, translation))
    }

    fn of(combine: DeviceFunction) -> Self {
        Self { combine, state: None, types: Vec::new(), constants: Vec::new(), functions: Vec::new() }
    }

    /// Makes the operator's fields available to the body as `self.field`. `S` is the operator's
    /// type.
    pub fn state<S: DeviceType>(mut self) -> Self {
        self.state = Some(S::layout());
        self
    }

    /// Makes the device type `T` available to the body and the functions as `name`.
    pub fn with_type<T: DeviceType>(mut self, name: &'static str) -> Self {
        self.types.push((name, T::layout()));
        self
    }

    /// Makes the constant `name` available to the body and the functions, with the bits of `value`.
    pub fn constant<T: DeviceType>(mut self, name: &'static str, value: T) -> Self {
        self.constants.push((name, T::layout(), value.literal()));
        self
    }

    /// Makes a helper function available to the body and to functions that are added later.
    pub fn function(mut self, function: DeviceFunction) -> Self {
        self.functions.push(function);
        self
    }
}
