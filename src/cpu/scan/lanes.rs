//! Up and down the bracket, 32 runs of eight places at once: run l is lane l.
//!
//! The rows of a tile stay as they are between the way up and the way down, with room for one item more before them: what is
//! before each run. An exclusive scan is then the same rows, one item earlier.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::Monoid;
use crate::cpu::RUN;
use crate::cpu::rows::{Cut, LANES, Room, Row, Word, item, rows_of_words, set_item};
use crate::cpu::scan::stream;
use crate::cpu::transposition::{restore, transpose};
use crate::tree::Prefix;

/// Items whose runs fill the lanes.
pub(super) const TILE: usize = LANES * RUN;

/// The tiles of a block, and what is known of its runs.
pub(super) struct Lanes<M: Monoid> {
    rows: Vec<Room>,
    /// A tile on its way past the caches.
    written: Vec<Room>,
    /// Of each run its value, and later what is before its end.
    values: Vec<M::Item>,
    ends: Vec<M::Item>,
    /// The first run.
    first: Vec<M::Item>,
}

impl<M: Monoid> Lanes<M> {
    /// For items that [`suit`](crate::cpu::rows::suit).
    pub(super) fn new() -> Self {
        Self {
            rows: Vec::new(),
            written: Vec::new(),
            values: Vec::new(),
            ends: Vec::new(),
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

    /// Where it is written what is before the end of each run, before [`down`](Self::down).
    pub(super) fn ends(&mut self) -> &mut [MaybeUninit<M::Item>] {
        self.ends.clear();
        self.ends.reserve(self.values.len());
        &mut self.ends.spare_capacity_mut()[..self.values.len()]
    }

    /// What is before each place, or before its end; past the caches, if it `streams`.
    ///
    /// # Safety
    ///
    /// All of [`ends`](Self::ends) were written.
    #[inline(always)]
    pub(super) unsafe fn down<const AVX2: bool>(
        &mut self,
        operator: &M,
        prefix: Prefix,
        before: Option<M::Item>,
        places: &mut [MaybeUninit<M::Item>],
        streams: bool,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.ends.set_len(self.values.len()) };
        if streams {
            self.written.resize(Room::of(TILE * size_of::<M::Item>()), Room::NONE);
        }
        match Cut::<M::Item>::BYTES {
            1 => self.down_in_words::<u8, AVX2>(operator, prefix, before, places, streams),
            2 => self.down_in_words::<u16, AVX2>(operator, prefix, before, places, streams),
            4 => self.down_in_words::<u32, AVX2>(operator, prefix, before, places, streams),
            _ => self.down_in_words::<u64, AVX2>(operator, prefix, before, places, streams),
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
            transpose::<M::Item, W, AVX2>(runs, rows);
            for (left, right) in [(0, 1), (2, 3), (4, 5), (6, 7), (1, 3), (5, 7), (3, 7)] {
                combine_rows(operator, rows, left, right);
            }
            let of_runs: [M::Item; LANES] = std::array::from_fn(|lane| item(&rows[7 * words..], lane));
            self.values.extend_from_slice(&of_runs);
        }
    }

    #[inline(always)]
    fn down_in_words<W: Word, const AVX2: bool>(
        &mut self,
        operator: &M,
        prefix: Prefix,
        before: Option<M::Item>,
        places: &mut [MaybeUninit<M::Item>],
        streams: bool,
    ) {
        let words = size_of::<M::Item>() / size_of::<W>();
        let all = rows_of_words::<W>(&mut self.rows).chunks_exact_mut((RUN + 1) * words);
        let written = rows_of_words::<W>(&mut self.written);
        // If an operator panics, too.
        let end = streams.then_some(stream::End);
        let mut left = before.unwrap_or_else(|| operator.identity());
        let (tiles, _) = places.as_chunks_mut::<TILE>();
        for ((tile, ends), rows) in tiles.iter_mut().zip(self.ends.as_chunks::<LANES>().0).zip(all) {
            set_item(rows, 0, left);
            for lane in 1..LANES {
                set_item(rows, lane, ends[lane - 1]);
            }
            // Item k of a run is the (k + 1)th of the rows.
            for (left, right) in [(0, 4), (0, 2), (0, 1), (2, 3), (4, 6), (4, 5), (6, 7)] {
                combine_rows(operator, rows, left, right);
            }
            for (lane, &end) in ends.iter().enumerate() {
                set_item(&mut rows[RUN * words..], lane, end);
            }
            left = ends[LANES - 1];
            // SAFETY: a tile is that many words, at least as aligned.
            let runs = unsafe {
                std::slice::from_raw_parts_mut(tile.as_mut_ptr().cast::<MaybeUninit<W>>(), TILE * words)
            };
            let shifted = match prefix {
                Prefix::Inclusive => &rows[words..],
                Prefix::Exclusive => &rows[..RUN * words],
            };
            if !streams {
                restore::<M::Item, W, AVX2>(shifted, runs);
                continue;
            }
            // SAFETY: rows are words, of which a tile has as many.
            let runs_of_tile =
                unsafe { std::slice::from_raw_parts_mut(written.as_mut_ptr().cast(), runs.len()) };
            restore::<M::Item, W, AVX2>(shifted, runs_of_tile);
            stream::store(written, runs);
        }
        drop(end);
        if before.is_none() {
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
        let before = [operator.identity(), a, ab, abc, abcd, op(abcd, e), to_ef, op(to_ef, g), self.ends[0]];
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
