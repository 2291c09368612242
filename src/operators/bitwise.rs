use super::{Integer, operators};
use crate::{Commutative, Monoid, monoid};

operators! {
    /// `left & right`, bit by bit.
    BitAnd;
    /// `left | right`, bit by bit.
    BitOr;
    /// `left ^ right`, bit by bit.
    BitXor;
}

macro_rules! bitwise {
    ($($name:ident $operator:tt $identity:expr;)*) => {$(
        #[monoid]
        impl<T: Integer> Monoid for $name<T> {
            type Item = T;
            fn identity(&self) -> T {
                $identity
            }
            #[inline]
            fn combine(&self, left: T, right: T) -> T {
                left $operator right
            }
        }
        impl<T: Integer> Commutative for $name<T> {}
    )*};
}
bitwise! {
    BitAnd & !T::zero();
    BitOr | T::zero();
    BitXor ^ T::zero();
}

macro_rules! logical {
    ($($(#[$attribute:meta])* $name:ident $operator:tt $identity:literal;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name;

        #[monoid]
        impl Monoid for $name {
            type Item = bool;
            fn identity(&self) -> bool {
                $identity
            }
            #[inline]
            fn combine(&self, left: bool, right: bool) -> bool {
                // `&` and `|` evaluate both operands without a branch, which `&&` and `||` would
                // add.
                left $operator right
            }
        }
        impl Commutative for $name {}
    )*};
}
logical! {
    /// Whether every item is true.
    All & true;
    /// Whether at least one item is true.
    Any | false;
}
