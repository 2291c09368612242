//! Operators that are made of other operators, as a crate of a user would write them.

use std::ops::Add;

use warpfold::language::callee::{Operator, op};
use warpfold::{DeviceMonoid, DeviceType, Maybe, Monoid, Tuple2, monoid};

use super::operators;

operators! {
    /// `left + right` of any type that has `+` in kernels. Your own types have it with `#[device]`
    /// before the `impl` of `Add`. Vectors, matrices and complex numbers of other crates have it,
    /// too. The sum of no items is `T::default()`. For numbers, [`Sum`](crate::operators::Sum) has the identity of the sum, and says
    /// that it commutes.
    ///
    /// ```
    /// use std::ops::Add;
    /// use warpfold::{Device, DeviceType, Reduction, device, operators::SumOf};
    ///
    /// #[derive(Clone, Copy, Debug, Default, PartialEq, DeviceType)]
    /// #[repr(C)]
    /// struct Force { x: f64, y: f64 }
    ///
    /// #[device]
    /// impl Add for Force {
    ///     type Output = Self;
    ///     fn add(self, other: Self) -> Self { Self { x: self.x + other.x, y: self.y + other.y } }
    /// }
    ///
    /// let forces = [Force { x: 1.0, y: 0.5 }, Force { x: -3.0, y: 2.0 }];
    /// let total = Reduction::<SumOf<Force>>::new(Device::auto()).run(&forces)?;
    /// assert_eq!(total, Force { x: -2.0, y: 2.5 });
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    SumOf;
}

#[monoid]
impl<T: DeviceType + Default + Add<Output = T> + Operator<op::Add, T>> Monoid for SumOf<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::default()
    }
    #[inline]
    fn combine(&self, left: T, right: T) -> T {
        left + right
    }
}

/// Two operators at once, each on its own part of an item.
///
/// ```
/// use warpfold::operators::{Both, Max, Sum};
/// use warpfold::{Device, Reduction, Tuple2};
///
/// let both = Reduction::<Both<Sum<u32>, Max<f32>>>::new(Device::auto());
/// assert_eq!(both.run(&[Tuple2(1, 0.5), Tuple2(2, -3.0)])?, Tuple2(3, 0.5));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Both<A, B>(pub A, pub B);

#[monoid]
impl<A: DeviceMonoid, B: DeviceMonoid> Monoid for Both<A, B> {
    type Item = Tuple2<A::Item, B::Item>;
    fn identity(&self) -> Self::Item {
        Tuple2(self.0.identity(), self.1.identity())
    }
    #[inline]
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
        Tuple2(self.0.combine(left.0, right.0), self.1.combine(left.1, right.1))
    }
}

/// An item of [`Segmented`].
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Flagged<T: DeviceType> {
    /// The value.
    pub value: T,
    /// Whether a segment starts here.
    pub starts: bool,
}

/// An operator that starts anew at each flag. A scan by it is a scan of each segment.
///
/// ```
/// use warpfold::operators::{Flagged, Segmented, Sum};
/// use warpfold::{Device, Scan};
///
/// let items = [(1, true), (2, false), (5, true), (1, false)];
/// let items = items.map(|(value, starts)| Flagged { value, starts });
/// let sums = Scan::<Segmented<Sum<u32>>>::new(Device::auto()).inclusive(&items)?;
/// assert_eq!(sums.iter().map(|item| item.value).collect::<Vec<_>>(), [1, 3, 5, 6]);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Segmented<M>(pub M);

#[monoid]
impl<M: DeviceMonoid> Monoid for Segmented<M> {
    type Item = Flagged<M::Item>;
    fn identity(&self) -> Self::Item {
        Flagged { value: self.0.identity(), starts: false }
    }
    #[inline]
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
        if right.starts {
            return right;
        }
        Flagged { value: self.0.combine(left.value, right.value), starts: left.starts }
    }
}

/// An operator with its operands exchanged.
///
/// ```
/// use warpfold::operators::{AffineComposition, Reversed};
/// use warpfold::{Device, Reduction};
///
/// // x -> 3 x, and then x -> 2 x + 1
/// let composition = Reduction::<Reversed<AffineComposition<i32>>>::new(Device::auto());
/// assert_eq!(composition.run(&[[2, 1], [3, 0]])?, [6, 1]);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Reversed<M>(pub M);

#[monoid]
impl<M: DeviceMonoid> Monoid for Reversed<M> {
    type Item = M::Item;
    fn identity(&self) -> M::Item {
        self.0.identity()
    }
    #[inline]
    fn combine(&self, left: M::Item, right: M::Item) -> M::Item {
        self.0.combine(right, left)
    }
}

/// A semigroup as a monoid: an item may be missing, and a missing item is the identity.
///
/// The identity of `M` is not used, so `M` need not have one.
///
/// ```
/// use warpfold::operators::{Min, Optional};
/// use warpfold::{Device, Maybe, Reduction};
///
/// let least = Reduction::<Optional<Min<f32>>>::new(Device::auto());
/// let items: Vec<Maybe<f32>> = [Some(2.0), None, Some(-1.0)].map(Maybe::from).into();
/// assert_eq!(least.run(&items)?.get(), Some(-1.0));
/// assert_eq!(least.run(&[])?.get(), None);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Optional<M>(pub M);

#[monoid]
impl<M: DeviceMonoid> Monoid for Optional<M> {
    type Item = Maybe<M::Item>;
    fn identity(&self) -> Self::Item {
        Maybe::from(None)
    }
    #[inline]
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
        if !left.is_some {
            return right;
        }
        if !right.is_some {
            return left;
        }
        Maybe { value: self.0.combine(left.value, right.value), is_some: true }
    }
}
