//! A law of an operator as one call.

use proptest::strategy::Strategy;

use super::{LawViolation, Laws};
use crate::Monoid;

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
