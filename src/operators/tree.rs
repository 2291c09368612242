//! The bracket: the one tree that defines every result.

use super::monoid::Monoid;

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

/// Which items a place of a scan has the value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Prefix {
    /// Those up to its own, with it.
    Inclusive,
    /// Those before its own.
    Exclusive,
}

/// Of each item, the value of all items up to it, with it: the left-to-right fold of the perfect subtrees that they are
/// made of.
///
/// `n` items are, from the left, as many runs of a power of two of items as `n` has bits that are set, the longest run
/// first. Each run is a perfect subtree of the bracket, and has its bracket as value: 7 items are `((abcd) (ef)) g`. (The
/// bracket itself folds the same subtrees from the right: `(abcd) ((ef) g)`.)
///
/// This is the definition that every scan is tested against, bit for bit, and not the way to compute it fast.
///
/// ```
/// use warpfold::{operators::Sum, tree};
///
/// assert_eq!(tree::inclusive_scan(&Sum::<i32>::default(), &[1, 2, 3, 4]), [1, 3, 6, 10]);
/// ```
pub fn inclusive_scan<M: Monoid>(operator: &M, items: &[M::Item]) -> Vec<M::Item> {
    // The subtrees of the items so far, from the left, each with its number of items.
    let mut subtrees: Vec<(usize, M::Item)> = Vec::new();
    let prefix = |&item| {
        let mut newest = (1, item);
        while let Some((size, left)) = subtrees.pop_if(|(size, _)| *size == newest.0) {
            newest = (2 * size, operator.combine(left, newest.1));
        }
        subtrees.push(newest);
        let (_, first) = subtrees[0];
        subtrees[1..].iter().fold(first, |left, &(_, right)| operator.combine(left, right))
    };
    items.iter().map(prefix).collect()
}

/// Of each item, the value of all items before it; of the first one, the identity.
///
/// These are the values of [`inclusive_scan`], one place later: the identity is combined with nothing.
///
/// ```
/// use warpfold::{operators::Sum, tree};
///
/// assert_eq!(tree::exclusive_scan(&Sum::<i32>::default(), &[1, 2, 3, 4]), [0, 1, 3, 6]);
/// ```
pub fn exclusive_scan<M: Monoid>(operator: &M, items: &[M::Item]) -> Vec<M::Item> {
    let first = items.first().map(|_| operator.identity());
    first.into_iter().chain(inclusive_scan(operator, items)).take(items.len()).collect()
}
