//! Up and down the bracket, as many runs of eight items at once as there are lanes: run l is lane l.
//!
//! On the way up nothing is kept of a run of a tile but its value. On the way down its items are transposed once more: that takes less
//! time than to write, and read again, as many bytes of what became of them.

#![allow(unsafe_code)]

use std::iter::zip;
use std::mem::MaybeUninit;

use super::runs::Runs;
use super::stream::Output;
use super::turns::Edges;
use crate::Monoid;
use crate::cpu::rows::{
    Byte, Cut, Room, Row, Word, Words, combine, item, rows_of_words, set_item, set_items_of_lanes,
};
use crate::cpu::transposition::{Ahead, restore, transpose};
use crate::cpu::{RUN, lanes};
use crate::tree::Prefix;

pub(super) use lanes::tile_items;

/// What is known of some items, and of their runs.
pub(super) struct Lanes<'a, M: Monoid> {
    tile: lanes::Lanes,
    /// Of a tile's items, and of what is before each of them and before the end of each run.
    rows: Vec<Room>,
    /// Lines on their way past the caches.
    lines: Vec<Room>,
    /// Of each run in whole tiles its value.
    values: Vec<M::Item>,
    /// What is before the first run, or the identity if that [is the first](Self::is_first) of all, and later what is before
    /// the end of each.
    edges: Vec<M::Item>,
    is_first: bool,
    /// The first run once more.
    first: Runs<'a, M>,
    /// What comes after whole tiles.
    rest: Runs<'a, M>,
}

impl<'a, M: Monoid> Lanes<'a, M> {
    /// For so many items that [`suit`](crate::cpu::rows::suit), at most.
    pub(super) fn new(operator: &'a M, most: usize) -> Self {
        let (tile, lanes) = (tile_items::<M::Item>(), Cut::<M::Item>::LANES);
        let runs = most / tile * lanes;
        Self {
            tile: lanes::Lanes::new::<M::Item>(),
            rows: vec![Room::NONE; Room::of((2 * tile + lanes) * size_of::<M::Item>())],
            lines: Vec::new(),
            values: Vec::with_capacity(runs),
            edges: Vec::with_capacity(1 + runs),
            is_first: false,
            first: Runs::new(operator),
            rest: Runs::new(operator),
        }
    }

    /// At least a tile. Returns the value of each run in whole tiles.
    #[inline(always)]
    pub(super) fn up<const BYTES: usize>(&mut self, operator: &M, items: &[M::Item]) -> &[M::Item] {
        self.values.clear();
        let tiles = items.chunks_exact(tile_items::<M::Item>());
        let rest = tiles.remainder();
        for tile in tiles {
            // What comes after the items is another thread's.
            let ahead = Ahead::within(tile, items);
            self.tile.tile::<M, BYTES, true>(operator, tile, ahead, &mut self.values);
        }
        self.first.up(&items[..RUN]);
        if !rest.is_empty() {
            self.rest.up(rest);
        }
        &self.values
    }

    /// The values, and where it is written what is before the end of each run, before [`down`](Self::down). Given is what is
    /// before the first one, if anything is.
    pub(super) fn values_and_ends(
        &mut self,
        operator: &M,
        before: Option<M::Item>,
    ) -> (&[M::Item], &mut [MaybeUninit<M::Item>]) {
        self.is_first = before.is_none();
        self.edges.clear();
        self.edges.push(before.unwrap_or_else(|| operator.identity()));
        (&self.values, &mut self.edges.spare_capacity_mut()[..self.values.len()])
    }

    /// What is before each place, or before its end; past the caches, if it `streams`.
    ///
    /// # Safety
    ///
    /// All ends were written since the last [`up`](Self::up), of the same items. Where there are none the places hold them. There
    /// are as many places.
    #[inline(always)]
    pub(super) unsafe fn down<const BYTES: usize>(
        &mut self,
        operator: &M,
        prefix: Prefix,
        items: Option<&[M::Item]>,
        places: &mut [MaybeUninit<M::Item>],
        streams: bool,
    ) {
        // SAFETY: the caller's promise, all of it.
        unsafe {
            self.edges.set_len(1 + self.values.len());
            match Cut::<M::Item>::WORDS {
                Words::Byte => self.down_in_words::<Byte, BYTES>(operator, prefix, items, places, streams),
                Words::U8 => self.down_in_words::<u8, BYTES>(operator, prefix, items, places, streams),
                Words::U16 => self.down_in_words::<u16, BYTES>(operator, prefix, items, places, streams),
                Words::U32 => self.down_in_words::<u32, BYTES>(operator, prefix, items, places, streams),
                Words::U64 => self.down_in_words::<u64, BYTES>(operator, prefix, items, places, streams),
            }
        }
        if self.is_first {
            self.first.down(prefix, Edges { before: None, after: Some(self.edges[1]) }, &mut places[..RUN]);
        }
        let rest = &mut places[self.values.len() * RUN..];
        if !rest.is_empty() {
            self.rest.down(prefix, Edges { before: self.edges.last().copied(), after: None }, rest);
        }
    }

    /// # Safety
    ///
    /// As for [`down`](Self::down).
    #[inline(always)]
    unsafe fn down_in_words<W: Word, const BYTES: usize>(
        &mut self,
        operator: &M,
        prefix: Prefix,
        items: Option<&[M::Item]>,
        places: &mut [MaybeUninit<M::Item>],
        streams: bool,
    ) {
        let (words, tile_items) = (size_of::<M::Item>() / size_of::<W>(), W::LANES * RUN);
        let rows = &mut rows_of_words::<W>(&mut self.rows)[..(2 * RUN + 1) * words];
        let (of_items, of_edges) = rows.split_at_mut(RUN * words);
        let begins = self.edges.chunks_exact(W::LANES);
        let ends = self.edges[1..].chunks_exact(W::LANES);
        let places = &mut places[..self.values.len() * RUN];
        // SAFETY: they are that many words, at least as aligned.
        let places = unsafe {
            let words = places.len() * words;
            std::slice::from_raw_parts_mut(places.as_mut_ptr().cast::<MaybeUninit<W>>(), words)
        };
        let mut output = Output::<W, BYTES>::new(places, tile_items * words, streams, &mut self.lines);
        for (tile, (begins, ends)) in zip(begins, ends).enumerate() {
            let items =
                items.map_or(output.next_places(), |items| items[tile * tile_items..].as_ptr().cast());
            // SAFETY: a tile is that many words, at least as aligned, and none of them padding.
            let items = unsafe { std::slice::from_raw_parts(items, tile_items * words) };
            transpose::<M::Item, W, BYTES, false>(items, of_items, Ahead::of(items));
            set_items_of_lanes(of_edges, begins);
            combine_before(operator, of_items, of_edges);
            set_items_of_lanes(&mut of_edges[RUN * words..], ends);
            let rows = match prefix {
                Prefix::Inclusive => &of_edges[words..(RUN + 1) * words],
                Prefix::Exclusive => &of_edges[..RUN * words],
            };
            output.next(|places| restore::<M::Item, W, BYTES>(rows, places));
        }
    }
}

/// In every lane, from what is before the run, which is the first item of the edges, to what is before its other items.
#[inline(always)]
fn combine_before<M: Monoid, W: Word>(operator: &M, items: &[Row<W>], edges: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    let op = |left, right| combine::<M, W>(operator, left, right);
    let (first, others) = edges.split_at_mut(words);
    for lane in 0..W::LANES {
        let at = |index: usize| item::<M::Item, W>(&items[index * words..], lane);
        let mut set = |index: usize, before| set_item(&mut others[(index - 1) * words..], lane, before);
        let (a, b, c, d, e, f, g) = (at(0), at(1), at(2), at(3), at(4), at(5), at(6));
        let (ab, ef, before_a) = (op(a, b), op(e, f), item(first, lane));
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
