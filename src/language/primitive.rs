//! Which types are numbers, and which values bodies cast, compare and order.

use std::any::TypeId;
use std::cmp::Ordering;

/// The types that have the operators and methods of the subset.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no operators or methods in CUDA C++",
    label = "not a number or a `bool`",
    note = "for a type of your own, write `#[device]` before the `impl` of the operator or the method"
)]
pub trait Primitive: Copy + 'static {}

/// The types with an order in which equal values have the same bits.
#[diagnostic::on_unimplemented(
    message = "`min`, `max` and `clamp` of `{Self}` leave open which zero they return",
    label = "Rust does not say which bits this has",
    note = "write `warpfold::math::minimum(a, b)` or `warpfold::math::maximum(a, b)`, which put -0 below +0"
)]
pub trait Ordered: Copy + 'static {}

macro_rules! primitives {
    ($trait:ident: $($type:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl $trait for $type {}
    )*};
}

/// Whether this is a [`Primitive`] type.
pub(crate) fn is_primitive(id: TypeId) -> bool {
    macro_rules! one_of {
        ($($type:ty)*) => { [$(TypeId::of::<$type>()),*].contains(&id) };
    }
    #[cfg(feature = "half")]
    if one_of!(half::f16 half::bf16) {
        return true;
    }
    one_of!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool f32 f64 Ordering)
}

primitives! { Primitive: i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool f32 f64 Ordering }
// So that a 128-bit integer is refused as a value, and not once more at each operator.
primitives! { Primitive: i128 u128 }
primitives! { Scalar: i128 u128 }
primitives! { Ordered: i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool Ordering }

/// The types that a cast starts from and that a pattern compares: numbers, `bool`, `Ordering` and
/// enums without fields.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not compared or cast in CUDA C++",
    label = "not a number, a `bool` or an enum",
    note = "use the fields of a struct and the elements of an array"
)]
pub trait Scalar: Copy + 'static {}
primitives! { Scalar: i8 i16 i32 i64 isize u8 u16 u32 u64 usize bool f32 f64 Ordering }

/// Passes a value that is cast or compared.
pub fn scalar<T: Scalar>(value: T) -> T {
    value
}

/// The 16-bit floats.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no 16-bit float",
    label = "this method is one of `half::f16` and `half::bf16`",
    note = "the feature `half` of warpfold has these types"
)]
pub trait Half: Copy + 'static {}
#[cfg(feature = "half")]
mod halves {
    use super::{Half, Primitive, Scalar};
    use half::{bf16, f16};

    primitives! { Half: f16 bf16 }
    primitives! { Primitive: f16 bf16 }
    primitives! { Scalar: f16 bf16 }
}

/// Passes a 16-bit float.
pub fn half<T: Half>(value: T) -> T {
    value
}

/// Passes a number, a `bool` or an `Ordering`.
pub fn number<T: Primitive>(value: T) -> T {
    value
}

/// Passes a value for which `min`, `max` and `clamp` are exact.
pub fn ordered<T: Ordered>(value: T) -> T {
    value
}

/// A number whose literals may have no suffix, with a number of its own.
pub trait Suffix {
    /// Differs for each type.
    const NUMBER: u8;
}

macro_rules! suffixes {
    ($($type:ident $number:literal)*) => {$(
        impl Suffix for $type {
            const NUMBER: u8 = $number;
        }
    )*};
}
suffixes! { i8 0 i16 1 i32 2 i64 3 isize 4 u8 5 u16 6 u32 7 u64 8 usize 9 f32 10 f64 11 }
