use std::cmp::Ordering;
use std::num::Wrapping;

use super::by_fields;
use crate::DeviceType;
use crate::language::callee::{Operator, op, translated};
use crate::language::function::Translated;
use crate::language::primitive::Primitive;

by_fields! {
    #[generics(T: Primitive + DeviceType + Default)]
    Add Sub Mul Div Rem BitAnd BitOr BitXor: Wrapping<T>, Wrapping<T> => Wrapping<T>
}
by_fields! {
    #[generics(T: Primitive + DeviceType + Default)]
    AddAssign SubAssign MulAssign DivAssign RemAssign BitAndAssign BitOrAssign BitXorAssign:
    Wrapping<T>, Wrapping<T> => Wrapping<T>
}
by_fields! {
    #[generics(T: Primitive + DeviceType + Default)]
    AddAssign SubAssign MulAssign DivAssign RemAssign BitAndAssign BitOrAssign BitXorAssign:
    Wrapping<T>, T => Wrapping<T>
}
by_fields! { #[generics(T: Primitive + DeviceType + Default)] Neg Not: Wrapping<T>, () => Wrapping<T> }
by_fields! { #[generics(T: Primitive + DeviceType + Default)] PartialEq: Wrapping<T>, Wrapping<T> => bool }
by_fields! {
    #[generics(T: Primitive + DeviceType + Default)]
    Shl Shr ShlAssign ShrAssign: Wrapping<T>, usize => Wrapping<T>
}

#[diagnostic::do_not_recommend]
impl<T: Primitive + DeviceType + Default + PartialOrd> Operator<op::PartialOrd, Wrapping<T>> for Wrapping<T> {
    const FUNCTION: Option<Translated> = translated!(compared::<T>);
}

/// The order of the numbers.
#[allow(dead_code)]
#[crate::device]
fn compared<T: Primitive + DeviceType + Default + PartialOrd>(
    left: Wrapping<T>,
    right: Wrapping<T>,
) -> Option<Ordering> {
    left.0.partial_cmp(&right.0)
}
