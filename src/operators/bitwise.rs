use super::{Integer, operators};
use crate::{Commutative, Monoid, monoid};

operators! {
    /// `left & right`, bit by bit.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::BitAnd};
    ///
    /// let in_all = Reduction::<BitAnd<u8>>::new(Device::auto());
    /// assert_eq!(in_all.run(&[0b0111, 0b1110, 0b0110])?, 0b0110);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    BitAnd;
    /// `left | right`, bit by bit.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::BitOr};
    ///
    /// let in_any = Reduction::<BitOr<u8>>::new(Device::auto());
    /// assert_eq!(in_any.run(&[0b0001, 0b0100, 0b0101])?, 0b0101);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    BitOr;
    /// `left ^ right`, bit by bit.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::BitXor};
    ///
    /// // Equal items cancel in pairs.
    /// let unpaired = Reduction::<BitXor<u32>>::new(Device::auto());
    /// assert_eq!(unpaired.run(&[17, 42, 17])?, 42);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
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
    ///
    /// ```
    /// use warpfold::{Device, Reduction, operators::All};
    ///
    /// let all = Reduction::<All>::new(Device::auto());
    /// assert!(!all.run(&[true, false, true])?);
    /// assert!(all.run(&[])?);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    All & true;
    /// Whether at least one item is true.
    ///
    /// ```
    /// use warpfold::{Device, Scan, operators::Any};
    ///
    /// let seen = Scan::<Any>::new(Device::auto());
    /// assert_eq!(seen.inclusive(&[false, true, false])?, [false, true, true]);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Any | false;
}
