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
        let (rows, values_of_lanes) = rows_of_words::<W>(&mut self.rows).split_at_mut(RUN * words);
        for tile in tiles {
            // SAFETY: a tile is that many words, at least as aligned, and none of them padding.
            let runs = unsafe { std::slice::from_raw_parts(tile.as_ptr().cast::<W>(), TILE * words) };
            transpose::<M::Item, W, AVX2>(runs, rows, runs.as_ptr().wrapping_byte_add(AHEAD_BYTES));
            combine_runs(operator, rows, values_of_lanes);
            values.extend_from_slice(&items_of_lanes::<M::Item, W>(values_of_lanes));
        }
    }
}

/// In every lane, the items of its run: in one loop, so that what is combined stays in registers.
#[inline(always)]
fn combine_runs<M: Monoid, W: Word>(operator: &M, rows: &[Row<W>], values: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    let rows = &rows[..RUN * words];
    let op = |left, right| operator.combine(left, right);
    for lane in 0..LANES {
        let at = |place: usize| item(&rows[place * words..], lane);
        let (ab, cd, ef, gh) = (op(at(0), at(1)), op(at(2), at(3)), op(at(4), at(5)), op(at(6), at(7)));
        set_item(values, lane, op(op(ab, cd), op(ef, gh)));
    }
}
