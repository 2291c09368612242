//! Operators and functions of types of other crates, in kernels. They have the bits of their crate.

#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "num-complex")]
mod num_complex;
mod wrapping;

use super::function::{Translated, Type};
use super::probe::Local;
use super::syntax::{Block, Body, ByFields, Expression, Variable};

/// The function of an operator whose operands are of types `L` and `R`, and its result of type `O`.
const fn operator<L: Local, R: Local, O: Local>(
    name: &'static str,
    body: &'static Body,
) -> Option<Translated> {
    function::<O>(name, body, const { &[L::ty, R::ty, O::ty] })
}

/// A function with operands of type `T`, and a result of type `O`.
#[cfg(any(feature = "glam", feature = "nalgebra", feature = "num-complex"))]
const fn of_parts<T: Local, O: Local>(name: &'static str, body: &'static Body) -> Option<Translated> {
    function::<O>(name, body, const { &[T::ty, T::ty, O::ty, T::ty, T::ty] })
}

/// A function, with the types of its slots. The result has slot 2.
const fn function<O: Local>(
    name: &'static str,
    body: &'static Body,
    types: &'static [fn() -> Type],
) -> Option<Translated> {
    Some(Translated {
        name,
        file: file!(),
        body,
        result: O::ty,
        types,
        constants: &[],
        callees: &[],
        exact: true,
    })
}

const fn parameter(name: &'static str, ty: usize) -> Variable {
    Variable { name, ty, mutable: false }
}

/// The parameters of a function. An operator has the first one or two.
const PARAMETERS: &[Variable] = &[parameter("x", 0), parameter("y", 1), parameter("z", 3), parameter("w", 4)];

/// The body of a function with the first `parameters` parameters.
const fn body(parameters: usize, value: &'static Expression) -> Body {
    Body {
        locals: PARAMETERS.split_at(parameters).0,
        parameters,
        block: Block { statements: &[], value: Some((1, value)) },
    }
}

/// The parameters as values.
const OPERANDS: &[Expression] =
    &[Expression::Local(0), Expression::Local(1), Expression::Local(2), Expression::Local(3)];

/// What acts on each field, with the first `operands` parameters.
const fn on_fields(operator: ByFields, operands: usize) -> Expression {
    Expression::ByFields(operator, OPERANDS.split_at(operands).0, 2)
}

/// The bodies of the operators that act on each field, under the names of their traits.
// Each feature uses some of them.
#[allow(dead_code, non_upper_case_globals)]
mod bodies {
    use super::{Body, body, on_fields};
    use crate::language::syntax::ByFields::{Binary, Element, Negate, New, Not as Invert, Splat};
    use crate::language::syntax::Operator;

    macro_rules! bodies {
        ($($name:ident $operands:literal $operator:expr;)*) => {$(
            pub(super) static $name: Body = body($operands, &const { on_fields($operator, $operands) });
        )*};
    }
    bodies! {
        Add 2 Binary(Operator::Add); AddAssign 2 Binary(Operator::Add);
        Sub 2 Binary(Operator::Subtract); SubAssign 2 Binary(Operator::Subtract);
        Mul 2 Binary(Operator::Multiply); MulAssign 2 Binary(Operator::Multiply);
        Div 2 Binary(Operator::Divide); DivAssign 2 Binary(Operator::Divide);
        Rem 2 Binary(Operator::Remainder); RemAssign 2 Binary(Operator::Remainder);
        BitAnd 2 Binary(Operator::BitAnd); BitAndAssign 2 Binary(Operator::BitAnd);
        BitOr 2 Binary(Operator::BitOr); BitOrAssign 2 Binary(Operator::BitOr);
        BitXor 2 Binary(Operator::BitXor); BitXorAssign 2 Binary(Operator::BitXor);
        Shl 2 Binary(Operator::ShiftLeft); ShlAssign 2 Binary(Operator::ShiftLeft);
        Shr 2 Binary(Operator::ShiftRight); ShrAssign 2 Binary(Operator::ShiftRight);
        PartialEq 2 Binary(Operator::Equal);
        Index 2 Element;
        Neg 1 Negate;
        Not 1 Invert;
        NEW_1 1 New; NEW_2 2 New; NEW_3 3 New; NEW_4 4 New;
        SPLAT 1 Splat;
    }
}

/// Gives types functions of their crate: `"name" Type = function;`.
#[cfg(any(feature = "glam", feature = "nalgebra", feature = "num-complex"))]
macro_rules! methods {
    ($($(#[generics($($generics:tt)*)])? $name:literal $type:ty = $function:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl$(<$($generics)*>)? KnownMethod<{ hash($name) }> for $type {
            const FUNCTION: Option<Translated> = $function;
        }
    )*};
}
#[cfg(any(feature = "glam", feature = "nalgebra", feature = "num-complex"))]
use methods;

/// Gives types operators that act on each field: `Add: Left, Right => Result;`. An operator with
/// one operand has `()` on its right.
macro_rules! by_fields {
    ($(#[generics($($generics:tt)*)])? $($operator:ident)*: $left:ty, $right:ty => $result:ty) => {
        by_fields! { @each [$($($generics)*)?] [$($operator)*] [$left] [$right] [$result] }
    };
    (@each $generics:tt [$($operator:ident)*] $left:tt $right:tt $result:tt) => {
        $( by_fields! { @one $generics $operator $left $right $result } )*
    };
    (@one [$($generics:tt)*] $operator:ident [$left:ty] [$right:ty] [$result:ty]) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> crate::language::callee::Operator<crate::language::callee::op::$operator, $right>
            for $left
        {
            const FUNCTION: Option<crate::language::function::Translated> = super::operator::<$left, $right, $result>(
                stringify!($operator),
                &super::bodies::$operator,
            );
        }
    };
}
use by_fields;
