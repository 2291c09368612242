//! How rustc's inference is asked: slots, through which the values of a body pass that is never run.

use std::any::TypeId;
use std::cmp::Ordering;
use std::marker::PhantomData;

use super::known::AsPrimitive;
use super::{Callee, Type};
use crate::{DeviceFunction, DeviceType, Kind, Layout, Literal, Scalar};

/// Takes on the type of what passes through it.
#[derive(Debug)]
pub struct Slot<T>(PhantomData<fn() -> T>);

impl<T> Slot<T> {
    /// A slot of a type that is yet to be inferred.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self(PhantomData)
    }

    /// Makes the slot's type that of a value.
    pub fn of(&self, value: T) -> T
    where
        T: Local,
    {
        value
    }

    /// Makes the slot's type that of a variable.
    pub fn is(&self, _: &T)
    where
        T: Local,
    {
    }

    /// Stands for the value of a variable that is declared without one.
    pub fn value(&self) -> T {
        unreachable!("probes are never run")
    }

    /// The type.
    pub fn ty(&self) -> Type
    where
        T: Local,
    {
        T::ty()
    }

    /// The `#[device]` function that the slot's type stands for.
    pub fn callee(&self) -> Callee
    where
        T: Helper,
    {
        Callee { id: TypeId::of::<T>(), function: T::function }
    }
}

/// What a variable may be: a device type, a tuple of such, or an `Ordering`.
#[diagnostic::on_unimplemented(
    message = "a value of type `{Self}` has no counterpart in CUDA C++",
    label = "not a device type",
    note = "values are numbers, `bool`, `std::cmp::Ordering`, device types, and tuples of these"
)]
pub trait Local: Copy + 'static {
    /// The type, as data.
    fn ty() -> Type;
    /// A value of it.
    fn literal(&self) -> Literal;
}

impl<T: DeviceType> Local for T {
    fn ty() -> Type {
        Type::Value(T::layout())
    }
    fn literal(&self) -> Literal {
        DeviceType::literal(self)
    }
}

impl Local for Ordering {
    fn ty() -> Type {
        Type::Value(Layout::of::<Self>(Kind::Scalar(Scalar::I8)))
    }
    fn literal(&self) -> Literal {
        Literal::Scalar((*self as i8 as u8).into())
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*);)*) => {$(
        impl<$($name: Local),*> Local for ($($name,)*) {
            fn ty() -> Type {
                Type::Tuple(vec![$($name::ty()),*])
            }
            fn literal(&self) -> Literal {
                Literal::Sequence(vec![$(self.$index.literal()),*])
            }
        }
    )*};
}
tuples! {
    (A 0);
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

/// The type that Rust takes a literal for where it is cast to this type.
#[diagnostic::on_unimplemented(
    message = "a number is cast to a number here, not to `{Self}`",
    label = "not a number"
)]
pub trait CastTo {
    /// Of an integer.
    type Integer;
    /// Of a float.
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

/// An integer that is cast to `T`.
pub fn integer_of<T: CastTo>(_: &Slot<T::Integer>, value: T::Integer) -> T::Integer {
    value
}

/// A float that is cast to `T`.
pub fn float_of<T: CastTo>(_: &Slot<T::Float>, value: T::Float) -> T::Float {
    value
}

/// A value that rustc knows, or that is computed when the source is rendered.
#[derive(Debug)]
pub struct Constant<T, F>(F, PhantomData<fn() -> T>);

/// See [`Constant`].
pub fn constant<T: Local, F: Fn() -> T>(value: F) -> Constant<T, F> {
    Constant(value, PhantomData)
}

impl<T, F: Fn() -> T> Constant<T, F> {
    /// Stands for it in a probe.
    pub fn get(&self) -> T {
        (self.0)()
    }

    /// Its type and its value.
    pub fn parts(&self) -> (Type, Literal)
    where
        T: Local,
    {
        (T::ty(), self.get().literal())
    }
}

/// A `#[device]` function: implemented by the type that the attribute declares beside it, under the same name.
#[diagnostic::on_unimplemented(
    message = "a kernel can call `#[device]` functions only",
    label = "write `#[device]` before this function",
    note = "an import brings a function and its device form together"
)]
pub trait Helper: 'static {
    /// Its translation.
    fn function() -> DeviceFunction;
}

/// Found in place of the type beside a function by a function that has none.
pub mod undeclared {
    use super::Slot;

    /// A function without `#[device]`, under the name by which `#[monoid]` calls any function.
    #[allow(non_camel_case_types)]
    #[derive(Debug)]
    pub struct warpfold_callee {}

    impl warpfold_callee {
        /// It is not known to be.
        pub const fn exact(_: u32) -> bool {
            false
        }

        /// Takes and returns anything.
        pub fn probe<A, R>(_: &Slot<Self>, _: A) -> R {
            unreachable!("probes are never run")
        }
    }
}

/// What the operators and methods of the subset are for.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no operators or methods in CUDA C++",
    label = "not a number or a `bool`",
    note = "use its fields, or write a `#[device]` function that does"
)]
pub trait Primitive: Copy {}

/// What has an order in which no two values are equal but distinct.
#[diagnostic::on_unimplemented(
    message = "`min`, `max` and `clamp` of `{Self}` leave open which zero they return",
    label = "Rust does not say which bits this has",
    note = "write `warpfold::math::minimum(a, b)` or `warpfold::math::maximum(a, b)`, which put -0 below +0"
)]
pub trait Ordered: Copy {}

macro_rules! primitives {
    ($trait:ident: $($type:ident)*) => {$( impl $trait for $type {} )*};
}
primitives! { Primitive: i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool f32 f64 Ordering }
primitives! { Ordered: i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool Ordering }

/// What is indexed, and has a length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not indexed in CUDA C++",
    label = "not an array",
    note = "use its fields, or write a `#[device]` function that takes the index"
)]
pub trait Indexed: Copy {}

impl<T: Copy, const N: usize> Indexed for [T; N] {}

/// Lets pass what is indexed.
pub fn array<T: Indexed>(value: T) -> T {
    value
}

/// Lets pass what operators and methods are for.
pub fn number<T: Primitive>(value: T) -> T {
    value
}

/// Lets pass what `min`, `max` and `clamp` are exact for.
pub fn ordered<T: Ordered>(value: T) -> T {
    value
}

/// A value that `AsPrimitive` casts.
pub fn cast_of<T: AsPrimitive<U>, U: Copy + 'static>(_: &T, value: U) -> U {
    value
}

/// A function that is another one.
pub fn same<F: Copy>(function: F, _: F) -> F {
    function
}

/// Whether generic code may call a method of a value: of a number, or of a type that has the known trait of that method.
#[allow(non_snake_case)]
pub mod is {
    use super::super::known;
    use super::Primitive;

    /// The value.
    #[derive(Debug)]
    pub struct Of<'a, T>(pub &'a T);

    /// A number has methods of its own.
    pub trait OfNumber {
        /// It is a number.
        fn is_known(&self) {}
    }
    impl<T: Primitive> OfNumber for Of<'_, T> {}

    macro_rules! is {
        ($($name:ident)*) => {$(
            /// Of the trait of this name.
            pub mod $name {
                /// It is implemented for a reference, so rustc takes it or [`OfNumber`](super::OfNumber), whichever holds.
                pub trait OfTrait {
                    /// It has the trait.
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

    /// Asks for a power with such an exponent.
    pub fn Pow<T: known::Pow<E>, E>(_: &T, _: E) {}
}
