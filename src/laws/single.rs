//! A law of an operator as one call.

use proptest::collection::vec;
use proptest::strategy::Strategy;
use proptest::test_runner::TestCaseError;

use super::{LawViolation, Laws, MAX_FOLDED, check};
use crate::{Aggregate, DeviceType, Item, Monoid, tree};

/// Tests `(a + b) + c == a + (b + c)`, bit for bit. [`Laws::within`] tests it with a tolerance.
///
/// ```
/// use warpfold::laws::{self, proptest::prelude::*};
/// use warpfold::operators::{Max, Sum};
///
/// laws::associativity(Max::<i64>::new(), any::<i64>())?;
/// // A float sum rounds, so it is not associative bit for bit.
/// assert!(laws::associativity(Sum::<f32>::new(), -1e3_f32..1e3).is_err());
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
pub fn associativity<M: Monoid>(
    operator: M,
    items: impl Strategy<Value = M::Item>,
) -> Result<(), LawViolation>
where
    M::Item: std::fmt::Debug,
{
    Laws::of(operator, items).associativity()
}

/// Tests `identity + a == a` and `a + identity == a`, bit for bit.
///
/// ```
/// use warpfold::laws::{self, proptest::prelude::*};
/// use warpfold::operators::Sum;
///
/// laws::identity(Sum::<f32>::new(), any::<f32>())?;
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
pub fn identity<M: Monoid>(operator: M, items: impl Strategy<Value = M::Item>) -> Result<(), LawViolation>
where
    M::Item: std::fmt::Debug,
{
    Laws::of(operator, items).identity()
}

/// Tests `a + b == b + a`, bit for bit. [`Reduction`](crate::Reduction) and [`Scan`](crate::Scan)
/// do not need this law.
///
/// ```
/// use warpfold::laws::{self, proptest::prelude::*};
/// use warpfold::operators::{AffineComposition, Product};
///
/// laws::commutativity(Product::<f64>::new(), any::<f64>())?;
/// // The order of maps matters.
/// assert!(laws::commutativity(AffineComposition::<i32>::new(), any::<[i32; 2]>()).is_err());
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
pub fn commutativity<M: Monoid>(
    operator: M,
    items: impl Strategy<Value = M::Item>,
) -> Result<(), LawViolation>
where
    M::Item: std::fmt::Debug,
{
    Laws::of(operator, items).commutativity()
}

/// Tests what [`Aggregate::accumulate`] promises, bit for bit: elements that are accumulated one by
/// one have the bits of the bracket. So have their items, combined from the last one on.
///
/// ```
/// use warpfold::aggregates::{Mean, TopK};
/// use warpfold::laws::{self, proptest::prelude::*};
///
/// laws::accumulation(TopK::<u8, 3>::new(), any::<u8>())?;
/// // A float sum rounds, so a mean cannot be accumulated.
/// assert!(laws::accumulation(Mean::<f64>::new(), -1e3_f64..1e3).is_err());
/// # Ok::<(), warpfold::laws::LawViolation>(())
/// ```
pub fn accumulation<A: Aggregate>(
    aggregate: A,
    elements: impl Strategy<Value = A::Input>,
) -> Result<(), LawViolation>
where
    A::Input: std::fmt::Debug,
    Item<A>: std::fmt::Debug,
{
    let operator = aggregate.monoid();
    check("accumulation", 256, &vec(elements, 1..MAX_FOLDED), &|elements| {
        let numbered = || (0..).zip(elements.iter().copied());
        let items: Vec<Item<A>> =
            numbered().map(|(index, element)| aggregate.prepare(index, element)).collect();
        let bracket = tree::bracket(&operator, &items);
        let accumulate = |item, (index, element)| aggregate.accumulate(item, index, element);
        let accumulated = numbered().skip(1).fold(items[0], accumulate);
        let last = items[items.len() - 1];
        let from_the_end =
            items.iter().rev().skip(1).fold(last, |right, &left| operator.combine(left, right));
        let checked = [("accumulated", accumulated), ("combined from the end", from_the_end)];
        match checked.into_iter().find(|(_, item)| !DeviceType::same_bits(item, &bracket)) {
            None => Ok(()),
            Some((how, item)) => {
                Err(TestCaseError::fail(format!("{how} {item:?}, and the bracket is {bracket:?}")))
            }
        }
    })
}
