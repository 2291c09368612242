//! The bracket: the tree that defines every result, and the scans that follow from it.

use super::monoid::Monoid;

/// The bracket of the items.
///
/// Neighbours are paired, and each pair is combined, left operand first. An unpaired last value
/// moves up unchanged. This repeats until one value is left. An empty input gives the identity, and
/// one item gives that item.
///
/// The shape of the tree depends on `items.len()` alone. For every power of two `k`, the bracket of
/// `items` is the bracket of the brackets of its chunks of `k` items.
///
/// This function is the definition, and not a fast implementation. Tests compare every backend with
/// it, bit for bit.
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

/// The items whose value is output `i` of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Prefix {
    /// The items `0..=i`.
    Inclusive,
    /// The items `0..i`.
    Exclusive,
}

/// The inclusive scan of the items: output `i` is the value of the items `0..=i`.
///
/// The first `n` items divide into runs, one for each set bit of `n`. The length of a run is the
/// value of its bit, and the longest run comes first. Each run is a perfect subtree of the bracket.
/// The output is the left-to-right fold of their brackets: for 7 items, `((abcd) (ef)) g`. (The
/// bracket folds the same subtrees from the right: `(abcd) ((ef) g)`.)
///
/// This function is the definition, and not a fast implementation. Tests compare every scan with
/// it, bit for bit.
///
/// ```
/// use warpfold::{operators::Sum, tree};
///
/// assert_eq!(tree::inclusive_scan(&Sum::<i32>::default(), &[1, 2, 3, 4]), [1, 3, 6, 10]);
/// ```
pub fn inclusive_scan<M: Monoid>(operator: &M, items: &[M::Item]) -> Vec<M::Item> {
    // The perfect subtrees of the items so far, from the left: number of items and value.
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

/// The exclusive scan of the items: output `i` is the value of the items `0..i`, and output 0 is
/// the identity.
///
/// The other outputs are those of [`inclusive_scan`], one position later. The identity is never
/// combined with an item.
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
