//! Many runs at once.
//!
//! A tile is 32 runs of eight items. It is transposed into rows of words, each of which has the same word of every run:
//! run l is lane l. Then `combine` is a loop over lanes that reads rows and writes rows, and in which no lane has to do
//! with another. The compiler makes vector instructions of such a loop whatever the operator: the fields of a `struct`
//! are rows, and an `if` is a selection. Since neighbours are always in one lane, each lane has the bracket of its run
//! at the end, and nothing is moved between lanes but by the transposition.

#![allow(unsafe_code)]

use super::RUN;
use super::rows::{Cut, LANES, Room, Row, Word, item, items_of_lanes, rows_of_words, set_item};
use super::transposition::{AHEAD_BYTES, transpose};
use crate::Monoid;

/// Items whose runs fill the lanes.
pub(super) const TILE: usize = LANES * RUN;
/// Room for the rows of a tile and of its pairs.
pub(super) struct Lanes {
    rows: Vec<Room>,
}

impl Lanes {
    /// For items that [`suit`](super::rows::suit).
    pub(super) fn new<T>() -> Self {
        let bytes = (TILE + TILE / 2) * size_of::<T>();
        Self { rows: vec![Room::NONE; Room::of(bytes)] }
    }

    /// Adds the values of all runs in whole tiles, and returns the items that are left.
    #[inline(always)]
    pub(super) fn tiles<'a, M: Monoid, const AVX2: bool>(
        &mut self,
        operator: &M,
        items: &'a [M::Item],
        values: &mut Vec<M::Item>,
    ) -> &'a [M::Item] {
        let (tiles, rest) = items.as_chunks::<TILE>();
        values.reserve(items.len().div_ceil(RUN));
        match Cut::<M::Item>::BYTES {
            1 => self.tiles_of_words::<M, u8, AVX2>(operator, tiles, values),
            2 => self.tiles_of_words::<M, u16, AVX2>(operator, tiles, values),
            4 => self.tiles_of_words::<M, u32, AVX2>(operator, tiles, values),
            _ => self.tiles_of_words::<M, u64, AVX2>(operator, tiles, values),
        }
        rest
    }

    #[inline(always)]
    fn tiles_of_words<M: Monoid, W: Word, const AVX2: bool>(
        &mut self,
        operator: &M,
        tiles: &[[M::Item; TILE]],
        values: &mut Vec<M::Item>,
    ) {
        let words = size_of::<M::Item>() / size_of::<W>();
        let (even, odd) = rows_of_words::<W>(&mut self.rows).split_at_mut(RUN * words);
        for tile in tiles {
            // SAFETY: a tile is that many words, at least as aligned, and none of them padding.
            let runs = unsafe { std::slice::from_raw_parts(tile.as_ptr().cast::<W>(), TILE * words) };
            transpose::<M::Item, W, AVX2>(runs, even, runs.as_ptr().wrapping_byte_add(AHEAD_BYTES));
            combine_pairs(operator, even, &mut odd[..4 * words]);
            combine_pairs(operator, &odd[..4 * words], &mut even[..2 * words]);
            combine_pairs(operator, &even[..2 * words], &mut odd[..words]);
            values.extend_from_slice(&items_of_lanes::<M::Item, W>(&odd[..words]));
        }
    }
}

/// In every lane, of every pair of neighbours.
#[inline(always)]
fn combine_pairs<M: Monoid, W: Word>(operator: &M, pairs: &[Row<W>], values: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    for (pair, value) in pairs.chunks_exact(2 * words).zip(values.chunks_exact_mut(words)) {
        let (left, right) = pair.split_at(words);
        for lane in 0..LANES {
            let combined = operator.combine(item(left, lane), item(right, lane));
            set_item(value, lane, combined);
        }
    }
}
