//! The operators of this crate. Each is a zero-sized type with `Default`.
//!
//! | operator | items | identity | exact | commutes |
//! | --- | --- | --- | --- | --- |
//! | [`Sum`], [`Product`] | integers (wrapping), floats | 0 (-0.0), 1 | yes | yes |
//! | [`Min`], [`Max`] | integers, floats (NaN propagates) | greatest, least value | yes | yes |
//! | [`MinNumber`], [`MaxNumber`] | floats (NaN ignored) | NaN | yes | yes |
//! | [`BitAnd`], [`BitOr`], [`BitXor`] | integers | all ones, 0, 0 | yes | yes |
//! | [`All`], [`Any`] | `bool` | true, false | yes | yes |
//! | [`Matrix2Product`] | `[[T; 2]; 2]`, rows | identity matrix | yes | no |
//! | [`AffineComposition`] | `[T; 2]` | `[1, 0]` | yes | no |
//!
//! | operator made of others | items |
//! | --- | --- |
//! | [`Both`] | a part for each of two operators |
//! | [`Segmented`] | with a flag where a segment starts |
//! | [`Reversed`] | those of the operator, whose operands are exchanged |
//! | [`Optional`] | may be missing |
//! | [`SumOf`] | those of any type that has `+` |
//!
//! [`aggregates`] also prepare the elements and present the result: means, variances, histograms.
//!
//! Exact operators return the same bits on every backend. Float sums and products are associative
//! only up to rounding. The bracket fixes one order of operations, and so the bits.

mod aggregate;
pub mod aggregates;
mod bitwise;
mod combinators;
mod composition;
pub mod math;
mod monoid;
mod number;
mod order;
mod sum;
pub mod tree;

pub use aggregate::Together;
#[doc(hidden)]
pub use aggregate::{Aggregate, Item};
#[doc(hidden)]
pub use aggregates::Function;
pub use bitwise::{All, Any, BitAnd, BitOr, BitXor};
pub use combinators::{Both, Flagged, Optional, Reversed, Segmented, SumOf};
pub use composition::{AffineComposition, Matrix2Product};
#[doc(hidden)]
pub use monoid::{Commutative, Monoid};
pub use number::{Integer, Number, Real};
pub use order::{Max, MaxNumber, Min, MinNumber};
pub use sum::{Product, Sum};

/// Declares operators that store only the type of their items.
macro_rules! operators {
    ($($(#[$attribute:meta])* $name:ident;)*) => {$(
        $(#[$attribute])*
        pub struct $name<T>(std::marker::PhantomData<fn() -> T>);

        impl<T> $name<T> {
            /// Creates the operator.
            ///
            #[doc = concat!("```\nlet operator = warpfold::operators::", stringify!($name), "::<f32>::new();\n```")]
            pub const fn new() -> Self {
                Self(std::marker::PhantomData)
            }
        }
        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self::new()
            }
        }
        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T> Copy for $name<T> {}
        impl<T> std::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )*};
}
use operators;
