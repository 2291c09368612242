//! Many items side by side, as rows: a row has one word of each item.
//!
//! Items are cut into words of their alignment, so that no word has parts of two fields. Items
//! with padding are not cut, because padding must not be read. Large items are not cut, because one
//! of them fills registers by itself.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::{Kind, Layout, Monoid};

/// Largest item, in bytes, whose tile and rows stay in the first-level cache.
const MAX_BYTES: usize = 32;

/// One word of each lane's item. In [`Rows`], a row of 64 bytes or more is aligned to 64 bytes.
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

/// Memory for the rows of `ITEMS` items in every lane.
///
/// It is aligned to the widest registers, so that no load crosses a line. It is on the stack, so
/// that the compiler can keep the rows in registers if there are enough.
#[repr(C, align(64))]
pub(super) struct Rows<W: Word, const ITEMS: usize>([MaybeUninit<W::Rows>; ITEMS]);

impl<W: Word, const ITEMS: usize> Rows<W, ITEMS> {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self([const { MaybeUninit::uninit() }; ITEMS])
    }

    /// The first `count` rows, which may be uninitialised.
    #[inline(always)]
    pub(super) fn first(&mut self, count: usize) -> &mut [Row<W>] {
        assert!(count <= size_of::<Self>() / size_of::<Row<W>>());
        // SAFETY: `self` has at least this size and this alignment. The words of a row may be
        // uninitialised.
        unsafe { std::slice::from_raw_parts_mut(self.0.as_mut_ptr().cast(), count) }
    }
}

/// An integer type that items are cut into.
///
/// # Safety
///
/// Every bit pattern is a valid value.
pub(super) unsafe trait Word: Copy + 'static {
    /// The words of a row.
    type Lanes: Copy;
    /// As many rows as the largest item has words.
    type Rows: Copy;
    const LANES: usize = size_of::<Self::Lanes>() / size_of::<Self>();
}

/// An integer whose rows have `LANES` words.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(transparent)]
pub(super) struct In<W, const LANES: usize>(pub(super) W);

macro_rules! words {
    ($($integer:ident: $lanes:literal, $most:expr;)*) => {$(
        // SAFETY: every bit pattern of an integer is valid.
        unsafe impl Word for In<$integer, $lanes> {
            type Lanes = [Self; $lanes];
            type Rows = [Row<Self>; $most];
        }
        const _: () = assert!(size_of::<Row<In<$integer, $lanes>>>() == $lanes * size_of::<$integer>());
    )*};
}
// For each integer: the lanes of a row, and the most words of an item, as `WordSplit` chooses them.
words! {
    u8: 64, 3;
    u8: 32, MAX_BYTES;
    u16: 32, MAX_BYTES / 2;
    u32: 32, 1;
    u32: 16, MAX_BYTES / 4;
    u64: 16, MAX_BYTES / 8;
}

/// The [`Word`] types.
pub(super) enum Words {
    U8x64,
    U8x32,
    U16x32,
    U32x32,
    U32x16,
    U64x16,
}

/// Evaluates an expression in which `$word` names the [`Word`] type that `$item` is cut into.
///
/// Each condition is a constant, so code is generated for one type only. A `match` on the same
/// constant would generate code for all types.
macro_rules! in_words_of {
    ($item:ty, $word:ident => $do:expr) => {
        in_words_of! { $item, $word => $do; U8x64: u8, 64; U8x32: u8, 32; U16x32: u16, 32; U32x32: u32, 32; U32x16: u32, 16; U64x16: u64, 16 }
    };
    ($item:ty, $word:ident => $do:expr; $($words:ident: $integer:ident, $lanes:literal);*) => {
        $(if const { matches!($crate::cpu::rows::WordSplit::<$item>::WORDS, $crate::cpu::rows::Words::$words) } {
            type $word = $crate::cpu::rows::In<$integer, $lanes>;
            $do
        } else)* {
            unreachable!()
        }
    };
}
pub(super) use in_words_of;

/// How items of type `T` are cut into words.
pub(super) struct WordSplit<T>(std::marker::PhantomData<T>);

impl<T> WordSplit<T> {
    /// The word type of an item.
    ///
    /// A row fills one or two registers of 64 bytes, or half of one if items have many words. Items
    /// of several words have fewer lanes. So the stores of a tile that wait for memory leave room
    /// in the store queue of the core.
    pub(super) const WORDS: Words = match (align_of::<T>(), size_of::<T>()) {
        (1, ..4) => Words::U8x64,
        (1, _) => Words::U8x32,
        (2, _) => Words::U16x32,
        (4, 4) => Words::U32x32,
        (4, _) => Words::U32x16,
        _ => Words::U64x16,
    };
    /// Items side by side.
    pub(super) const LANES: usize = in_words_of!(T, W => {
        assert!(size_of::<T>() > MAX_BYTES || size_of::<T>() * W::LANES <= size_of::<<W as Word>::Rows>());
        W::LANES
    });
}

/// Checks that the rows have room for the largest items of every word type.
const _: [usize; 6] = [
    WordSplit::<[u8; 3]>::LANES,
    WordSplit::<[u8; MAX_BYTES]>::LANES,
    WordSplit::<[u16; MAX_BYTES / 2]>::LANES,
    WordSplit::<[u32; 1]>::LANES,
    WordSplit::<[u32; MAX_BYTES / 4]>::LANES,
    WordSplit::<[u64; MAX_BYTES / 8]>::LANES,
];

/// Whether items of type `T` are small enough that they [fit the lanes](fits_lanes).
pub(super) const fn may_fit_lanes<T>() -> bool {
    size_of::<T>() <= MAX_BYTES
}

/// Whether items are small, and have no padding. Only these are processed in lanes.
pub(super) fn fits_lanes(layout: &Layout) -> bool {
    layout.size <= MAX_BYTES && bytes_of_fields(layout) == layout.size
}

fn bytes_of_fields(layout: &Layout) -> usize {
    match &layout.kind {
        Kind::Scalar(_) => layout.size,
        Kind::Array { element, length } => length * bytes_of_fields(element),
        Kind::Struct { fields } | Kind::Tuple { fields } => {
            fields.iter().map(|field| bytes_of_fields(&field.layout)).sum()
        }
    }
}

/// The items as memory to write to.
///
/// # Safety
///
/// The caller writes only items to it.
pub(super) unsafe fn as_places<T>(items: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: it is the same memory, and only items are written to it, as the caller promises.
    unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), items.len()) }
}

/// All words of the items.
///
/// # Safety
///
/// The items have no padding.
pub(super) unsafe fn words_of_items<T, W: Word>(items: &[T]) -> &[W] {
    let words = size_of_val(items) / size_of::<W>();
    // SAFETY: the items have this many words and at least this alignment. They have no padding, as
    // the caller promises.
    unsafe { std::slice::from_raw_parts(items.as_ptr().cast(), words) }
}

/// The words of the memory of items, to write to.
///
/// # Safety
///
/// As for [`words_of_items`].
pub(super) unsafe fn words_of_places<T, W: Word>(places: &mut [MaybeUninit<T>]) -> &mut [MaybeUninit<W>] {
    let words = size_of_val(places) / size_of::<W>();
    // SAFETY: the memory has this many words, and at least this alignment.
    unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast(), words) }
}

/// The item of a lane. It has one word in each row.
///
/// # Safety
///
/// The items [fit the lanes](fits_lanes). The item of this lane was set in the rows, or transposed
/// into them.
#[inline(always)]
pub(super) unsafe fn item<T, W: Word>(rows: &[Row<W>], lane: usize) -> T {
    let words = words_of::<T, W>();
    let rows = &rows[..words];
    assert!(lane < W::LANES);
    let mut item = MaybeUninit::<T>::uninit();
    // SAFETY: the item has this many words, and `lane` is within a row.
    each_word::<T, W>(|word| unsafe {
        item.as_mut_ptr().cast::<W>().add(word).write(rows[word].words().add(lane).read())
    });
    // SAFETY: all its words are words of an item, as the caller promises.
    unsafe { item.assume_init() }
}

/// Sets the item of a lane, one word in each row.
///
/// # Safety
///
/// The items [fit the lanes](fits_lanes).
#[inline(always)]
pub(super) unsafe fn set_item<T, W: Word>(rows: &mut [Row<W>], lane: usize, item: T) {
    let words = words_of::<T, W>();
    let rows = &mut rows[..words];
    assert!(lane < W::LANES);
    // SAFETY: the item has this many words, and no padding. `lane` is within a row.
    each_word::<T, W>(|word| unsafe {
        rows[word].words_mut().add(lane).write((&raw const item).cast::<W>().add(word).read())
    });
}

/// Appends the items of all lanes to `items`.
///
/// # Safety
///
/// The items [fit the lanes](fits_lanes). The items of all lanes were set in the rows.
#[inline(always)]
pub(super) unsafe fn append_items_of_lanes<T: Copy, W: Word>(rows: &[Row<W>], items: &mut Vec<T>) {
    let words = words_of::<T, W>();
    let rows = &rows[..words];
    items.reserve(W::LANES);
    let places = items.spare_capacity_mut().as_mut_ptr().cast::<W>();
    if let [row] = rows {
        // SAFETY: an item is one word, and `items` has room for all lanes.
        unsafe { row.words().copy_to_nonoverlapping(places, W::LANES) };
    } else {
        for lane in 0..opaque_lane_count::<W>() {
            for (word, row) in rows.iter().enumerate() {
                // SAFETY: `items` has room for all lanes, and an item has this many words.
                unsafe { places.add(lane * words + word).write(row.words().add(lane).read()) };
            }
        }
    }
    // SAFETY: all words of the new items were written. They are words of items, since only these
    // are set in rows.
    unsafe { items.set_len(items.len() + W::LANES) };
}

/// Sets the items of all lanes. `items` has one item for each lane.
///
/// # Safety
///
/// The items [fit the lanes](fits_lanes).
#[inline(always)]
pub(super) unsafe fn set_items_of_lanes<T: Copy, W: Word>(rows: &mut [Row<W>], items: &[T]) {
    assert_eq!(items.len(), W::LANES);
    let words = words_of::<T, W>();
    let rows = &mut rows[..words];
    let from = items.as_ptr().cast::<W>();
    if let [row] = rows {
        // SAFETY: an item is one word without padding, and there is an item for each lane.
        unsafe { from.copy_to_nonoverlapping(row.words_mut(), W::LANES) };
        return;
    }
    for lane in 0..opaque_lane_count::<W>() {
        for (word, row) in rows.iter_mut().enumerate() {
            // SAFETY: there is an item for each lane, and an item has this many words.
            unsafe { row.words_mut().add(lane).write(from.add(lane * words + word).read()) };
        }
    }
}

/// The number of lanes, hidden from the compiler. Otherwise it would unroll the loop, and move
/// words one by one.
#[inline(always)]
fn opaque_lane_count<W: Word>() -> usize {
    std::hint::black_box(W::LANES).min(W::LANES)
}

/// Combines two items.
///
/// All three items are copied word by word. So if an operator chooses between items, the compiler
/// chooses between words, for which there are vector instructions. Otherwise it would choose
/// between addresses.
///
/// # Safety
///
/// The items [fit the lanes](fits_lanes).
#[inline(always)]
pub(super) unsafe fn combine<M: Monoid, W: Word>(operator: &M, left: M::Item, right: M::Item) -> M::Item {
    // SAFETY: the items fit the lanes, as the caller promises.
    unsafe { by_words::<_, W>(operator.combine(by_words::<_, W>(left), by_words::<_, W>(right))) }
}

/// Copies an item word by word.
///
/// # Safety
///
/// The item [fits the lanes](fits_lanes).
#[inline(always)]
unsafe fn by_words<T, W: Word>(item: T) -> T {
    let mut same = MaybeUninit::<T>::uninit();
    let (from, to) = ((&raw const item).cast::<W>(), same.as_mut_ptr().cast::<W>());
    // SAFETY: both items have this many words, and no padding.
    each_word::<T, W>(|word| unsafe { to.add(word).write(from.add(word).read()) });
    // SAFETY: all its words were copied from an item.
    unsafe { same.assume_init() }
}

/// The number of words of an item that [fits the lanes](fits_lanes).
#[inline(always)]
fn words_of<T, W: Word>() -> usize {
    assert!(size_of::<T>() <= MAX_BYTES && align_of::<T>() >= align_of::<W>());
    size_of::<T>() / size_of::<W>()
}

/// Calls `each` for every word of an item. It is not a loop, because the compiler splits items into
/// words only if the position of each word is a constant.
#[inline(always)]
fn each_word<T, W: Word>(mut each: impl FnMut(usize)) {
    macro_rules! each_of {
        ($($word:literal)*) => {
            const { assert!([$($word),*].len() == MAX_BYTES) };
            $(if const { $word < size_of::<T>() / size_of::<W>() } {
                each($word);
            })*
        };
    }
    each_of!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
}
