//! Operators that combine by other operators.

use proptest::prelude::*;
use warpfold::operators::{AffineComposition, Both, Flagged, Max, Optional, Reversed, Segmented, Sum};
use warpfold::{DeviceMonoid, DeviceType, Maybe, Monoid, Tuple2, monoid};

use super::{Edge, Visitor};

impl<A: Edge + DeviceType, B: Edge + DeviceType> Edge for Tuple2<A, B> {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(a, b)| Self(a, b)).boxed()
    }
}

impl<T: Edge + DeviceType> Edge for Flagged<T> {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), any::<bool>()).prop_map(|(value, starts)| Self { value, starts }).boxed()
    }
}

impl<T: Edge + DeviceType> Edge for Maybe<T> {
    fn strategy() -> BoxedStrategy<Self> {
        prop_oneof![Just(None), T::strategy().prop_map(Some)].prop_map(Self::from).boxed()
    }
}

/// Sums modulo a number that is known at run time.
#[derive(Clone, Copy, Debug, Default, DeviceType)]
#[repr(C)]
pub struct Modular {
    modulus: u32,
}

#[monoid]
impl Monoid for Modular {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        ((a as u64 + b as u64) % self.modulus as u64) as u32
    }
}

/// An operator with a field of its own, beside others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scaled<A, B> {
    small: u8,
    first: A,
    factor: f32,
    others: (B, B),
}

#[monoid]
impl<A: DeviceMonoid<Item = u32>, B: DeviceMonoid<Item = f32>> Monoid for Scaled<A, B> {
    type Item = Tuple2<u32, f32>;
    fn identity(&self) -> Self::Item {
        Edge::example()
    }
    fn combine(&self, a: Self::Item, b: Self::Item) -> Self::Item {
        let first = self.first.combine(a.0, b.0) + self.small as u32;
        let again = self.first.combine(first, b.0);
        Tuple2(again, self.others.1.combine(a.1 * self.factor, self.others.0.combine(b.1, a.1)))
    }
}

/// Combines by an operator without fields.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByDefault<M>(std::marker::PhantomData<M>);

#[monoid]
impl<M: DeviceMonoid + Default> Monoid for ByDefault<M> {
    type Item = [M::Item; 2];
    fn identity(&self) -> Self::Item {
        let one = M::default().identity();
        [one, one]
    }
    fn combine(&self, a: Self::Item, b: Self::Item) -> Self::Item {
        let first = Max::<f32>::default().combine(1.0, 2.0);
        if first > 1.0 {
            [M::default().combine(M::default().combine(a[0], b[1]), a[0]), M::default().combine(a[1], b[0])]
        } else {
            a
        }
    }
}

/// Visits the operators of this module.
pub(super) fn inner(visitor: &mut impl Visitor) {
    let modular = Modular { modulus: 1009 };
    visitor.visit("both", Both(modular, Max::<f64>::new()));
    visitor.visit("both_of_both", Both(Both(Sum::<u8>::new(), modular), Both(modular, Sum::<u64>::new())));
    visitor.visit("segmented", Segmented(Both(Sum::<i64>::new(), modular)));
    visitor.visit("reversed", Reversed(AffineComposition::<f32>::new()));
    visitor.visit("optional", Optional(Reversed(modular)));
    let others = (Sum::new(), Max::new());
    visitor.visit(
        "scaled_by_max",
        Scaled { small: 7, first: modular, factor: 0.5, others: (others.1, others.1) },
    );
    visitor.visit(
        "scaled_by_sum",
        Scaled { small: 7, first: Sum::new(), factor: 0.5, others: (others.0, others.0) },
    );
    visitor.visit("by_default", ByDefault::<Sum<f32>>::default());
    visitor.visit("by_default_of_maps", ByDefault::<Reversed<AffineComposition<u32>>>::default());
}
