//! Many runs at once.
//!
//! A tile is 16 to 64 runs of eight items. It is transposed into rows of words, each of which has the same word of
//! every run: run l is lane l. Then the bracket of a run is a loop over lanes that reads rows and writes rows, and in which no lane has
//! to do with another. The compiler makes vector instructions of such a loop whatever the operator: the fields of a `struct`
//! are rows, and an `if` is a selection. Since neighbours are always in one lane, nothing is moved between lanes but by the
//! transposition.

#![allow(unsafe_code)]

use super::RUN;
use super::rows::{
    Cut, Room, Row, Word, append_items_of_lanes, combine, in_words_of, item, rows_of_words, set_item,
    words_of_items,
};
use super::transposition::{Ahead, transpose};
use crate::Monoid;

/// Items whose runs fill the lanes.
pub(super) const fn tile_items<T>() -> usize {
    Cut::<T>::LANES * RUN
}

/// Room for the rows of a tile and of its values.
pub(super) struct Lanes {
    rows: Vec<Room>,
}

impl Lanes {
    /// For items that [`suit`](super::rows::suit).
    pub(super) fn new<T>() -> Self {
        let bytes = (tile_items::<T>() + Cut::<T>::LANES) * size_of::<T>();
        Self { rows: vec![Room::NONE; Room::of(bytes)] }
    }

    /// Adds the values of all runs of a tile. Meanwhile, if it `ASKS`, as many bytes are asked for of what is `ahead`.
    #[inline(always)]
    pub(super) fn tile<M: Monoid, const BYTES: usize, const ASKS: bool>(
        &mut self,
        operator: &M,
        tile: &[M::Item],
        ahead: Ahead,
        values: &mut Vec<M::Item>,
    ) {
        in_words_of!(M::Item, W => self.tile_of_words::<M, W, BYTES, ASKS>(operator, tile, ahead, values));
    }

    #[inline(always)]
    fn tile_of_words<M: Monoid, W: Word, const BYTES: usize, const ASKS: bool>(
        &mut self,
        operator: &M,
        tile: &[M::Item],
        ahead: Ahead,
        values: &mut Vec<M::Item>,
    ) {
        let words = size_of::<M::Item>() / size_of::<W>();
        let rows = &mut rows_of_words::<W>(&mut self.rows)[..(RUN + 1) * words];
        let (items, value) = rows.split_at_mut(RUN * words);
        // SAFETY: items that suit have no padding.
        let runs = unsafe { words_of_items::<_, W>(tile) };
        transpose::<M::Item, W, BYTES, ASKS>(runs, items, ahead);
        combine_runs(operator, items, value);
        append_items_of_lanes::<M::Item, W>(value, values);
    }
}

/// In every lane, the bracket of the run. What is between stays in registers.
#[inline(always)]
fn combine_runs<M: Monoid, W: Word>(operator: &M, items: &[Row<W>], value: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    let op = |left, right| combine::<M, W>(operator, left, right);
    for lane in 0..W::LANES {
        let at = |index: usize| item::<M::Item, W>(&items[index * words..], lane);
        let abcd = op(op(at(0), at(1)), op(at(2), at(3)));
        let efgh = op(op(at(4), at(5)), op(at(6), at(7)));
        set_item(value, lane, op(abcd, efgh));
    }
}
