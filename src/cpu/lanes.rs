//! Many runs at once.
//!
//! A tile is 32 runs of eight items. It is transposed into rows of words, each of which has the same word of every run:
//! run l is lane l. Then the bracket of a run is a loop over lanes that reads rows and writes rows, and in which no lane has
//! to do with another. The compiler makes vector instructions of such a loop whatever the operator: the fields of a `struct`
//! are rows, and an `if` is a selection. Since neighbours are always in one lane, nothing is moved between lanes but by the
//! transposition.

#![allow(unsafe_code)]

use super::RUN;
use super::rows::{Cut, LANES, Room, Row, Word, combine, item, items_of_lanes, rows_of_words, set_item};
use super::transposition::{AHEAD_BYTES, transpose};
use crate::Monoid;

/// Items whose runs fill the lanes.
pub(super) const TILE: usize = LANES * RUN;

/// Room for the rows of a tile and of its values.
pub(super) struct Lanes {
    rows: Vec<Room>,
}

impl Lanes {
    /// For items that [`suit`](super::rows::suit).
    pub(super) fn new<T>() -> Self {
        let bytes = (TILE + LANES) * size_of::<T>();
        Self { rows: vec![Room::NONE; Room::of(bytes)] }
    }

    /// Adds the values of all runs in whole tiles, and returns the items that are left. If it `goes_on`, memory after them is
    /// asked for, too.
    #[inline(always)]
    pub(super) fn tiles<'a, M: Monoid, const BYTES: usize>(
        &mut self,
        operator: &M,
        items: &'a [M::Item],
        goes_on: bool,
        values: &mut Vec<M::Item>,
    ) -> &'a [M::Item] {
        let (tiles, rest) = items.as_chunks::<TILE>();
        values.reserve(items.len().div_ceil(RUN));
        match Cut::<M::Item>::BYTES {
            1 => self.tiles_of_words::<M, u8, BYTES>(operator, tiles, goes_on, values),
            2 => self.tiles_of_words::<M, u16, BYTES>(operator, tiles, goes_on, values),
            4 => self.tiles_of_words::<M, u32, BYTES>(operator, tiles, goes_on, values),
            _ => self.tiles_of_words::<M, u64, BYTES>(operator, tiles, goes_on, values),
        }
        rest
    }

    #[inline(always)]
    fn tiles_of_words<M: Monoid, W: Word, const BYTES: usize>(
        &mut self,
        operator: &M,
        tiles: &[[M::Item; TILE]],
        goes_on: bool,
        values: &mut Vec<M::Item>,
    ) {
        let words = size_of::<M::Item>() / size_of::<W>();
        let (items, value) =
            rows_of_words::<W>(&mut self.rows)[..(RUN + 1) * words].split_at_mut(RUN * words);
        let end = tiles.as_ptr_range().end.cast();
        for tile in tiles {
            // SAFETY: a tile is that many words, at least as aligned, and none of them padding.
            let runs = unsafe { std::slice::from_raw_parts(tile.as_ptr().cast::<W>(), TILE * words) };
            let ahead = runs.as_ptr().wrapping_byte_add(AHEAD_BYTES);
            let ahead = if goes_on || ahead < end { ahead } else { runs.as_ptr() };
            transpose::<M::Item, W, BYTES, true>(runs, items, ahead);
            combine_runs(operator, items, value);
            values.extend_from_slice(&items_of_lanes::<M::Item, W>(value));
        }
    }
}

/// In every lane, the bracket of the run. What is between stays in registers.
#[inline(always)]
fn combine_runs<M: Monoid, W: Word>(operator: &M, items: &[Row<W>], value: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    let op = |left, right| combine::<M, W>(operator, left, right);
    for lane in 0..LANES {
        let at = |index: usize| item::<M::Item, W>(&items[index * words..], lane);
        let abcd = op(op(at(0), at(1)), op(at(2), at(3)));
        let efgh = op(op(at(4), at(5)), op(at(6), at(7)));
        set_item(value, lane, op(abcd, efgh));
    }
}
