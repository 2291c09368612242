//! Many items beside each other: a row has one word of each.
//!
//! Items are cut into words of their alignment, so that no word has parts of two fields. That wants items without
//! padding, whose bytes nobody may look at; and small ones: a large item fills registers by itself.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::{Kind, Layout, Monoid};

/// The largest items whose tile and its rows stay in a first-level cache.
const MOST_BYTES: usize = 32;

/// One word of each item, once they are set. In [`Rows`] those of 64 bytes and more are as aligned as that.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Row<W: Word>(MaybeUninit<W::Lanes>);

impl<W: Word> Row<W> {
    /// The words of all lanes.
    #[inline(always)]
    pub(super) fn words(&self) -> *const W {
        self.0.as_ptr().cast()
    }

    #[inline(always)]
    pub(super) fn words_mut(&mut self) -> *mut W {
        self.0.as_mut_ptr().cast()
    }
}

/// Room for the rows of so many items in every lane. As aligned as the widest registers, so that none of their loads takes two lines; and
/// on the stack: a compiler that sees all that is done with them keeps them in registers, if there are enough.
#[repr(C, align(64))]
pub(super) struct Rows<W: Word, const ITEMS: usize>([MaybeUninit<W::Rows>; ITEMS]);

impl<W: Word, const ITEMS: usize> Rows<W, ITEMS> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; ITEMS])
    }

    /// So many, which need not be set.
    #[inline(always)]
    pub(super) fn first(&mut self, count: usize) -> &mut [Row<W>] {
        assert!(count <= size_of::<Self>() / size_of::<Row<W>>());
        // SAFETY: there is room for them, at least as aligned, and their words need not be set.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

/// What items are cut into: integers.
///
/// # Safety
///
/// Any bits are one.
pub(super) unsafe trait Word: Copy + 'static {
    /// The words of a row.
    type Lanes: Copy;
    /// As many rows as an item has words, at most.
    type Rows: Copy;
    const LANES: usize = size_of::<Self::Lanes>() / size_of::<Self>();
}

/// An integer of which a row has so many.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub(super) struct In<W, const LANES: usize>(pub(super) W);

macro_rules! words {
    ($($integer:ident: $lanes:literal, $most:expr;)*) => {$(
        // SAFETY: it is an integer.
        unsafe impl Word for In<$integer, $lanes> {
            type Lanes = [Self; $lanes];
            type Rows = [Row<Self>; $most];
        }
        const _: () = assert!(size_of::<Row<In<$integer, $lanes>>>() == $lanes * size_of::<$integer>());
    )*};
}
// So many words of an item at most: as `Cut` has them.
words! {
    u8: 64, 3;
    u8: 32, MOST_BYTES;
    u16: 32, MOST_BYTES / 2;
    u32: 32, 1;
    u32: 16, MOST_BYTES / 4;
    u64: 16, MOST_BYTES / 8;
}

/// Which [`Word`].
pub(super) enum Words {
    U8x64,
    U8x32,
    U16x32,
    U32x32,
    U32x16,
    U64x16,
}

/// Evaluates an expression, in which `$word` names the [`Word`] that items of a type are cut into. Code is made for no other: each
/// condition is a constant, and of what a `match` chooses by the same constant the compiler would make all.
macro_rules! in_words_of {
    ($item:ty, $word:ident => $do:expr) => {
        in_words_of! { $item, $word => $do; U8x64: u8, 64; U8x32: u8, 32; U16x32: u16, 32; U32x32: u32, 32; U32x16: u32, 16; U64x16: u64, 16 }
    };
    ($item:ty, $word:ident => $do:expr; $($words:ident: $integer:ident, $lanes:literal);*) => {
        $(if const { matches!($crate::cpu::rows::Cut::<$item>::WORDS, $crate::cpu::rows::Words::$words) } {
            type $word = $crate::cpu::rows::In<$integer, $lanes>;
            $do
        } else)* {
            unreachable!()
        }
    };
}
pub(super) use in_words_of;

/// How items of a type are cut.
pub(super) struct Cut<T>(std::marker::PhantomData<T>);

impl<T> Cut<T> {
    /// Rows fill one register of 64 bytes or two, or half of one where items have many words. Items of several words have few lanes: what a
    /// tile stores that waits for memory leaves others room in a core's queue.
    pub(super) const WORDS: Words = match (align_of::<T>(), size_of::<T>()) {
        (1, ..4) => Words::U8x64,
        (1, _) => Words::U8x32,
        (2, _) => Words::U16x32,
        (4, 4) => Words::U32x32,
        (4, _) => Words::U32x16,
        _ => Words::U64x16,
    };
    /// Items beside each other.
    pub(super) const LANES: usize = in_words_of!(T, W => {
        assert!(size_of::<T>() > MOST_BYTES || size_of::<T>() * W::LANES <= size_of::<<W as Word>::Rows>());
        W::LANES
    });
}

/// There is room for the largest items of every kind of words.
const _: [usize; 6] = [
    Cut::<[u8; 3]>::LANES,
    Cut::<[u8; MOST_BYTES]>::LANES,
    Cut::<[u16; MOST_BYTES / 2]>::LANES,
    Cut::<[u32; 1]>::LANES,
    Cut::<[u32; MOST_BYTES / 4]>::LANES,
    Cut::<[u64; MOST_BYTES / 8]>::LANES,
];

/// Whether items of a type are so small that they may [suit].
pub(super) const fn may_suit<T>() -> bool {
    size_of::<T>() <= MOST_BYTES
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

/// The places of items.
///
/// # Safety
///
/// Nothing but items is written to them.
pub(super) unsafe fn as_places<T>(items: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: the same memory, and as was promised.
    unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), items.len()) }
}

/// All words of items.
///
/// # Safety
///
/// They have no padding.
pub(super) unsafe fn words_of_items<T, W: Word>(items: &[T]) -> &[W] {
    let words = size_of_val(items) / size_of::<W>();
    // SAFETY: they are that many, at least as aligned, and as the caller says.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), words) }
}

/// The places of all words of items.
///
/// # Safety
///
/// As for [`words_of_items`].
pub(super) unsafe fn words_of_places<T, W: Word>(places: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<W>] {
    let words = size_of_val(places) / size_of::<W>();
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast(), words) }
}

/// The item of a lane, its words from as many rows.
///
/// # Safety
///
/// The items [suit], and that item was set in the rows, or transposed into them.
#[inline(always)]
pub(super) unsafe fn item<T, W: Word>(rows: &[Row<W>], lane: usize) -> T {
    let words = words_of::<T, W>();
    let rows = &rows[..words];
    assert!(lane < W::LANES);
    let mut item = MaybeUninit::<T>::uninit();
    // SAFETY: the item has that many words, and a row as many as lanes.
    each_word::<T, W>(|word| unsafe {
        item.as_mut_ptr().cast::<W>().add(word).write(rows[word].words().add(lane).read())
    });
    // SAFETY: all its words are those of an item, as the caller says.
    unsafe { item.assume_init() }
}

/// # Safety
///
/// The items [suit].
#[inline(always)]
pub(super) unsafe fn set_item<T, W: Word>(rows: &mut [Row<W>], lane: usize, item: T) {
    let words = words_of::<T, W>();
    let rows = &mut rows[..words];
    assert!(lane < W::LANES);
    // SAFETY: the item has that many words, none of them padding, and a row as many as lanes.
    each_word::<T, W>(|word| unsafe {
        rows[word].words_mut().add(lane).write((&raw const item).cast::<W>().add(word).read())
    });
}

/// Adds the items of all lanes.
///
/// # Safety
///
/// The items [suit], and those of all lanes were set in the rows.
#[inline(always)]
pub(super) unsafe fn append_items_of_lanes<T: Copy, W: Word>(rows: &[Row<W>], items: &mut Vec<T>) {
    let words = words_of::<T, W>();
    let rows = &rows[..words];
    items.reserve(W::LANES);
    let places = items.spare_capacity_mut().as_mut_ptr().cast::<W>();
    if let [row] = rows {
        // SAFETY: an item is one word, and there is room for as many.
        unsafe { row.words().copy_to_nonoverlapping(places, W::LANES) };
    } else {
        for lane in 0..some_lanes::<W>() {
            for (word, row) in rows.iter().enumerate() {
                // SAFETY: there is room for as many items as lanes, and an item has that many words.
                unsafe { places.add(lane * words + word).write(row.words().add(lane).read()) };
            }
        }
    }
    // SAFETY: the words of all of them were written, and are those of items: only such are set.
    unsafe { items.set_len(items.len() + W::LANES) };
}

/// As many items as lanes.
///
/// # Safety
///
/// The items [suit].
#[inline(always)]
pub(super) unsafe fn set_items_of_lanes<T: Copy, W: Word>(rows: &mut [Row<W>], items: &[T]) {
    assert_eq!(items.len(), W::LANES);
    let words = words_of::<T, W>();
    let rows = &mut rows[..words];
    let from = items.as_ptr().cast::<W>();
    if let [row] = rows {
        // SAFETY: an item is one word, none of it padding, and there are as many.
        unsafe { from.copy_to_nonoverlapping(row.words_mut(), W::LANES) };
        return;
    }
    for lane in 0..some_lanes::<W>() {
        for (word, row) in rows.iter_mut().enumerate() {
            // SAFETY: as above, and an item has that many words.
            unsafe { row.words_mut().add(lane).write(from.add(lane * words + word).read()) };
        }
    }
}

/// All lanes, but no compiler knows: it would write a loop over so few out, and move words one by one.
#[inline(always)]
fn some_lanes<W: Word>() -> usize {
    std::hint::black_box(W::LANES).min(W::LANES)
}

/// The value of two items. All three are taken apart: where an operator chooses between items, a compiler that sees their words
/// chooses between those, and otherwise between addresses, for which there are no vector instructions.
///
/// # Safety
///
/// The items [suit].
#[inline(always)]
pub(super) unsafe fn combine<M: Monoid, W: Word>(operator: &M, left: M::Item, right: M::Item) -> M::Item {
    // SAFETY: as the caller says.
    unsafe { by_words::<_, W>(operator.combine(by_words::<_, W>(left), by_words::<_, W>(right))) }
}

/// # Safety
///
/// The item [suits](suit).
#[inline(always)]
unsafe fn by_words<T, W: Word>(item: T) -> T {
    let mut same = MaybeUninit::<T>::uninit();
    let (from, to) = ((&raw const item).cast::<W>(), same.as_mut_ptr().cast::<W>());
    // SAFETY: both have that many words, none of them padding.
    each_word::<T, W>(|word| unsafe { to.add(word).write(from.add(word).read()) });
    // SAFETY: all its words are those of an item.
    unsafe { same.assume_init() }
}

/// Of an item that [suits](suit).
#[inline(always)]
fn words_of<T, W: Word>() -> usize {
    assert!(size_of::<T>() <= MOST_BYTES && align_of::<T>() >= align_of::<W>());
    size_of::<T>() / size_of::<W>()
}

/// Calls `each` for every word of an item. No loop: where a word is must be a constant before a compiler takes items apart.
#[inline(always)]
fn each_word<T, W: Word>(mut each: impl FnMut(usize)) {
    macro_rules! each_of {
        ($($word:literal)*) => {
            const { assert!([$($word),*].len() == MOST_BYTES) };
            $(if const { $word < size_of::<T>() / size_of::<W>() } {
                each($word);
            })*
        };
    }
    each_of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}
