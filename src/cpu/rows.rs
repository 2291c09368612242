//! Many items beside each other: a row has one word of each.
//!
//! Items are cut into words of their alignment, so that no word has parts of two fields. That wants items without
//! padding, whose bytes nobody may look at; and small ones: a large item fills registers by itself.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::{Kind, Layout};

/// Words of a row: one register of bytes, or several of wider words.
pub(super) const LANES: usize = 32;
/// The largest items whose tile and its rows stay in a first-level cache.
const MOST_BYTES: usize = 32;

/// One word of each item.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Row<W>(pub(super) [W; LANES]);

/// Memory for rows: as aligned as the widest registers, so that none of their loads takes two lines.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Room([u64; LANES]);

impl Room {
    pub(super) const NONE: Self = Self([0; LANES]);

    /// Room for rows of so many bytes together.
    pub(super) fn of(bytes: usize) -> usize {
        bytes.div_ceil(size_of::<Self>())
    }
}

/// What items are cut into: integers.
pub(super) trait Word: Copy + Default + 'static {}
impl Word for u8 {}
impl Word for u16 {}
impl Word for u32 {}
impl Word for u64 {}

impl<W: Word> Default for Row<W> {
    fn default() -> Self {
        Self([W::default(); LANES])
    }
}

/// How items of a type are cut. A constant of its own, so that a `match` on it is decided before code is made for other words.
pub(super) struct Cut<T>(std::marker::PhantomData<T>);

impl<T> Cut<T> {
    /// Of a word.
    pub(super) const BYTES: usize = align_of::<T>();
}

/// Whether items are small, and without padding.
pub(super) fn suit(layout: &Layout) -> bool {
    layout.size <= MOST_BYTES && bytes_of_fields(layout) == layout.size
}

fn bytes_of_fields(layout: &Layout) -> usize {
    match &layout.kind {
        Kind::Scalar(_) => layout.size,
        Kind::Array { element, length } => length * bytes_of_fields(element),
        Kind::Struct { fields } => fields.iter().map(|field| bytes_of_fields(&field.layout)).sum(),
    }
}

/// The rows that there is room for.
pub(super) fn rows_of_words<W: Word>(room: &mut [Room]) -> &mut [Row<W>] {
    // SAFETY: it is at least as aligned, and the words of both are integers.
    unsafe {
        std::slice::from_raw_parts_mut(room.as_mut_ptr().cast(), size_of_val(room) / size_of::<Row<W>>())
    }
}

/// The item of a lane, its words from as many rows.
#[inline(always)]
pub(super) fn item<T, W: Word>(rows: &[Row<W>], lane: usize) -> T {
    let mut item = MaybeUninit::<T>::uninit();
    for (word, row) in rows[..size_of::<T>() / size_of::<W>()].iter().enumerate() {
        // SAFETY: the item has that many words.
        unsafe { item.as_mut_ptr().cast::<W>().add(word).write(row.0[lane]) };
    }
    // SAFETY: all its words are those of an item: only items are transposed, and set.
    unsafe { item.assume_init() }
}

/// The items of all lanes.
#[inline(always)]
pub(super) fn items_of_lanes<T: Copy, W: Word>(rows: &[Row<W>]) -> [T; LANES] {
    match &rows[..size_of::<T>() / size_of::<W>()] {
        // One by one, a compiler made shuffles of it.
        // SAFETY: an item is one word, so a row has as many bytes, and they are those of items: only such are set.
        [row] => unsafe { std::mem::transmute_copy(row) },
        rows => std::array::from_fn(|lane| item(rows, lane)),
    }
}

#[inline(always)]
pub(super) fn set_item<T, W: Word>(rows: &mut [Row<W>], lane: usize, item: T) {
    for (word, row) in rows[..size_of::<T>() / size_of::<W>()].iter_mut().enumerate() {
        // SAFETY: the item has that many words, none of them padding.
        row.0[lane] = unsafe { (&raw const item).cast::<W>().add(word).read() };
    }
}

#[inline(always)]
pub(super) fn set_items_of_lanes<T: Copy, W: Word>(rows: &mut [Row<W>], items: &[T; LANES]) {
    match &mut rows[..size_of::<T>() / size_of::<W>()] {
        // As above.
        // SAFETY: an item is one word, so as many items are a row, and none of it is padding.
        [row] => *row = unsafe { std::mem::transmute_copy(items) },
        rows => items.iter().enumerate().for_each(|(lane, &item)| set_item(rows, lane, item)),
    }
}
