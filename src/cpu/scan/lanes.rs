//! Up and down the bracket, 32 runs of eight places at once: run l is lane l.
//!
//! The rows of a tile stay as they are between the way up and the way down, with room for one item more before them: what is
//! before each run. An exclusive scan is then the same rows, one item earlier.

#![allow(unsafe_code)]

use std::iter::zip;
use std::mem::MaybeUninit;

use crate::Monoid;
use crate::cpu::RUN;
use crate::cpu::rows::{
    Cut, LANES, Room, Row, Word, item, items_of_lanes, rows_of_words, set_item, set_items_of_lanes,
};
use crate::cpu::scan::stream::Output;
use crate::cpu::transposition::{AHEAD_BYTES, restore, transpose};
use crate::tree::Prefix;

/// Items whose runs fill the lanes.
pub(super) const TILE: usize = LANES * RUN;

/// The tiles of a block, and what is known of its runs.
pub(super) struct Lanes<M: Monoid> {
    rows: Vec<Room>,
    /// Lines on their way past the caches.
    lines: Vec<Room>,
    /// Of each run its value.
    values: Vec<M::Item>,
    /// What is before the first run, or the identity if that [is the first](Self::is_first) of all, and later what is before
    /// the end of each.
    edges: Vec<M::Item>,
    is_first: bool,
    /// The first run.
    first: Vec<M::Item>,
}

impl<M: Monoid> Lanes<M> {
    /// For items that [`suit`](crate::cpu::rows::suit).
    pub(super) fn new() -> Self {
        Self {
            rows: Vec::new(),
            lines: Vec::new(),
            values: Vec::new(),
            edges: Vec::new(),
            is_first: false,
            first: Vec::new(),
        }
    }

    /// The items of some tiles. Returns the value of each run.
    #[inline(always)]
    pub(super) fn up<const AVX2: bool>(&mut self, operator: &M, items: &[M::Item]) -> &[M::Item] {
        let bytes = items.len() / RUN * (RUN + 1) * size_of::<M::Item>();
        self.rows.resize(Room::of(bytes).max(self.rows.len()), Room::NONE);
        self.values.clear();
        self.first.clear();
        self.first.extend_from_slice(&items[..RUN]);
        match Cut::<M::Item>::BYTES {
            1 => self.up_in_words::<u8, AVX2>(operator, items),
            2 => self.up_in_words::<u16, AVX2>(operator, items),
            4 => self.up_in_words::<u32, AVX2>(operator, items),
            _ => self.up_in_words::<u64, AVX2>(operator, items),
        }
        &self.values
    }

    /// Where it is written what is before the end of each run, before [`down`](Self::down). Given is what is before the first
    /// one, if anything is.
    pub(super) fn ends(&mut self, operator: &M, before: Option<M::Item>) -> &mut [MaybeUninit<M::Item>] {
        self.is_first = before.is_none();
        self.edges.clear();
        self.edges.reserve(1 + self.values.len());
        self.edges.push(before.unwrap_or_else(|| operator.identity()));
        &mut self.edges.spare_capacity_mut()[..self.values.len()]
    }

    /// What is before each place, or before its end; past the caches, if it `streams`.
    ///
    /// # Safety
    ///
    /// All of [`ends`](Self::ends) were written since the last [`up`](Self::up).
    #[inline(always)]
    pub(super) unsafe fn down<const AVX2: bool>(
        &mut self,
        operator: &M,
        prefix: Prefix,
        places: &mut [MaybeUninit<M::Item>],
        streams: bool,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.edges.set_len(1 + self.values.len()) };
        match Cut::<M::Item>::BYTES {
            1 => self.down_in_words::<u8, AVX2>(operator, prefix, places, streams),
            2 => self.down_in_words::<u16, AVX2>(operator, prefix, places, streams),
            4 => self.down_in_words::<u32, AVX2>(operator, prefix, places, streams),
            _ => self.down_in_words::<u64, AVX2>(operator, prefix, places, streams),
        }
    }

    #[inline(always)]
    fn up_in_words<W: Word, const AVX2: bool>(&mut self, operator: &M, items: &[M::Item]) {
        let words = size_of::<M::Item>() / size_of::<W>();
        let all = rows_of_words::<W>(&mut self.rows).chunks_exact_mut((RUN + 1) * words);
        for (tile, rows) in items.as_chunks::<TILE>().0.iter().zip(all) {
            let rows = &mut rows[words..];
            // SAFETY: a tile is that many words, at least as aligned, and none of them padding.
            let runs = unsafe { std::slice::from_raw_parts(tile.as_ptr().cast::<W>(), TILE * words) };
            // What comes after the items is another thread's.
            let ahead = runs.as_ptr().wrapping_byte_add(AHEAD_BYTES);
            let ahead = if ahead < items.as_ptr_range().end.cast() { ahead } else { runs.as_ptr() };
            transpose::<M::Item, W, AVX2>(runs, rows, ahead);
            for (left, right) in [(0, 1), (2, 3), (4, 5), (6, 7), (1, 3), (5, 7), (3, 7)] {
                combine_rows(operator, rows, left, right);
            }
            self.values.extend_from_slice(&items_of_lanes::<M::Item, W>(&rows[7 * words..]));
        }
    }

    #[inline(always)]
    fn down_in_words<W: Word, const AVX2: bool>(
        &mut self,
        operator: &M,
        prefix: Prefix,
        places: &mut [MaybeUninit<M::Item>],
        streams: bool,
    ) {
        let words = size_of::<M::Item>() / size_of::<W>();
        let all = rows_of_words::<W>(&mut self.rows).chunks_exact_mut((RUN + 1) * words);
        let (begins, ends) = (self.edges.as_chunks::<LANES>().0, self.edges[1..].as_chunks::<LANES>().0);
        // SAFETY: of whole tiles, which are that many words, at least as aligned.
        let runs = unsafe {
            std::slice::from_raw_parts_mut(
                places.as_mut_ptr().cast::<MaybeUninit<W>>(),
                places.len() / TILE * TILE * words,
            )
        };
        let mut output = Output::<W, AVX2>::new(runs, TILE * words, streams, &mut self.lines);
        for ((begins, ends), rows) in zip(zip(begins, ends), all) {
            set_items_of_lanes(rows, begins);
            // Item k of a run is the (k + 1)th of the rows.
            for (left, right) in [(0, 4), (0, 2), (0, 1), (2, 3), (4, 6), (4, 5), (6, 7)] {
                combine_rows(operator, rows, left, right);
            }
            set_items_of_lanes(&mut rows[RUN * words..], ends);
            let shifted = match prefix {
                Prefix::Inclusive => &rows[words..],
                Prefix::Exclusive => &rows[..RUN * words],
            };
            output.next(|runs| restore::<M::Item, W, AVX2>(shifted, runs));
        }
        drop(output);
        if self.is_first {
            self.down_first(operator, prefix, places);
        }
    }

    /// The first run once more, before which there is nothing to combine with.
    fn down_first(&mut self, operator: &M, prefix: Prefix, places: &mut [MaybeUninit<M::Item>]) {
        let op = |left, right| operator.combine(left, right);
        let [a, b, c, d, e, f, g, _] = self.first[..] else { unreachable!("a run has eight items") };
        let ab = op(a, b);
        let (abc, abcd, ef) = (op(ab, c), op(ab, op(c, d)), op(e, f));
        let to_ef = op(abcd, ef);
        let before = [operator.identity(), a, ab, abc, abcd, op(abcd, e), to_ef, op(to_ef, g), self.edges[1]];
        let from = usize::from(prefix == Prefix::Inclusive);
        for (place, &value) in places.iter_mut().zip(&before[from..from + RUN]) {
            place.write(value);
        }
    }
}

/// In every lane, the left of two items with the right one, which becomes their value.
#[inline(always)]
fn combine_rows<M: Monoid, W: Word>(operator: &M, rows: &mut [Row<W>], left: usize, right: usize) {
    let words = size_of::<M::Item>() / size_of::<W>();
    let (lefts, rights) = rows.split_at_mut(right * words);
    let (left, right) = (&lefts[left * words..(left + 1) * words], &mut rights[..words]);
    for lane in 0..LANES {
        let combined = operator.combine(item(left, lane), item(right, lane));
        set_item(right, lane, combined);
    }
}
