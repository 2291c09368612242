//! The up-sweep and the down-sweep, one run of eight items at a time.
//!
//! All items take this path in a debug build, which compiles it without optimisation. So the loops
//! over runs have no iterators and no closures, and index arrays.

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
        let operator = self.operator;
        self.subtrees.clear();
        self.subtrees.reserve(items.len());
        let (runs, rest) = items.as_chunks::<RUN>();
        let mut index = 0;
        while index < runs.len() {
            let run = &runs[index];
            let (ab, ef) = (operator.combine(run[0], run[1]), operator.combine(run[4], run[5]));
            let abcd = operator.combine(ab, operator.combine(run[2], run[3]));
            let efgh = operator.combine(ef, operator.combine(run[6], run[7]));
            let mut last = operator.combine(abcd, efgh);
            let end = RUN * (index + 1);
            for level in RUN.ilog2()..end.trailing_zeros() {
                last = operator.combine(self.subtrees[end - (1 << level) - 1], last);
            }
            self.subtrees.extend_from_slice(&[run[0], ab, run[2], abcd, run[4], ef, run[6], last]);
            index += 1;
        }
        for (index, &item) in rest.iter().enumerate() {
            let mut last = item;
            for level in 0..(index + 1).trailing_zeros() {
                last = operator.combine(self.subtrees[self.subtrees.len() - (1 << level)], last);
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
        let operator = self.operator;
        let after = |before: Option<M::Item>, right| match before {
            Some(left) => operator.combine(left, right),
            None => right,
        };
        self.ends.clear();
        self.ends.reserve(self.subtrees.len() / RUN);
        let mut before = edges.before;
        let (runs, rest) = self.subtrees.as_chunks::<RUN>();
        let (places, last_places) = places.as_chunks_mut::<RUN>();
        let mut index = 0;
        while index < runs.len() {
            let run = &runs[index];
            let end = index + 1;
            let left = end & (end - 1);
            let next = match (edges.after, left) {
                (Some(value), _) if RUN * end == self.subtrees.len() => value,
                (_, 0) => after(edges.before, run[7]),
                _ => operator.combine(self.ends[left - 1], run[7]),
            };
            let (a, ab, abcd) = match before {
                Some(before) => (
                    operator.combine(before, run[0]),
                    operator.combine(before, run[1]),
                    operator.combine(before, run[3]),
                ),
                None => (run[0], run[1], run[3]),
            };
            let (c, e) = (operator.combine(ab, run[2]), operator.combine(abcd, run[4]));
            let ef = operator.combine(abcd, run[5]);
            let g = operator.combine(ef, run[6]);
            let first = match prefix {
                Prefix::Inclusive => 0,
                Prefix::Exclusive => 1,
            };
            let places = &mut places[index];
            places[first].write(a);
            places[first + 1].write(ab);
            places[first + 2].write(c);
            places[first + 3].write(abcd);
            places[first + 4].write(e);
            places[first + 5].write(ef);
            places[first + 6].write(g);
            match (prefix, before) {
                (Prefix::Inclusive, _) => places[7].write(next),
                (Prefix::Exclusive, Some(before)) => places[0].write(before),
                (Prefix::Exclusive, None) => places[0].write(operator.identity()),
            };
            self.ends.push(next);
            before = Some(next);
            index += 1;
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
