//! The bracket: the one tree that defines every result.

use super::Monoid;

/// Pairs neighbours and combines each pair, left operand first; an odd one out gets a bye; repeats until one is left.
///
/// This is the definition that every backend is tested against, bit for bit, and not the way to compute it fast. An
/// empty input is the identity, and one element is that element. The shape depends on `items.len()` alone, and for
/// every power of two `k` the bracket of `items` is the bracket of its chunks of `k`, each bracketed.
///
/// ```
/// use warpfold::{operators::Sum, tree};
///
/// // ((1 + 2) + (3 + 4)) + 5
/// assert_eq!(tree::bracket(&Sum::<i32>::default(), &[1, 2, 3, 4, 5]), 15);
/// ```
pub fn bracket<M: Monoid>(operator: &M, items: &[M::Item]) -> M::Item {
    let mut round = items.to_vec();
    while round.len() > 1 {
        let winner = |pair: &[M::Item]| match *pair {
            [left, right] => operator.combine(left, right),
            _ => pair[0],
        };
        round = round.chunks(2).map(winner).collect();
    }
    round.first().copied().unwrap_or_else(|| operator.identity())
}
