use crate::types::DeviceType;

/// An associative operator with an identity.
///
/// `combine(a, combine(b, c))` must equal `combine(combine(a, b), c)`, and `combine(identity(), a)` and
/// `combine(a, identity())` must equal `a`. Nothing more is asked: operands stay in order, so the operator need not
/// commute. [`laws`](mod@crate::laws) (feature `laws`) tests both on your own values.
///
/// `&self` carries run-time parameters such as a modulus or a threshold. They reach a GPU as a kernel argument, so
/// that changing them never compiles anything again. An operator without parameters is a zero-sized type with
/// `Default`.
///
/// ```
/// use warpfold::{Monoid, tree};
///
/// /// Addition modulo `self.modulus`.
/// #[derive(Clone, Copy)]
/// struct ModularSum { modulus: u32 }
///
/// impl Monoid for ModularSum {
///     type Item = u32;
///     fn identity(&self) -> u32 { 0 }
///     fn combine(&self, left: u32, right: u32) -> u32 { (left + right) % self.modulus }
/// }
///
/// assert_eq!(tree::bracket(&ModularSum { modulus: 7 }, &[3, 4, 5, 6]), 4);
/// ```
pub trait Monoid: Copy + Send + Sync + 'static {
    /// What is combined.
    type Item: DeviceType;

    /// The value of an empty input, and of the first place of an exclusive scan. It is no part of any other result, and is
    /// not called for another: with a semigroup, whose `identity` panics, inputs that are not empty are reduced, and
    /// scanned inclusively.
    fn identity(&self) -> Self::Item;

    /// The value of two neighbouring runs of items, of which `left` came first.
    ///
    /// It comes to an end for any two values that it may meet: items of one input, and their combinations. On a GPU, values
    /// may be combined that are no neighbours, or one with itself, where that costs less than to leave it out; nothing of
    /// that is in a result. On the CPU, neighbours alone are combined, and threads of
    /// rayon call `combine`: it does not wait for other work of theirs.
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item;
}

/// A [`Monoid`] whose operands may change places: `combine(a, b)` equals `combine(b, a)`.
///
/// Nothing of [`Reduction`](crate::Reduction) and [`Scan`](crate::Scan) asks for it, since they keep the order; most rungs of
/// the [`ladder`](crate::ladder) do. It is a promise of the operator's author, which
/// [`laws::commutativity`](crate::laws::commutativity) tests.
///
/// ```
/// use warpfold::{Commutative, Monoid};
///
/// #[derive(Clone, Copy, Default)]
/// struct Gcd;
///
/// impl Monoid for Gcd {
///     type Item = u32;
///     fn identity(&self) -> u32 { 0 }
///     fn combine(&self, mut a: u32, mut b: u32) -> u32 {
///         while b != 0 { (a, b) = (b, a % b); }
///         a
///     }
/// }
/// impl Commutative for Gcd {}
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say that it commutes",
    note = "if `combine(a, b)` equals `combine(b, a)`, write `impl Commutative for ...`"
)]
pub trait Commutative: Monoid {
    /// Whether `combine` is nothing but the addition of an integer or a float of 32 or 64 bits, which a GPU's memory can do by
    /// itself.
    const IS_ADDITION: bool = false;
}
