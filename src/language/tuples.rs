//! Comparisons of tuples: equal if all parts are, and ordered by the first parts that differ.

use std::cmp::Ordering;

use super::callee::{Operator, op, translated};
use super::function::Translated;
use crate::DeviceType;

/// A part that can be compared.
pub trait ComparedPart: Operator<op::PartialEq, Self> + PartialEq + DeviceType {}
impl<T: Operator<op::PartialEq, T> + PartialEq + DeviceType> ComparedPart for T {}

/// A part that can be ordered.
pub trait OrderedPart: ComparedPart + Operator<op::PartialOrd, Self> + PartialOrd {}
impl<T: ComparedPart + Operator<op::PartialOrd, T> + PartialOrd> OrderedPart for T {}

macro_rules! tuples {
    ($($equal:ident $order:ident: $($part:ident $index:tt),*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($part: ComparedPart),*> Operator<op::PartialEq, ($($part,)*)> for ($($part,)*) {
            const FUNCTION: Option<Translated> = translated!($equal::<$($part),*>);
        }

        #[allow(dead_code)]
        #[crate::device]
        fn $equal<$($part: ComparedPart),*>(left: ($($part,)*), right: ($($part,)*)) -> bool {
            $(left.$index == right.$index)&&*
        }

        #[diagnostic::do_not_recommend]
        impl<$($part: OrderedPart),*> Operator<op::PartialOrd, ($($part,)*)> for ($($part,)*) {
            const FUNCTION: Option<Translated> = translated!($order::<$($part),*>);
        }

        #[allow(dead_code)]
        #[crate::device]
        fn $order<$($part: OrderedPart),*>(left: ($($part,)*), right: ($($part,)*)) -> Option<Ordering> {
            $(
                if left.$index < right.$index {
                    return Some(Ordering::Less);
                }
                if left.$index > right.$index {
                    return Some(Ordering::Greater);
                }
                if left.$index != right.$index {
                    return None;
                }
            )*
            Some(Ordering::Equal)
        }
    )*};
}
tuples! {
    equal_tuples_2 order_tuples_2: A 0, B 1;
    equal_tuples_3 order_tuples_3: A 0, B 1, C 2;
    equal_tuples_4 order_tuples_4: A 0, B 1, C 2, D 3;
    equal_tuples_5 order_tuples_5: A 0, B 1, C 2, D 3, E 4;
    equal_tuples_6 order_tuples_6: A 0, B 1, C 2, D 3, E 4, F 5;
    equal_tuples_7 order_tuples_7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    equal_tuples_8 order_tuples_8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
