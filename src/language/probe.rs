//! Probes: how a macro obtains the types that rustc infers. A probe is a copy of a body whose
//! values pass through slots. It is compiled and never called.

use std::marker::PhantomData;

use super::function::Type;
use super::known::AsPrimitive;
use crate::Literal;
use crate::types::{Described, Describes};

/// A slot. Its type is inferred from the values that pass through it.
#[derive(Debug)]
pub struct Slot<T>(PhantomData<fn() -> T>);

impl<T> Slot<T> {
    /// Creates a slot whose type is yet to be inferred.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        Self(PhantomData)
    }

    /// Makes the slot's type that of a value, and returns the value.
    pub fn of(&self, value: T) -> T {
        value
    }

    /// Makes the slot's type that of a variable.
    pub fn is(&self, _: &T) {}

    /// Stands for the value of a variable that is declared without one.
    pub fn value(&self) -> T {
        unreachable!("probes are never run")
    }
}

/// The function that gives the type of a slot, as data.
pub const fn ty<T: Local>(_: &Slot<T>) -> fn() -> Type {
    T::ty
}

/// The types of variables: device types, tuples of these types, and `Ordering`.
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` has no counterpart in CUDA C++",
    label = "not a device type",
    note = "values are numbers, `bool`, `std::cmp::Ordering`, device types, and tuples of these"
)]
pub trait Local: Copy + 'static {
    /// The type, as data.
    fn ty() -> Type;
    /// The value, as data.
    fn literal(&self) -> Literal;
}

#[diagnostic::do_not_recommend]
impl<V: Described> Local for V {
    fn ty() -> Type {
        V::By::described()
    }
    fn literal(&self) -> Literal {
        V::By::literal_of(self)
    }
}

// The element of an aggregate without an array.
#[diagnostic::do_not_recommend]
impl Local for () {
    fn ty() -> Type {
        Type::Tuple(Vec::new())
    }
    fn literal(&self) -> Literal {
        Literal::Sequence(Vec::new())
    }
}

#[diagnostic::do_not_recommend]
impl<A: Local> Local for (A,) {
    fn ty() -> Type {
        Type::Tuple(vec![A::ty()])
    }
    fn literal(&self) -> Literal {
        Literal::Sequence(vec![self.0.literal()])
    }
}

/// The types that Rust gives to a literal that is cast to this type.
#[diagnostic::on_unimplemented(
    message = "a number is cast to a number here, not to `{Self}`",
    label = "not a number"
)]
pub trait CastTo {
    /// The type of an integer literal.
    type Integer;
    /// The type of a float literal.
    type Float;
}

macro_rules! cast_to {
    ($($type:ty: $integer:ty, $float:ty;)*) => {$(
        impl CastTo for $type {
            type Integer = $integer;
            type Float = $float;
        }
    )*};
}
cast_to! {
    i8: i8, f64; i16: i16, f64; i32: i32, f64; i64: i64, f64; isize: isize, f64;
    u8: u8, f64; u16: u16, f64; u32: u32, f64; u64: u64, f64; usize: usize, f64;
    f32: i32, f32; f64: i32, f64;
}

/// Passes an integer literal that is cast to `T`.
pub fn integer_of<T: CastTo>(_: &Slot<T::Integer>, value: T::Integer) -> T::Integer {
    value
}

/// Passes a float literal that is cast to `T`.
pub fn float_of<T: CastTo>(_: &Slot<T::Float>, value: T::Float) -> T::Float {
    value
}

/// A constant: its value is computed when the source is rendered.
pub struct Constant<T>(fn() -> T);

impl<T> std::fmt::Debug for Constant<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Constant").field(&std::any::type_name::<T>()).finish()
    }
}

/// Creates a [`Constant`] from a function that returns its value.
pub const fn constant<T>(value: fn() -> T) -> Constant<T> {
    Constant(value)
}

impl<T> Constant<T> {
    /// The value. It stands for the constant in a probe.
    pub fn get(&self) -> T {
        (self.0)()
    }

    /// The constant itself.
    pub const fn copied(&self) -> Self {
        Self(self.0)
    }
}

impl<T: Local> super::function::Value for Constant<T> {
    fn parts(&self) -> (Type, Literal) {
        (T::ty(), self.get().literal())
    }
}

/// Name resolution finds these items for a function without `#[device]`, which has no key beside it.
pub mod undeclared {
    use std::marker::PhantomData;

    use super::Slot;

    /// The form of a function of this type.
    #[derive(Debug)]
    pub struct Undeclared<F>(PhantomData<F>);

    impl<F> Undeclared<F> {
        /// Accepts and returns any type.
        pub fn probe<A, R>(self, _: &Slot<(Self, F)>, _: F, _: A) -> R
        where
            F: Accepts<A>,
        {
            unreachable!("probes are never run")
        }
    }

    /// The alias beside a function, under the name by which `#[monoid]` calls every function.
    #[allow(non_camel_case_types)]
    #[derive(Debug)]
    pub struct warpfold_callee {}

    impl warpfold_callee {
        /// Stands for a value of the form.
        pub fn form<F>() -> Undeclared<F> {
            unreachable!("probes are never run")
        }
    }

    /// The macro beside a function.
    #[doc(hidden)]
    #[macro_export]
    macro_rules! __warpfold_undeclared {
        (@warpfold $warpfold:ident $($turbofish:tt)*) => {
            $warpfold::language::undeclared::warpfold_callee::form()
        };
    }
    pub use __warpfold_undeclared as warpfold_callee;

    /// The functions that accept these arguments. So the arguments tell the types of a generic
    /// function.
    pub trait Accepts<A> {}

    macro_rules! accepts {
        ($(($($argument:ident),*);)*) => {$(
            impl<F: Fn($($argument),*) -> R, R, $($argument),*> Accepts<($($argument,)*)> for F {}
        )*};
    }
    accepts! {
        (); (A); (A, B); (A, B, C); (A, B, C, D); (A, B, C, D, E); (A, B, C, D, E, G); (A, B, C, D, E, G, H);
        (A, B, C, D, E, G, H, I);
    }
}

/// The types that have an index operator and a length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not indexed in CUDA C++",
    label = "not an array",
    note = "use its fields, or write a `#[device]` function that takes the index"
)]
pub trait Indexed: Copy {}

impl<T: Copy, const N: usize> Indexed for [T; N] {}

/// Passes an indexed value.
pub fn array<T: Indexed>(value: T) -> T {
    value
}

/// Passes an option.
pub fn option<T: Local>(value: Option<T>) -> Option<T> {
    value
}

/// Passes a value that is no part of a layout.
pub fn marker<T: ?Sized>(value: PhantomData<T>) -> PhantomData<T> {
    value
}

/// Passes the result of a cast by `AsPrimitive`.
pub fn cast_of<T: AsPrimitive<U>, U: Copy + 'static>(_: &T, value: U) -> U {
    value
}

/// Passes a function, and requires that it is the second one: each function has a type of its own.
pub fn same<F: Copy>(function: F, _: F) -> F {
    function
}

/// Whether generic code may call a method of a value. It may if the value is a number, or if its
/// type has the known trait of the method.
#[allow(non_snake_case)]
pub mod is {
    use super::super::known;
    use super::super::primitive::Primitive;

    /// The value.
    #[derive(Debug)]
    pub struct Of<'a, T>(pub &'a T);

    /// Implemented for numbers, whose methods are their own.
    pub trait OfNumber {
        /// Compiles if the value is a number.
        fn is_known(&self) {}
    }
    impl<T: Primitive> OfNumber for Of<'_, T> {}

    macro_rules! is {
        ($($name:ident)*) => {$(
            /// The trait of this name.
            pub mod $name {
                /// Implemented for a reference. So method resolution takes this trait or
                /// [`OfNumber`](super::OfNumber), whichever applies.
                pub trait OfTrait {
                    /// Compiles if the value's type has the trait.
                    fn is_known(&self) {}
                }
                impl<T: super::known::$name> OfTrait for &super::Of<'_, T> {}
            }
        )*};
    }
    is! {
        Euclid Float FloatCore MulAdd Number One Ord PartialEq PartialOrd PrimInt Real Saturating SaturatingAdd
        SaturatingMul SaturatingSub Signed WrappingAdd WrappingMul WrappingNeg WrappingShl WrappingShr WrappingSub
        Zero
    }

    /// Compiles if `T` has a power with an exponent of this type.
    pub fn Pow<T: known::Pow<E>, E>(_: &T, _: E) {}
}
