//! Many items beside each other: a row has one word of each.
//!
//! Items are cut into words of their alignment, so that no word has parts of two fields. That wants items without
//! padding, whose bytes nobody may look at; and small ones: a large item fills registers by itself.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::{Kind, Layout, Monoid};

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
    let words = words_of::<T, W>();
    let rows = &rows[..words];
    let mut item = MaybeUninit::<T>::uninit();
    // SAFETY: the item has that many words.
    each_word(words, |word| unsafe { item.as_mut_ptr().cast::<W>().add(word).write(rows[word].0[lane]) });
    // SAFETY: all its words are those of an item: only items are transposed, and set.
    unsafe { item.assume_init() }
}

#[inline(always)]
pub(super) fn set_item<T, W: Word>(rows: &mut [Row<W>], lane: usize, item: T) {
    let words = words_of::<T, W>();
    let rows = &mut rows[..words];
    // SAFETY: the item has that many words, none of them padding.
    each_word(words, |word| rows[word].0[lane] = unsafe { (&raw const item).cast::<W>().add(word).read() });
}

/// The items of all lanes.
#[inline(always)]
pub(super) fn items_of_lanes<T: Copy, W: Word>(rows: &[Row<W>]) -> [T; LANES] {
    let words = words_of::<T, W>();
    let rows = &rows[..words];
    if let [row] = rows {
        // SAFETY: an item is one word, so a row has as many bytes, and they are those of items: only such are set.
        return unsafe { std::mem::transmute_copy(row) };
    }
    let mut items = [const { MaybeUninit::<T>::uninit() }; LANES];
    let places = items.as_mut_ptr().cast::<W>();
    for lane in 0..some_lanes() {
        for (word, row) in rows.iter().enumerate() {
            // SAFETY: there are as many lanes, and an item has that many words.
            unsafe { places.add(lane * words + word).write(*row.0.get_unchecked(lane)) };
        }
    }
    // SAFETY: the words of all of them are those of items: only such are set.
    unsafe { std::mem::transmute_copy(&items) }
}

#[inline(always)]
pub(super) fn set_items_of_lanes<T: Copy, W: Word>(rows: &mut [Row<W>], items: &[T; LANES]) {
    let words = words_of::<T, W>();
    let rows = &mut rows[..words];
    if let [row] = rows {
        // SAFETY: an item is one word, so as many items are a row, and none of it is padding.
        *row = unsafe { std::mem::transmute_copy(items) };
        return;
    }
    let from = items.as_ptr().cast::<W>();
    for lane in 0..some_lanes() {
        for (word, row) in rows.iter_mut().enumerate() {
            // SAFETY: as above, and none of the words is padding.
            unsafe { *row.0.get_unchecked_mut(lane) = from.add(lane * words + word).read() };
        }
    }
}

/// All lanes, but no compiler knows: it would write a loop over so few out, and move words one by one.
#[inline(always)]
fn some_lanes() -> usize {
    std::hint::black_box(LANES).min(LANES)
}

/// The value of two items. All three are taken apart: where an operator chooses between items, a compiler that sees their words
/// chooses between those, and otherwise between addresses, for which there are no vector instructions.
#[inline(always)]
pub(super) fn combine<M: Monoid, W: Word>(operator: &M, left: M::Item, right: M::Item) -> M::Item {
    by_words::<_, W>(operator.combine(by_words::<_, W>(left), by_words::<_, W>(right)))
}

#[inline(always)]
fn by_words<T, W: Word>(item: T) -> T {
    let mut same = MaybeUninit::<T>::uninit();
    let (from, to) = ((&raw const item).cast::<W>(), same.as_mut_ptr().cast::<W>());
    // SAFETY: both have that many words, none of them padding.
    each_word(words_of::<T, W>(), |word| unsafe { to.add(word).write(from.add(word).read()) });
    // SAFETY: all its words are those of an item.
    unsafe { same.assume_init() }
}

/// Of an item that [suits](suit).
#[inline(always)]
fn words_of<T, W: Word>() -> usize {
    assert!(size_of::<T>() <= MOST_BYTES);
    size_of::<T>() / size_of::<W>()
}

/// Calls `each` for every word of so many. No loop: where a word is must be a constant before a compiler takes items apart.
#[inline(always)]
fn each_word(words: usize, mut each: impl FnMut(usize)) {
    macro_rules! each_of {
        ($($word:literal)*) => {
            const { assert!([$($word),*].len() == MOST_BYTES) };
            $(if $word < words {
                each($word);
            })*
        };
    }
    each_of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}
