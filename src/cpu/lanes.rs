//! The brackets of many runs at once, in vector lanes.
//!
//! A tile is 16 to 64 runs of eight items. It is transposed into rows of words. A row has the same
//! word of every run, so run l is lane l. Then the bracket of a run is a loop over lanes that reads
//! rows and writes rows.
//!
//! The lanes are independent, so the compiler vectorises this loop for any operator. The fields of
//! a `struct` are rows, and an `if` is a selection. Neighbours are always in one lane, so only the
//! transposition moves data between lanes.

#![allow(unsafe_code)]

use super::rows::{
    Row, Rows, Word, WordSplit, append_items_of_lanes, combine, in_words_of, item, set_item, words_of_items,
};
use super::transposition::transpose;
use super::units::RUN;
use super::vectors::Registers;
use crate::Monoid;

/// Items of a tile, whose runs fill the lanes.
pub(super) const fn tile_items<T>() -> usize {
    WordSplit::<T>::LANES * RUN
}

/// Appends the values of all runs of a tile to `values`.
///
/// # Safety
///
/// The items [fit the lanes](super::rows::fits_lanes).
#[inline(always)]
pub(super) unsafe fn tile<M: Monoid, const BYTES: usize>(
    registers: Registers<BYTES>,
    operator: &M,
    tile: &[M::Item],
    values: &mut Vec<M::Item>,
) {
    // SAFETY: the items fit the lanes, as the caller promises.
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
    // SAFETY: the items fit the lanes, so they have no padding. The rows are the first ones of
    // `Rows`. Each step sets the rows that the next one reads.
    unsafe {
        let runs = words_of_items::<_, W>(tile);
        transpose::<M::Item, W, BYTES>(registers, runs, items);
        combine_runs(operator, items, value);
        append_items_of_lanes(value, values);
    }
}

/// Computes the bracket of each lane's run. Intermediate values stay in registers.
///
/// # Safety
///
/// The items fit the lanes, and were transposed into the rows.
#[inline(always)]
unsafe fn combine_runs<M: Monoid, W: Word>(operator: &M, items: &[Row<W>], value: &mut [Row<W>]) {
    let words = size_of::<M::Item>() / size_of::<W>();
    // SAFETY: the items fit the lanes, as the caller promises.
    let op = |left, right| unsafe { combine::<M, W>(operator, left, right) };
    for lane in 0..W::LANES {
        // SAFETY: all items were transposed into the rows, as the caller promises.
        let at = |index: usize| unsafe { item::<M::Item, W>(&items[index * words..], lane) };
        let abcd = op(op(at(0), at(1)), op(at(2), at(3)));
        let efgh = op(op(at(4), at(5)), op(at(6), at(7)));
        // SAFETY: the items fit the lanes, as the caller promises.
        unsafe { set_item(value, lane, op(abcd, efgh)) };
    }
}
