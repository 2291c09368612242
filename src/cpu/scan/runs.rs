//! The up-sweep and the down-sweep, one run of eight items at a time.

use std::iter::zip;
use std::mem::MaybeUninit;

use super::block_prefixes::Edges;
use crate::Monoid;
use crate::cpu::units::RUN;
use crate::tree::Prefix;

/// The state of the sweeps of some items.
pub(super) struct Runs<'a, M: Monoid> {
    operator: &'a M,
    /// For each item, the value of the largest perfect subtree that ends with it.
    subtrees: Vec<M::Item>,
    /// The prefix at the end of each run.
    ends: Vec<M::Item>,
}

impl<'a, M: Monoid> Runs<'a, M> {
    pub(super) fn new(operator: &'a M) -> Self {
        Self { operator, subtrees: Vec::new(), ends: Vec::new() }
    }

    /// Sweeps at least one item up. Returns the value of the largest perfect subtree that ends with
    /// the last item. For a power of two of items this is the value of all.
    #[inline(always)]
    pub(super) fn up(&mut self, items: &[M::Item]) -> M::Item {
        let op = |left, right| self.operator.combine(left, right);
        self.subtrees.clear();
        self.subtrees.reserve(items.len());
        let (runs, rest) = items.as_chunks::<RUN>();
        for (index, &[a, b, c, d, e, f, g, h]) in runs.iter().enumerate() {
            let (ab, cd, ef, gh) = (op(a, b), op(c, d), op(e, f), op(g, h));
            let abcd = op(ab, cd);
            let mut last = op(abcd, op(ef, gh));
            let end = RUN * (index + 1);
            for level in RUN.ilog2()..end.trailing_zeros() {
                last = op(self.subtrees[end - (1 << level) - 1], last);
            }
            self.subtrees.extend_from_slice(&[a, ab, c, abcd, e, ef, g, last]);
        }
        for (index, &item) in rest.iter().enumerate() {
            let mut last = item;
            for level in 0..(index + 1).trailing_zeros() {
                last = op(self.subtrees[self.subtrees.len() - (1 << level)], last);
            }
            self.subtrees.push(last);
        }
        self.subtrees[items.len() - 1]
    }

    /// Sweeps the items down, into their inclusive or exclusive prefixes. `edges.after` is absent
    /// if the items are no perfect subtree.
    #[inline(always)]
    pub(super) fn down(
        &mut self,
        prefix: Prefix,
        edges: Edges<M::Item>,
        places: &mut [MaybeUninit<M::Item>],
    ) {
        let op = |left, right| self.operator.combine(left, right);
        let after = |before: Option<M::Item>, right| before.map_or(right, |left| op(left, right));
        self.ends.clear();
        self.ends.reserve(self.subtrees.len() / RUN);
        let mut before = edges.before;
        let (runs, rest) = self.subtrees.as_chunks::<RUN>();
        let (places, last_places) = places.as_chunks_mut::<RUN>();
        for (index, (&[a, ab, c, abcd, e, ef, g, last], places)) in zip(runs, places).enumerate() {
            let end = index + 1;
            let left = end & (end - 1);
            let next = match left {
                _ if RUN * end == self.subtrees.len() && edges.after.is_some() => edges.after.unwrap_or(last),
                0 => after(edges.before, last),
                _ => op(self.ends[left - 1], last),
            };
            let (a, ab, abcd) = (after(before, a), after(before, ab), after(before, abcd));
            let (c, e, ef) = (op(ab, c), op(abcd, e), op(abcd, ef));
            let g = op(ef, g);
            *places = match (prefix, before) {
                (Prefix::Inclusive, _) => [a, ab, c, abcd, e, ef, g, next],
                (Prefix::Exclusive, Some(before)) => [before, a, ab, c, abcd, e, ef, g],
                (Prefix::Exclusive, None) => [self.operator.identity(), a, ab, c, abcd, e, ef, g],
            }
            .map(MaybeUninit::new);
            self.ends.push(next);
            before = Some(next);
        }
        // The prefix before each of the last items.
        let mut values = [before; RUN];
        for (index, (&last, place)) in zip(rest, last_places).enumerate() {
            let end = index + 1;
            let left = end & (end - 1);
            let next = after(values[left], last);
            place.write(match prefix {
                Prefix::Inclusive => next,
                Prefix::Exclusive => values[index].unwrap_or_else(|| self.operator.identity()),
            });
            if end < RUN {
                values[end] = Some(next);
            }
        }
    }
}
