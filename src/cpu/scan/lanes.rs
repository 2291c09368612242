//! Up and down the bracket, as many runs of eight items at once as there are lanes: run l is lane l.
//!
//! On the way up nothing is kept of a run of a tile but its value. On the way down its items are transposed once more: that takes less
//! time than to write, and read again, as many bytes of what became of them.
//!
//! Before the first run of all there is nothing, so its lane would have nothing to combine with. The first tile of all goes down
//! without lanes.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use super::runs::Runs;
use super::turns::Edges;
use crate::Monoid;
use crate::cpu::lanes;
use crate::cpu::rows::{Cut, Row, Rows, Word, combine, item, set_item, set_items_of_lanes};
use crate::cpu::transposition::transpose;
use crate::cpu::units::RUN;
use crate::cpu::vectors::Registers;
use crate::tree::Prefix;

pub(super) use lanes::tile_items;

/// What is known of some items, and of their runs.
pub(super) struct Lanes<'a, M: Monoid> {
    /// Of each run in whole tiles its value.
    values: Vec<M::Item>,
    /// What is before the first run, and then what is before the end of each. Where nothing is before the first run, the first of
    /// these is some item that nobody uses.
    edges: Vec<M::Item>,
    /// The first tile of all.
    first: Runs<'a, M>,
    /// What comes after whole tiles.
    rest: Runs<'a, M>,
}

impl<'a, M: Monoid> Lanes<'a, M> {
    /// For so many items, at most.
    ///
    /// # Safety
    ///
    /// The items [suit](crate::cpu::rows::suit).
    pub(super) unsafe fn new(operator: &'a M, most: usize) -> Self {
        let runs = most / tile_items::<M::Item>() * Cut::<M::Item>::LANES;
        Self {
            values: Vec::with_capacity(runs),
            edges: Vec::with_capacity(1 + runs),
            first: Runs::new(operator),
            rest: Runs::new(operator),
        }
    }

    /// Nothing went up yet.
    pub(super) fn clear(&mut self) {
        self.values.clear();
    }

    /// The values of all runs in whole tiles that went up.
    pub(super) fn values(&self) -> &[M::Item] {
        &self.values
    }

    /// One more tile.
    #[inline(always)]
    pub(super) fn up_tile<const BYTES: usize>(
        &mut self,
        registers: Registers<BYTES>,
        operator: &M,
        tile: &[M::Item],
    ) {
        // SAFETY: `new` was promised that the items suit.
        unsafe { lanes::tile(registers, operator, tile, &mut self.values) };
    }

    /// What else the way down needs of the items, all of whose whole tiles went up.
    #[inline(always)]
    pub(super) fn up_rest(&mut self, items: &[M::Item]) {
        let rest = &items[self.values.len() * RUN..];
        if !rest.is_empty() {
            self.rest.up(rest);
        }
    }

    /// What is before all items, if anything is.
    pub(super) fn begin(&mut self, before: Option<M::Item>) {
        let first = before.unwrap_or(self.values[0]);
        self.edges.resize(1 + self.values.len(), first);
        self.edges[0] = first;
    }

    /// The values, and the places of what is before the end of each run.
    pub(super) fn values_and_ends(&mut self) -> (&[M::Item], &mut [M::Item]) {
        (&self.values, &mut self.edges[1..=self.values.len()])
    }

    /// The rows of what goes into the places of a tile, which are some of those given. What is before the ends of its runs is known.
    ///
    /// # Safety
    ///
    /// `items` are the words of a tile of items, `W::LANES` times `RUN`, which have no padding.
    #[inline(always)]
    pub(super) unsafe fn down_tile<'r, W: Word, const BYTES: usize, const EXCLUSIVE: bool>(
        &self,
        registers: Registers<BYTES>,
        operator: &M,
        tile: usize,
        items: &[W],
        rows: &'r mut Rows<W, { RUN + 1 }>,
    ) -> &'r [Row<W>] {
        let words = size_of::<M::Item>() / size_of::<W>();
        let mut of_items = Rows::<W, RUN>::new();
        let (of_items, of_edges) = (of_items.first(RUN * words), rows.first((RUN + 1) * words));
        let edges = &self.edges[tile * W::LANES..][..W::LANES + 1];
        // SAFETY: `new` was promised that the items suit, and the caller promised the tile; the rows are the first ones, and set one after the other.
        unsafe {
            transpose::<M::Item, W, BYTES>(registers, items, of_items);
            set_items_of_lanes(of_edges, &edges[..W::LANES]);
            combine_before(operator, of_items, of_edges);
            set_items_of_lanes(&mut of_edges[RUN * words..], &edges[1..]);
        }
        &of_edges[if EXCLUSIVE { 0 } else { words }..][..RUN * words]
    }

    /// The items of the first tile, before which nothing is.
    #[inline(always)]
    pub(super) fn up_first(&mut self, tile: &[M::Item]) {
        self.first.up(tile);
    }

    /// Its places.
    #[inline(always)]
    pub(super) fn down_first(&mut self, prefix: Prefix, places: &mut [MaybeUninit<M::Item>]) {
        let edges = Edges { before: None, after: Some(self.edges[Cut::<M::Item>::LANES]) };
        self.first.down(prefix, edges, places);
    }

    /// The places of what comes after whole tiles.
    #[inline(always)]
    pub(super) fn down_rest(&mut self, prefix: Prefix, rest: &mut [MaybeUninit<M::Item>]) {
        let runs = self.values.len();
        if !rest.is_empty() {
            self.rest.down(prefix, Edges { before: Some(self.edges[runs]), after: None }, rest);
        }
    }
}

/// In every lane, from what is before the run, which is the first item of the edges, to what is before its other items.
///
/// # Safety
///
/// The items suit, and were transposed into the rows; the first item of the edges was set.
#[inline(always)]
unsafe fn combine_before<M: Monoid, W: Word>(operator: &M, items: &[Row<W>], edges: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    // SAFETY: as the caller says.
    let op = |left, right| unsafe { combine::<M, W>(operator, left, right) };
    let (first, others) = edges.split_at_mut(words);
    for lane in 0..W::LANES {
        // SAFETY: as the caller says.
        let at = |index: usize| unsafe { item::<M::Item, W>(&items[index * words..], lane) };
        // SAFETY: as the caller says.
        let mut set =
            |index: usize, before| unsafe { set_item(&mut others[(index - 1) * words..], lane, before) };
        let (a, b, c, d, e, f, g) = (at(0), at(1), at(2), at(3), at(4), at(5), at(6));
        // SAFETY: as the caller says.
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
