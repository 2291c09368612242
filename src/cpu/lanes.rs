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
use super::transposition::{Ahead, transpose};
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

    /// Adds the values of all runs of a tile. Meanwhile, if it `ASKS`, as many bytes are asked for of what is `ahead`.
    #[inline(always)]
    pub(super) fn tile<M: Monoid, const BYTES: usize, const ASKS: bool>(
        &mut self,
        operator: &M,
        tile: &[M::Item; TILE],
        ahead: Ahead,
        values: &mut Vec<M::Item>,
    ) {
        let values_of_runs = match Cut::<M::Item>::BYTES {
            1 => self.tile_of_words::<M, u8, BYTES, ASKS>(operator, tile, ahead),
            2 => self.tile_of_words::<M, u16, BYTES, ASKS>(operator, tile, ahead),
            4 => self.tile_of_words::<M, u32, BYTES, ASKS>(operator, tile, ahead),
            _ => self.tile_of_words::<M, u64, BYTES, ASKS>(operator, tile, ahead),
        };
        values.extend_from_slice(&values_of_runs);
    }

    #[inline(always)]
    fn tile_of_words<M: Monoid, W: Word, const BYTES: usize, const ASKS: bool>(
        &mut self,
        operator: &M,
        tile: &[M::Item; TILE],
        ahead: Ahead,
    ) -> [M::Item; LANES] {
        let words = size_of::<M::Item>() / size_of::<W>();
        let rows = &mut rows_of_words::<W>(&mut self.rows)[..(RUN + 1) * words];
        let (items, value) = rows.split_at_mut(RUN * words);
        // SAFETY: a tile is that many words, at least as aligned, and none of them padding.
        let runs = unsafe { std::slice::from_raw_parts(tile.as_ptr().cast::<W>(), TILE * words) };
        transpose::<M::Item, W, BYTES, ASKS>(runs, items, ahead);
        combine_runs(operator, items, value);
        items_of_lanes::<M::Item, W>(value)
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
