use nalgebra::{Point, Quaternion, SMatrix, Scalar};

use super::{bodies, by_fields, methods, of_parts};
use crate::DeviceType;
use crate::language::callee::{KnownMethod, Operator, hash, op, translated};
use crate::language::function::Translated;
use crate::language::primitive::Primitive;

/// The entries of a matrix.
pub trait Number: Primitive + DeviceType + Scalar {}
impl<T: Primitive + DeviceType + Scalar> Number for T {}

by_fields! {
    #[generics(T: Number, const R: usize, const C: usize)]
    Add Sub AddAssign SubAssign: SMatrix<T, R, C>, SMatrix<T, R, C> => SMatrix<T, R, C>
}
by_fields! {
    #[generics(T: Number, const R: usize, const C: usize)]
    Mul Div MulAssign DivAssign: SMatrix<T, R, C>, T => SMatrix<T, R, C>
}
by_fields! {
    #[generics(T: Number, const R: usize, const C: usize)] Neg: SMatrix<T, R, C>, () => SMatrix<T, R, C>
}
by_fields! {
    #[generics(T: Number, const R: usize, const C: usize)]
    PartialEq: SMatrix<T, R, C>, SMatrix<T, R, C> => bool
}
by_fields! { #[generics(T: Number, const R: usize, const C: usize)] Index: SMatrix<T, R, C>, usize => T }

by_fields! {
    #[generics(T: Number, const D: usize)] Sub: Point<T, D>, Point<T, D> => SMatrix<T, D, 1>
}
by_fields! {
    #[generics(T: Number, const D: usize)]
    Add Sub AddAssign SubAssign: Point<T, D>, SMatrix<T, D, 1> => Point<T, D>
}
by_fields! {
    #[generics(T: Number, const D: usize)] Mul Div MulAssign DivAssign: Point<T, D>, T => Point<T, D>
}
by_fields! { #[generics(T: Number, const D: usize)] PartialEq: Point<T, D>, Point<T, D> => bool }
by_fields! { #[generics(T: Number, const D: usize)] Index: Point<T, D>, usize => T }

by_fields! {
    #[generics(T: Number)]
    Add Sub AddAssign SubAssign: Quaternion<T>, Quaternion<T> => Quaternion<T>
}
by_fields! { #[generics(T: Number)] Mul Div MulAssign DivAssign: Quaternion<T>, T => Quaternion<T> }
by_fields! { #[generics(T: Number)] Neg: Quaternion<T>, () => Quaternion<T> }
by_fields! { #[generics(T: Number)] PartialEq: Quaternion<T>, Quaternion<T> => bool }
by_fields! { #[generics(T: Number)] Index: Quaternion<T>, usize => T }

#[diagnostic::do_not_recommend]
impl<T: Number, const R: usize, const C: usize> Operator<op::Index, (usize, usize)> for SMatrix<T, R, C> {
    const FUNCTION: Option<Translated> = translated!(entry::<T, R, C>);
}

/// The entry in a row and a column.
#[allow(dead_code)]
#[crate::device]
fn entry<T: Number, const R: usize, const C: usize>(matrix: SMatrix<T, R, C>, at: (usize, usize)) -> T {
    let position = if at.0 < R { at.0 + at.1 * R } else { R * C };
    matrix[position]
}

/// Products with a number on the left, which is a number of Rust itself.
macro_rules! numbers_on_the_left {
    ($($number:ty)*) => {$(
        by_fields! {
            #[generics(const R: usize, const C: usize)]
            Mul: $number, SMatrix<$number, R, C> => SMatrix<$number, R, C>
        }
        by_fields! { #[generics(const D: usize)] Mul: $number, Point<$number, D> => Point<$number, D> }
        by_fields! { Mul: $number, Quaternion<$number> => Quaternion<$number> }
    )*};
}
numbers_on_the_left! { f32 f64 }

methods! {
    #[generics(T: Number)] "new" SMatrix<T, 1, 1> = of_parts::<T, Self>("new", &bodies::NEW_1);
    #[generics(T: Number)] "new" SMatrix<T, 2, 1> = of_parts::<T, Self>("new", &bodies::NEW_2);
    #[generics(T: Number)] "new" SMatrix<T, 3, 1> = of_parts::<T, Self>("new", &bodies::NEW_3);
    #[generics(T: Number)] "new" SMatrix<T, 4, 1> = of_parts::<T, Self>("new", &bodies::NEW_4);
    #[generics(T: Number)] "new" SMatrix<T, 1, 2> = of_parts::<T, Self>("new", &bodies::NEW_2);
    #[generics(T: Number)] "new" SMatrix<T, 1, 3> = of_parts::<T, Self>("new", &bodies::NEW_3);
    #[generics(T: Number)] "new" SMatrix<T, 1, 4> = of_parts::<T, Self>("new", &bodies::NEW_4);
    #[generics(T: Number)] "new" Point<T, 1> = of_parts::<T, Self>("new", &bodies::NEW_1);
    #[generics(T: Number)] "new" Point<T, 2> = of_parts::<T, Self>("new", &bodies::NEW_2);
    #[generics(T: Number)] "new" Point<T, 3> = of_parts::<T, Self>("new", &bodies::NEW_3);
    #[generics(T: Number)] "new" Point<T, 4> = of_parts::<T, Self>("new", &bodies::NEW_4);
}
