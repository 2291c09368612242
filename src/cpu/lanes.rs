//! Many runs at once.
//!
//! A tile is 16 to 64 runs of eight items. It is transposed into rows of words, each of which has the same word of
//! every run: run l is lane l. Then the bracket of a run is a loop over lanes that reads rows and writes rows, and in which no lane has
//! to do with another. The compiler makes vector instructions of such a loop whatever the operator: the fields of a `struct`
//! are rows, and an `if` is a selection. Since neighbours are always in one lane, nothing is moved between lanes but by the
//! transposition.

#![allow(unsafe_code)]

use super::rows::{
    Cut, Row, Rows, Word, append_items_of_lanes, combine, in_words_of, item, set_item, words_of_items,
};
use super::transposition::transpose;
use super::units::RUN;
use super::vectors::Registers;
use crate::Monoid;

/// Items whose runs fill the lanes.
pub(super) const fn tile_items<T>() -> usize {
    Cut::<T>::LANES * RUN
}

/// Adds the values of all runs of a tile.
///
/// # Safety
///
/// The items [suit](super::rows::suit).
#[inline(always)]
pub(super) unsafe fn tile<M: Monoid, const BYTES: usize>(
    registers: Registers<BYTES>,
    operator: &M,
    tile: &[M::Item],
    values: &mut Vec<M::Item>,
) {
    // SAFETY: as the caller says.
    in_words_of!(M::Item, W => unsafe { tile_of_words::<M, W, BYTES>(registers, operator, tile, values) });
}

/// # Safety
///
/// As for [`tile`].
#[inline(always)]
unsafe fn tile_of_words<M: Monoid, W: Word, const BYTES: usize>(
    registers: Registers<BYTES>,
    operator: &M,
    tile: &[M::Item],
    values: &mut Vec<M::Item>,
) {
    let words = size_of::<M::Item>() / size_of::<W>();
    let (mut items, mut value) = (Rows::<W, RUN>::new(), Rows::<W, 1>::new());
    let (items, value) = (items.first(RUN * words), value.first(words));
    // SAFETY: the items suit, so they have no padding; the rows are the first ones, and set one after the other.
    unsafe {
        let runs = words_of_items::<_, W>(tile);
        transpose::<M::Item, W, BYTES>(registers, runs, items);
        combine_runs(operator, items, value);
        append_items_of_lanes(value, values);
    }
}

/// In every lane, the bracket of the run. What is between stays in registers.
///
/// # Safety
///
/// The items suit, and were transposed into the rows.
#[inline(always)]
unsafe fn combine_runs<M: Monoid, W: Word>(operator: &M, items: &[Row<W>], value: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    // SAFETY: as the caller says.
    let op = |left, right| unsafe { combine::<M, W>(operator, left, right) };
    for lane in 0..W::LANES {
        // SAFETY: as the caller says.
        let at = |index: usize| unsafe { item::<M::Item, W>(&items[index * words..], lane) };
        let abcd = op(op(at(0), at(1)), op(at(2), at(3)));
        let efgh = op(op(at(4), at(5)), op(at(6), at(7)));
        // SAFETY: as the caller says.
        unsafe { set_item(value, lane, op(abcd, efgh)) };
    }
}
