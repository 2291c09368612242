//! One level of a block: the up-sweep and the down-sweep of many runs of eight items at once. Run l
//! is lane l.
//!
//! The up-sweep keeps only the value of each run. The down-sweep transposes the items again. That
//! is faster than to write intermediate values and to read them back.
//!
//! Nothing precedes the first run of the input, so its lane would have no prefix to combine with.
//! Therefore the first tile of the input is swept down without lanes.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use super::block_prefixes::Edges;
use super::runs::Runs;
use crate::Monoid;
use crate::cpu::lanes;
use crate::cpu::rows::{Row, Rows, Word, WordSplit, combine, item, set_item, set_items_of_lanes};
use crate::cpu::transposition::transpose;
use crate::cpu::units::RUN;
use crate::cpu::vectors::Registers;
use crate::tree::Prefix;

pub(super) use lanes::tile_items;

/// The state of one level.
pub(super) struct Lanes<'a, M: Monoid> {
    /// The value of each run in whole tiles.
    values: Vec<M::Item>,
    /// The prefix before the first run, then the prefix at the end of each run. If nothing precedes
    /// the first run, the first element is an arbitrary item that is not used.
    edges: Vec<M::Item>,
    /// The first tile of the input.
    first: Runs<'a, M>,
    /// The items after the last whole tile.
    rest: Runs<'a, M>,
}

impl<'a, M: Monoid> Lanes<'a, M> {
    /// Allocates a level for at most `most` items.
    ///
    /// # Safety
    ///
    /// The items [fit the lanes](crate::cpu::rows::fits_lanes).
    pub(super) unsafe fn new(operator: &'a M, most: usize) -> Self {
        let runs = most / tile_items::<M::Item>() * WordSplit::<M::Item>::LANES;
        Self {
            values: Vec::with_capacity(runs),
            edges: Vec::with_capacity(1 + runs),
            first: Runs::new(operator),
            rest: Runs::new(operator),
        }
    }

    /// Begins a new block.
    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// The values of all runs that were swept up in whole tiles.
    pub(super) fn values(&self) -> &[M::Item] {
        &self.values
    }

    /// Sweeps one more tile up.
    #[inline(always)]
    pub(super) fn up_tile<const BYTES: usize>(
        &mut self,
        registers: Registers<BYTES>,
        operator: &M,
        tile: &[M::Item],
    ) {
        // SAFETY: the items fit the lanes, as the caller of `new` promised.
        unsafe { lanes::tile(registers, operator, tile, &mut self.values) };
    }

    /// Sweeps the items after the last whole tile up. All whole tiles were swept up before.
    #[inline(always)]
    pub(super) fn up_rest(&mut self, items: &[M::Item]) {
        let rest = &items[self.values.len() * RUN..];
        if !rest.is_empty() {
            self.rest.up(rest);
        }
    }

    /// Begins the down-sweep, with the prefix before all items if there is one.
    pub(super) fn begin(&mut self, before: Option<M::Item>) {
        let first = before.unwrap_or(self.values[0]);
        self.edges.resize(1 + self.values.len(), first);
        self.edges[0] = first;
    }

    /// The values of the runs, and the places for the prefixes at their ends.
    pub(super) fn values_and_ends(&mut self) -> (&[M::Item], &mut [M::Item]) {
        (&self.values, &mut self.edges[1..=self.values.len()])
    }

    /// Sweeps a tile down. Returns the rows of its output, which are a part of `rows`. The prefixes
    /// at the ends of its runs must be known.
    ///
    /// # Safety
    ///
    /// `items` are the words of a tile, which has `W::LANES` times `RUN` items. They have no
    /// padding.
    #[inline(always)]
    pub(super) unsafe fn down_tile<'r, W: Word, const BYTES: usize>(
        &self,
        registers: Registers<BYTES>,
        operator: &M,
        tile: usize,
        items: &[W],
        rows: &'r mut Rows<W, { RUN + 1 }>,
        exclusive: bool,
    ) -> &'r [Row<W>] {
        let words = size_of::<M::Item>() / size_of::<W>();
        let mut of_items = Rows::<W, RUN>::new();
        let (of_items, of_edges) = (of_items.first(RUN * words), rows.first((RUN + 1) * words));
        let edges = &self.edges[tile * W::LANES..][..W::LANES + 1];
        // SAFETY: the items fit the lanes, as the caller of `new` promised, and `items` is a tile.
        // The rows are the first ones of `Rows`. Each step sets the rows that the next one reads.
        unsafe {
            transpose::<M::Item, W, BYTES>(registers, items, of_items);
            set_items_of_lanes(of_edges, &edges[..W::LANES]);
            combine_before(operator, of_items, of_edges);
            set_items_of_lanes(&mut of_edges[RUN * words..], &edges[1..]);
        }
        &of_edges[if exclusive { 0 } else { words }..][..RUN * words]
    }

    /// Sweeps the first tile of the input up.
    #[inline(always)]
    pub(super) fn up_first(&mut self, tile: &[M::Item]) {
        self.first.up(tile);
    }

    /// Sweeps the first tile of the input down.
    #[inline(always)]
    pub(super) fn down_first(&mut self, prefix: Prefix, places: &mut [MaybeUninit<M::Item>]) {
        let edges = Edges { before: None, after: Some(self.edges[WordSplit::<M::Item>::LANES]) };
        self.first.down(prefix, edges, places);
    }

    /// Sweeps the items after the last whole tile down.
    #[inline(always)]
    pub(super) fn down_rest(&mut self, prefix: Prefix, rest: &mut [MaybeUninit<M::Item>]) {
        let runs = self.values.len();
        if !rest.is_empty() {
            self.rest.down(prefix, Edges { before: Some(self.edges[runs]), after: None }, rest);
        }
    }
}

/// In every lane, computes the prefix before each item of the run but the first. The prefix before
/// the first item is given, as the first item of `edges`.
///
/// # Safety
///
/// The items fit the lanes, and were transposed into the rows. The first item of `edges` was set.
#[inline(always)]
unsafe fn combine_before<M: Monoid, W: Word>(operator: &M, items: &[Row<W>], edges: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    // SAFETY: the items fit the lanes, as the caller promises.
    let op = |left, right| unsafe { combine::<M, W>(operator, left, right) };
    let (first, others) = edges.split_at_mut(words);
    for lane in 0..W::LANES {
        // SAFETY: the items were transposed into the rows, as the caller promises.
        let at = |index: usize| unsafe { item::<M::Item, W>(&items[index * words..], lane) };
        // SAFETY: the items fit the lanes, as the caller promises.
        let mut set =
            |index: usize, before| unsafe { set_item(&mut others[(index - 1) * words..], lane, before) };
        let (a, b, c, d, e, f, g) = (at(0), at(1), at(2), at(3), at(4), at(5), at(6));
        // SAFETY: the first item of `edges` was set, as the caller promises.
        let before_a = unsafe { item(first, lane) };
        let (ab, ef) = (op(a, b), op(e, f));
        let abcd = op(ab, op(c, d));
        let (before_c, before_e) = (op(before_a, ab), op(before_a, abcd));
        let before_g = op(before_e, ef);
        set(1, op(before_a, a));
        set(2, before_c);
        set(3, op(before_c, c));
        set(4, before_e);
        set(5, op(before_e, e));
        set(6, before_g);
        set(7, op(before_g, g));
    }
}
