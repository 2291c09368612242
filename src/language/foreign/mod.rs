//! Operators and functions of types of other crates, in kernels. They have the bits of their crate.

#[cfg(feature = "glam")]
mod glam;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "num-complex")]
mod num_complex;
mod wrapping;

use super::function::Translated;
use super::probe::Local;
use super::syntax::{Block, Body, Expression, Variable};

/// The function of an operator whose operands are of types `L` and `R`, and its result of type `O`.
pub(super) const fn function<L: Local, R: Local, O: Local>(
    name: &'static str,
    body: &'static Body,
) -> Option<Translated> {
    Some(Translated {
        name,
        file: file!(),
        body,
        result: O::ty,
        types: const { &[L::ty, R::ty, O::ty] },
        constants: &[],
        callees: &[],
        exact: true,
    })
}

/// The parameters of an operator with two operands.
const PARAMETERS: &[Variable] =
    &[Variable { name: "left", ty: 0, mutable: false }, Variable { name: "right", ty: 1, mutable: false }];

/// The body of a function with the first `parameters` parameters.
const fn body(parameters: usize, value: &'static Expression) -> Body {
    Body {
        locals: PARAMETERS.split_at(parameters).0,
        parameters,
        block: Block { statements: &[], value: Some((1, value)) },
    }
}

const OPERANDS: &[Expression] = &[Expression::Local(0), Expression::Local(1)];
const OPERAND: &[Expression] = &[Expression::Local(0)];

/// The bodies of the operators that act on each field, under the names of their traits.
// Each feature uses some of them.
#[allow(dead_code, non_upper_case_globals)]
mod bodies {
    use super::{Body, OPERAND, OPERANDS, body};
    use crate::language::syntax::ByFields::{self, Binary, Element, Negate, Not as Invert};
    use crate::language::syntax::{Expression, Operator};

    const fn of_two(operator: ByFields) -> Expression {
        Expression::ByFields(operator, OPERANDS, 2)
    }

    macro_rules! bodies {
        ($($name:ident $operator:ident;)*) => {$(
            pub(super) static $name: Body = body(2, &const { of_two(Binary(Operator::$operator)) });
        )*};
    }
    bodies! {
        Add Add; Sub Subtract; Mul Multiply; Div Divide; Rem Remainder;
        BitAnd BitAnd; BitOr BitOr; BitXor BitXor; Shl ShiftLeft; Shr ShiftRight;
        AddAssign Add; SubAssign Subtract; MulAssign Multiply; DivAssign Divide; RemAssign Remainder;
        BitAndAssign BitAnd; BitOrAssign BitOr; BitXorAssign BitXor; ShlAssign ShiftLeft; ShrAssign ShiftRight;
        PartialEq Equal;
    }
    pub(super) static Index: Body = body(2, &const { of_two(Element) });
    pub(super) static Neg: Body = body(1, &Expression::ByFields(Negate, OPERAND, 2));
    pub(super) static Not: Body = body(1, &Expression::ByFields(Invert, OPERAND, 2));
}

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
            const FUNCTION: Option<crate::language::function::Translated> = super::function::<$left, $right, $result>(
                stringify!($operator),
                &super::bodies::$operator,
            );
        }
    };
}
use by_fields;
