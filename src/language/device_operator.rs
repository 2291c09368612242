//! Operators as CUDA C++.

use std::any::TypeId;

use super::device_code::DeviceCode;
use super::device_steps::DeviceSteps;
use super::function::{DeviceFunction, Translated};
use super::part::Part;
use crate::operators::Monoid;
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
///
/// ```
/// use warpfold::{Device, DeviceMonoid, DeviceOperator, Monoid, Reduction, device_code};
///
/// /// The bits that are set in an odd number of items.
/// #[derive(Clone, Copy, Default)]
/// struct Parity;
///
/// impl Monoid for Parity {
///     type Item = u32;
///     fn identity(&self) -> u32 { 0 }
///     fn combine(&self, a: u32, b: u32) -> u32 { a ^ b }
/// }
///
/// impl DeviceMonoid for Parity {
///     const EXACT: bool = true;
///     fn device_operator() -> DeviceOperator {
///         // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
///         DeviceOperator::new::<u32>("a", "b", unsafe { device_code!("return a ^ b;") })
///     }
/// }
///
/// let source = Reduction::<Parity>::new(Device::auto()).source()?;
/// assert!(source.program().contains("return a ^ b;"));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct DeviceOperator {
    pub(crate) form: Form,
    pub(crate) types: Vec<(&'static str, Layout)>,
    pub(crate) constants: Vec<(&'static str, Layout, Literal)>,
    pub(crate) functions: Vec<DeviceFunction>,
}

/// How an operator combines.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// By a function. The layout is that of `self`, if the function reads it as a whole.
    Function { combine: DeviceFunction, state: Option<Layout>, inside: Inside },
    /// Each part of an item by an operator of its own.
    Together { item: Layout, parts: Vec<Part<DeviceOperator>> },
    /// By another operator, where both operands have elements. The item, and the identity of the
    /// other operator in the fields.
    Filtering { item: Layout, monoid: Box<Part<DeviceOperator>>, identity: (Layout, usize) },
    /// By another operator, of which the items are prepared from elements.
    Prepared(Box<Prepared>),
}

/// The operator of an aggregate: how its items are prepared, combined and presented.
#[derive(Clone, Debug)]
pub(crate) struct Prepared {
    /// The layout of an element of each array.
    pub(crate) elements: Vec<Layout>,
    pub(crate) monoid: Part<DeviceOperator>,
    pub(crate) steps: Part<DeviceSteps>,
    /// The item, and the result in device memory.
    pub(crate) item: Layout,
    pub(crate) output: Layout,
    /// The offset of the number of elements, and 1 more, in the operator. 0 there if a kernel does
    /// not write the result.
    pub(crate) presented: usize,
}

impl DeviceOperator {
    /// Creates an operator on items of type `T`, whose body names its operands `left` and `right`.
    ///
    /// ```
    /// use warpfold::{DeviceOperator, device_code};
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
    /// let body = unsafe { device_code!("return a < b ? b : a;") };
    /// let largest = DeviceOperator::new::<u32>("a", "b", body);
    /// ```
    pub fn new<T: DeviceType>(left: &'static str, right: &'static str, body: DeviceCode) -> Self {
        let combine = DeviceFunction::new::<T>(COMBINE, body).parameter::<T>(left).parameter::<T>(right);
        Self::of(combine, Inside::NOTHING)
    }

    /// The operator that `#[monoid]` makes of a Rust `combine`.
    #[doc(hidden)]
    pub fn translated<M: TranslatedMonoid>() -> Self {
        let TranslatedCombine { function, inside } = M::COMBINE;
        Self::of(DeviceFunction::translated(function), inside)
    }

    fn of(combine: DeviceFunction, inside: Inside) -> Self {
        Self::of_form(Form::Function { combine, state: None, inside })
    }

    pub(crate) fn of_form(form: Form) -> Self {
        Self { form, types: Vec::new(), constants: Vec::new(), functions: Vec::new() }
    }

    /// Makes the operator's fields available to the body as `self.field`. `S` is the operator's
    /// type.
    ///
    /// ```
    /// use warpfold::{DeviceOperator, DeviceType, device_code};
    ///
    /// #[derive(Clone, Copy, DeviceType)]
    /// #[repr(C)]
    /// struct ModularSum { modulus: u32 }
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
    /// let body = unsafe { device_code!("return (a + b) % self.modulus;") };
    /// let sum = DeviceOperator::new::<u32>("a", "b", body).state::<ModularSum>();
    /// ```
    pub fn state<S: DeviceType>(self) -> Self {
        self.state_of_layout(S::layout())
    }

    /// The same for an operator of this layout. `#[monoid]` calls it: an error about a missing
    /// `DeviceType` has no lines about the bound of a function then.
    #[doc(hidden)]
    pub fn state_of_layout(mut self, layout: Layout) -> Self {
        if let Form::Function { state, .. } = &mut self.form {
            *state = Some(layout);
        }
        self
    }

    /// Makes the device type `T` available to the body and the functions as `name`.
    ///
    /// ```
    /// use warpfold::{DeviceOperator, device_code};
    ///
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `[f32; 2]`.
    /// let body = unsafe { device_code!("
    ///     Vector sum;
    ///     sum[0] = a[0] + b[0];
    ///     sum[1] = a[1] + b[1];
    ///     return sum;
    /// ") };
    /// let sum = DeviceOperator::new::<[f32; 2]>("a", "b", body).with_type::<[f32; 2]>("Vector");
    /// ```
    pub fn with_type<T: DeviceType>(mut self, name: &'static str) -> Self {
        self.types.push((name, T::layout()));
        self
    }

    /// Makes the constant `name` available to the body and the functions, with the bits of `value`.
    ///
    /// ```
    /// use warpfold::{DeviceOperator, device_code};
    ///
    /// const LIMIT: u32 = 1000;
    /// // SAFETY: the body terminates, uses only its parameters and returns a valid `u32`.
    /// let body = unsafe { device_code!("return a + b < LIMIT ? a + b : LIMIT;") };
    /// let sum = DeviceOperator::new::<u32>("a", "b", body).constant("LIMIT", LIMIT);
    /// ```
    pub fn constant<T: DeviceType>(mut self, name: &'static str, value: T) -> Self {
        self.constants.push((name, T::layout(), value.literal()));
        self
    }

    /// Makes a helper function available to the body and to functions that are added later.
    ///
    /// ```
    /// use warpfold::{DeviceFunction, DeviceOperator, device_code};
    ///
    /// // SAFETY: the bodies terminate, use only their parameters and return valid values.
    /// let (square, body) = unsafe {
    ///     (device_code!("return v[0] * v[0] + v[1] * v[1];"),
    ///      device_code!("if (norm(b) > norm(a)) return b; return a;"))
    /// };
    /// let norm = DeviceFunction::new::<f32>("norm", square).parameter::<[f32; 2]>("v");
    /// let longest = DeviceOperator::new::<[f32; 2]>("a", "b", body).function(norm);
    /// ```
    pub fn function(mut self, function: DeviceFunction) -> Self {
        self.functions.push(function);
        self
    }
}

/// A monoid whose `combine` a macro has translated.
pub trait TranslatedMonoid: Monoid {
    /// `combine`.
    const COMBINE: TranslatedCombine;
}

/// A translated `combine`, as a constant.
#[derive(Clone, Copy, Debug)]
pub struct TranslatedCombine {
    /// The function.
    pub function: Translated,
    /// What it reads of `self`, if it has inner operators.
    pub inside: Inside,
}

impl TranslatedCombine {
    /// Whether every operation of the function, its callees and the inner operators is exact.
    pub const fn is_exact(&self) -> bool {
        let mut rest = self.inside.operators;
        while let [inner, others @ ..] = rest {
            if !inner.exact {
                return false;
            }
            rest = others;
        }
        self.function.is_exact()
    }
}

/// The inner operators of a `combine`, and the other fields of `self` that it reads.
#[derive(Clone, Copy, Debug)]
pub struct Inside {
    /// The operators whose `combine` it calls.
    pub operators: &'static [Inner],
    /// The other fields.
    pub fields: &'static [StateField],
}

impl Inside {
    /// A function without inner operators.
    pub const NOTHING: Self = Self { operators: &[], fields: &[] };
}

/// An operator inside another: a field of `self`, or a value of `default()`.
#[derive(Clone, Copy, Debug)]
pub struct Inner {
    pub(crate) operator: fn() -> DeviceOperator,
    pub(crate) item: fn() -> Layout,
    pub(crate) id: fn() -> TypeId,
    pub(crate) name: fn() -> &'static str,
    pub(crate) size: usize,
    /// The offset of the field. None of a value of `default()`.
    pub(crate) offset: Option<usize>,
    pub(crate) exact: bool,
}

/// A field of `self`.
#[derive(Clone, Copy, Debug)]
pub struct StateField {
    pub(crate) layout: fn() -> Layout,
    pub(crate) offset: usize,
}
