//! The meaning of calls, methods and operators in a body: a `#[device]` function, or an operation
//! of numbers.
//!
//! A macro sees no types. So each place in a body that may be a call has a slot, and the probe
//! gives the slot a type that implements [`Helper`] or [`Meaning`].

use std::any::TypeId;
use std::marker::PhantomData;

use super::function::{Callee, DeviceFunction, Translated};
use super::primitive::{Ordered, Primitive, Suffix};
use super::probe::Slot;

type Marker<T> = PhantomData<fn() -> T>;

/// The form of a `#[device]` function: a type that the attribute declares. A call finds it by its
/// [`Key`](super::Key).
#[diagnostic::on_unimplemented(
    message = "a kernel can call `#[device]` functions only",
    label = "write `#[device]` before this function",
    note = "an import brings a function and its device form together"
)]
pub trait Helper: 'static {
    /// The function. None if it was refused.
    const FUNCTION: Option<Translated>;

    /// Identifies the type of the function itself.
    fn item() -> TypeId;
}

/// Identifies the type of a function. Each function has a type of its own.
pub fn type_of<F: 'static>(_: F) -> TypeId {
    TypeId::of::<F>()
}

/// A type that stands for a method or an operator.
#[diagnostic::on_unimplemented(
    message = "this method has no counterpart in CUDA C++",
    label = "for a type of your own, write `#[device]` before the `impl` of the method",
    note = "docs/OPERATORS.md lists the methods of numbers"
)]
pub trait Meaning: 'static {
    /// The function. None for an operation of numbers.
    const FUNCTION: Option<Translated>;
}

const fn callee<T: 'static>(
    translated: Option<Translated>,
    function: fn() -> DeviceFunction,
) -> Option<Callee> {
    match translated {
        Some(translated) => {
            Some(Callee { id: TypeId::of::<T>, function, is_named: || true, exact: translated.is_exact() })
        }
        None => None,
    }
}

/// A function that a type names.
pub(super) const fn named<T: Helper>() -> Option<Callee> {
    callee::<T>(T::FUNCTION, || DeviceFunction::translated(T::FUNCTION.unwrap_or(Translated::REFUSED)))
}

/// The function of a slot. The slot has the types of its form, and of the function that the path of
/// the call names.
///
/// The two differ if an import by `*` brings the form, and another function hides the function.
pub const fn function<T: Helper, F: 'static>(_: &Slot<(T, F)>) -> Option<Callee> {
    match named::<T>() {
        Some(callee) => Some(Callee { is_named: || T::item() == TypeId::of::<F>(), ..callee }),
        None => None,
    }
}

/// The function that a slot's method or operator means. None for an operation of numbers.
pub const fn meaning<T: Meaning>(_: &Slot<T>) -> Option<Callee> {
    callee::<T>(T::FUNCTION, || DeviceFunction::translated(T::FUNCTION.unwrap_or(Translated::REFUSED)))
}

/// The translation of a `#[device]` function of this crate.
macro_rules! translated {
    ($function:ident $(::<$($arguments:ident),*>)?) => {
        paste::paste! {
            <[<__warpfold_function_ $function>]$(<$($arguments),*>)? as $crate::language::Helper>::FUNCTION
        }
    };
}
pub(in crate::language) use translated;

/// Whether a function is exact.
pub const fn is_exact<T: Helper>() -> bool {
    match T::FUNCTION {
        Some(function) => function.is_exact(),
        None => true,
    }
}

/// The function of a slot's operator. None for an operator of numbers.
pub const fn operator<Op: 'static, L: Operator<Op, R>, R: 'static>(
    slot: &Slot<OperatorOf<Op, L, R>>,
) -> Option<Callee> {
    meaning(slot)
}

impl<T> Slot<T> {
    /// Makes the slot's type that of the value.
    pub const fn means(&self, _: &T) {}
}

/// A method or an associated function of a type that has a CUDA C++ form. `#[device]` before an
/// `impl` implements it.
///
/// `NAME` is a hash of the name, and `G` is a tuple of the function's own type arguments.
pub trait Method<const NAME: u64, G>: 'static {
    /// The function.
    const FUNCTION: Translated;
}

/// Stands for a method of `T`.
#[derive(Debug)]
pub struct MethodOf<T, const NAME: u64, G>(Marker<(T, G)>);

#[diagnostic::do_not_recommend]
impl<T: Method<NAME, G>, const NAME: u64, G: 'static> Meaning for MethodOf<T, NAME, G> {
    const FUNCTION: Option<Translated> = Some(T::FUNCTION);
}

/// Stands for a method of `T` that is not in an `impl` with `#[device]`. It has a meaning only for a
/// type of another crate that has [`KnownMethod`].
#[derive(Debug)]
pub struct Undeclared<T, const NAME: u64>(Marker<T>);

/// A method or an associated function of a type of another crate. `NAME` is a hash of the
/// name.
///
/// It is an inherent function of the type, with every feature that the type's crate can have here:
/// otherwise a body could mean a function of a trait. A constructor is also listed by name in the
/// macros (`translate/call/device.rs`).
pub trait KnownMethod<const NAME: u64>: 'static {
    /// The function.
    const FUNCTION: Option<Translated>;
}

#[diagnostic::do_not_recommend]
impl<T: KnownMethod<NAME>, const NAME: u64> Meaning for Undeclared<T, NAME> {
    const FUNCTION: Option<Translated> = T::FUNCTION;
}

/// The value of a constructor of a type of another crate.
#[derive(Debug)]
pub struct Made<T>(Marker<T>);

/// The result of a form of an associated function.
#[diagnostic::on_unimplemented(
    message = "this function has no counterpart in CUDA C++",
    label = "for a type of your own, write `#[device]` before the `impl` of the function"
)]
pub trait Makes<T> {}
impl<T> Makes<T> for Made<T> {}
// A form in an `impl` knows the types of its arguments.
impl<T> Makes<T> for () {}

/// Makes the result of a constructor and the type of its path the same.
pub fn made<T, M: Makes<T>>(_: &T, _: M) {}

/// A number for a name (FNV-1a), as the macros compute it.
#[cfg(any(feature = "glam", feature = "nalgebra", feature = "num-complex"))]
pub(super) const fn hash(name: &str) -> u64 {
    let mut rest = name.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    while let [byte, others @ ..] = rest {
        hash = (hash ^ *byte as u64).wrapping_mul(0x0100_0000_01b3);
        rest = others;
    }
    hash
}

/// Stands for a method of numbers.
#[derive(Debug)]
pub struct NumberMethod<T>(Marker<T>);

#[diagnostic::do_not_recommend]
impl<T: Primitive> Meaning for NumberMethod<T> {
    const FUNCTION: Option<Translated> = None;
}

/// Stands for `min`, `max` or `clamp` of numbers.
#[derive(Debug)]
pub struct OrderMethod<T>(Marker<T>);

/// A type that stands for a method with the name of one of these.
#[diagnostic::on_unimplemented(
    message = "`min`, `max` and `clamp` of floats leave open which zero they return",
    label = "write `warpfold::math::minimum(a, b)` or `warpfold::math::maximum(a, b)`, which put -0 below +0",
    note = "for a type of your own, write `#[device]` before the `impl` of the method"
)]
pub trait OrderMeaning: 'static {
    /// See [`Meaning::FUNCTION`].
    const FUNCTION: Option<Translated>;
}
#[diagnostic::do_not_recommend]
impl<T: Ordered> OrderMeaning for OrderMethod<T> {
    const FUNCTION: Option<Translated> = None;
}
#[diagnostic::do_not_recommend]
impl<T: Method<NAME, G>, const NAME: u64, G: 'static> OrderMeaning for MethodOf<T, NAME, G> {
    const FUNCTION: Option<Translated> = Some(T::FUNCTION);
}

/// The function of a slot's `min`, `max` or `clamp`. None for a method of numbers.
pub const fn order<T: OrderMeaning>(_: &Slot<T>) -> Option<Callee> {
    callee::<T>(T::FUNCTION, || DeviceFunction::translated(T::FUNCTION.unwrap_or(Translated::REFUSED)))
}

macro_rules! number_methods {
    ($($stands:ident: $($name:ident)*;)*) => {
        /// The methods of numbers, under the names that the forms of methods have. A form of a
        /// type's own comes first.
        #[allow(missing_docs)]
        pub trait NumberMethods: Sized {
            $($( fn $name<A>(self, _: &Slot<$stands<Self>>, _: A) {} )*)*
        }
    };
}
number_methods! {
    OrderMethod: __warpfold_clamp __warpfold_max __warpfold_min;
    NumberMethod: __warpfold_abs __warpfold_abs_diff __warpfold_acos __warpfold_acosh __warpfold_asin
        __warpfold_asinh __warpfold_atan __warpfold_atan2 __warpfold_atanh __warpfold_cbrt __warpfold_ceil
        __warpfold_cmp __warpfold_copysign __warpfold_cos __warpfold_cosh __warpfold_count_ones
        __warpfold_count_zeros __warpfold_div_ceil __warpfold_div_euclid __warpfold_eq __warpfold_exp
        __warpfold_exp2 __warpfold_exp_m1 __warpfold_floor __warpfold_fract __warpfold_ge __warpfold_gt
        __warpfold_hypot __warpfold_ilog10 __warpfold_ilog2 __warpfold_is_eq __warpfold_is_finite
        __warpfold_is_ge __warpfold_is_gt __warpfold_is_infinite __warpfold_is_le __warpfold_is_lt
        __warpfold_is_multiple_of __warpfold_is_nan __warpfold_is_ne __warpfold_is_negative
        __warpfold_is_normal __warpfold_is_one __warpfold_is_positive __warpfold_is_power_of_two
        __warpfold_is_sign_negative __warpfold_is_sign_positive __warpfold_is_subnormal __warpfold_is_zero
        __warpfold_isqrt __warpfold_le __warpfold_leading_ones __warpfold_leading_zeros __warpfold_ln
        __warpfold_ln_1p __warpfold_log10 __warpfold_log2 __warpfold_lt __warpfold_midpoint
        __warpfold_mul_add __warpfold_ne __warpfold_next_multiple_of __warpfold_next_power_of_two __warpfold_partial_cmp
        __warpfold_pow __warpfold_powf __warpfold_powi __warpfold_recip __warpfold_rem_euclid
        __warpfold_reverse __warpfold_reverse_bits __warpfold_rotate_left __warpfold_rotate_right
        __warpfold_round __warpfold_round_ties_even __warpfold_saturating_abs __warpfold_saturating_add
        __warpfold_saturating_add_signed __warpfold_saturating_div __warpfold_saturating_mul
        __warpfold_saturating_neg __warpfold_saturating_pow __warpfold_saturating_sub __warpfold_signum
        __warpfold_sin __warpfold_sinh __warpfold_sqrt __warpfold_swap_bytes __warpfold_tan __warpfold_tanh
        __warpfold_then __warpfold_to_bits __warpfold_total_cmp __warpfold_trailing_ones
        __warpfold_trailing_zeros __warpfold_trunc __warpfold_unbounded_shl __warpfold_unbounded_shr
        __warpfold_unsigned_abs __warpfold_wrapping_abs __warpfold_wrapping_add
        __warpfold_wrapping_add_signed __warpfold_wrapping_add_unsigned __warpfold_wrapping_div
        __warpfold_wrapping_div_euclid __warpfold_wrapping_mul __warpfold_wrapping_neg
        __warpfold_wrapping_pow __warpfold_wrapping_rem __warpfold_wrapping_rem_euclid
        __warpfold_wrapping_shl __warpfold_wrapping_shr __warpfold_wrapping_sub
        __warpfold_wrapping_sub_unsigned;
}
impl<T> NumberMethods for T {}

/// An operator of two types, or of one type and `()`. `#[device]` before the `impl` of a trait of
/// `core::ops` or `core::cmp` implements it.
///
/// `Op` is a type of [`op`].
#[diagnostic::on_unimplemented(
    message = "this operator of `{Self}` and `{Rhs}` has no counterpart in CUDA C++",
    label = "no counterpart in CUDA C++",
    note = "numbers have operators; for a type of your own, write `#[device]` before the `impl` of the trait"
)]
pub trait Operator<Op, Rhs>: Copy + 'static {
    /// See [`Meaning::FUNCTION`].
    const FUNCTION: Option<Translated> = None;
}

/// Stands for an operator.
#[derive(Debug)]
pub struct OperatorOf<Op, L, R>(Marker<(Op, L, R)>);

#[diagnostic::do_not_recommend]
impl<Op: 'static, L: Operator<Op, R>, R: 'static> Meaning for OperatorOf<Op, L, R> {
    const FUNCTION: Option<Translated> = L::FUNCTION;
}

/// The number of a slot's type.
pub const fn suffix<T: Suffix>(_: &Slot<T>) -> u8 {
    T::NUMBER
}

/// Compiles if there is the operator of a slot.
pub const fn has_operator<Op: 'static, L: Operator<Op, R>, R: 'static>(_: &Slot<OperatorOf<Op, L, R>>) {}

/// Passes the left operand of an operator.
pub fn left<Op, L, R>(_: &Slot<OperatorOf<Op, L, R>>, value: L) -> L {
    value
}

/// Passes the right operand of an operator.
pub fn right<Op, L, R>(_: &Slot<OperatorOf<Op, L, R>>, value: R) -> R {
    value
}

macro_rules! operators {
    ($($kind:ident: $($name:ident)*;)*) => {
        /// The operators, as types.
        pub mod op {
            $($(
                #[doc = concat!("The operator of the trait `", stringify!($name), "`.")]
                #[derive(Debug)]
                pub struct $name;
            )*)*
        }
        $($( operators! { @$kind $name } )*)*
    };
    (@arithmetic $name:ident) => {
        #[diagnostic::do_not_recommend]
        impl<L: Primitive + core::ops::$name<R>, R: Primitive> Operator<op::$name, R> for L {}
    };
    (@unary $name:ident) => {
        #[diagnostic::do_not_recommend]
        impl<L: Primitive + core::ops::$name> Operator<op::$name, ()> for L {}
    };
    (@index $name:ident) => {};
    (@comparison $name:ident) => {
        #[diagnostic::do_not_recommend]
        impl<L: Primitive + core::cmp::$name> Operator<op::$name, L> for L {}
    };
}
operators! {
    arithmetic: Add Sub Mul Div Rem BitAnd BitOr BitXor Shl Shr AddAssign SubAssign MulAssign DivAssign RemAssign
        BitAndAssign BitOrAssign BitXorAssign ShlAssign ShrAssign;
    unary: Neg Not;
    comparison: PartialEq PartialOrd;
    index: Index;
}

#[diagnostic::do_not_recommend]
impl<T: Operator<op::PartialEq, T> + PartialEq + crate::DeviceType, const N: usize>
    Operator<op::PartialEq, [T; N]> for [T; N]
{
    const FUNCTION: Option<Translated> = translated!(equal_arrays::<T, N>);
}

/// Whether two arrays have equal elements.
#[allow(dead_code)]
#[crate::device]
fn equal_arrays<T: Operator<op::PartialEq, T> + PartialEq + crate::DeviceType, const N: usize>(
    left: [T; N],
    right: [T; N],
) -> bool {
    let mut equal = true;
    for k in 0..N {
        equal = equal && left[k] == right[k];
    }
    equal
}

#[diagnostic::do_not_recommend]
impl<T: Copy + 'static, const N: usize> Operator<op::Index, usize> for [T; N] {}

/// Stands for an operation of numbers, if the types at this place are known only when the source is
/// rendered. Another operation is then refused.
#[derive(Debug)]
pub struct OfNumbers;

#[diagnostic::do_not_recommend]
impl Meaning for OfNumbers {
    const FUNCTION: Option<Translated> = None;
}

/// The operands of an operator in generic code.
#[derive(Debug)]
pub struct Operands<Op, L, R>(Marker<(Op, L, R)>);

/// The operands of the operator `Op`.
pub fn operands<Op, L, R>(_: &L, _: &R) -> Operands<Op, L, R> {
    Operands(PhantomData)
}

/// The operator of operands whose bounds say that they have it.
pub trait Bounded<Op, L, R> {
    /// What the operator means.
    fn meaning(&self) -> OperatorOf<Op, L, R>;
}
impl<Op, L: Operator<Op, R>, R> Bounded<Op, L, R> for &Operands<Op, L, R> {
    fn meaning(&self) -> OperatorOf<Op, L, R> {
        OperatorOf(PhantomData)
    }
}

/// The operator of all other operands. Method resolution takes [`Bounded`] first, which is
/// implemented for a reference.
pub trait Unbounded {
    /// What the operator means.
    fn meaning(&self) -> OfNumbers;
}
impl<Op, L, R> Unbounded for Operands<Op, L, R> {
    fn meaning(&self) -> OfNumbers {
        OfNumbers
    }
}
