use crate::types::DeviceType;

/// An associative operator with an identity.
///
/// An implementation obeys two laws:
///
/// - associativity: `combine(a, combine(b, c))` equals `combine(combine(a, b), c)`;
/// - identity: `combine(identity(), a)` and `combine(a, identity())` equal `a`.
///
/// Operands stay in order, so the operator need not commute. `warpfold::laws` (feature
/// `laws`) tests both laws on values of your choice.
///
/// `&self` holds run-time parameters such as a modulus or a threshold. They reach the GPU as a
/// kernel argument, so a new value compiles nothing. An operator without parameters is a zero-sized
/// type with `Default`.
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
    /// The type of the combined values: a number, an array, a tuple, or a struct that derives
    /// [`DeviceType`].
    ///
    /// ```
    /// use warpfold::{Device, Monoid, Reduction, monoid};
    ///
    /// /// The largest number, and where it was measured.
    /// #[derive(Clone, Copy, Default)]
    /// struct Largest;
    ///
    /// #[monoid]
    /// impl Monoid for Largest {
    ///     type Item = (f32, u32);
    ///     fn identity(&self) -> (f32, u32) { (f32::NEG_INFINITY, u32::MAX) }
    ///     fn combine(&self, left: (f32, u32), right: (f32, u32)) -> (f32, u32) {
    ///         if right.0 > left.0 { right } else { left }
    ///     }
    /// }
    ///
    /// let largest = Reduction::<Largest>::new(Device::auto());
    /// assert_eq!(largest.run(&[(1.5, 10), (4.0, 11), (2.0, 12)])?, (4.0, 11));
    /// assert_eq!(largest.run((&[1.5, 4.0, 2.0], &[10, 11, 12]))?, (4.0, 11));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    type Item: DeviceType;

    /// The identity: the value of an empty input, and the first output of an exclusive scan.
    ///
    /// It is never combined with an item, and it is called only where it is a result. So a
    /// semigroup, whose `identity` panics, works for reductions of inputs that are not empty and
    /// for inclusive scans.
    fn identity(&self) -> Self::Item;

    /// The value of two neighbouring runs of items. `left` is the value of the first run.
    ///
    /// `combine` must terminate for every pair of values: the items of one input, and their
    /// combinations. The GPU may evaluate extra pairs and discard the results. The operands of an
    /// extra pair need not be neighbours, and may be the same value twice.
    ///
    /// The CPU combines only neighbours. It calls `combine` on rayon threads, so `combine` must not
    /// wait for other work of that thread pool.
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item;
}

/// A [`Monoid`] that commutes: `combine(a, b)` equals `combine(b, a)`.
///
/// [`Reduction`](crate::Reduction) and [`Scan`](crate::Scan) keep the order and do not require it.
/// Most rungs of the `warpfold::ladder` do. The author of the operator promises it, and
/// `warpfold::laws::commutativity` tests it.
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
    /// Whether `combine` is exactly the addition of an integer or a float of 32 or 64 bits.
    ///
    /// Atomic instructions of a GPU can perform this addition in memory.
    const IS_ADDITION: bool = false;
}
