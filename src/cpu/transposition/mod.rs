//! From runs, one after the other, to lanes beside each other.
//!
//! The words of a tile's runs are a matrix in memory: a row is one run. Its transpose has in each row one word of every run,
//! which is what a vector register takes. Without AVX2 words are moved one at a time; with it by perfect shuffles of
//! registers, of [`parts`] of them or, with AVX-512, where it takes fewer instructions, of [`whole`] ones.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod parts;
#[cfg(target_arch = "x86_64")]
mod whole;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
use std::mem::MaybeUninit;

use super::rows::{Row, Word};
use super::units::{LINE, RUN};
use super::vectors::Registers;

/// How far ahead of its use memory is asked for, into the second-level cache: far enough that it has come, and that the
/// processor, which begins anew with every page, need not guess. From 8 to 32 KiB it makes little difference.
const FAR_BYTES: usize = 12 << 10;
/// And from there into the first-level cache.
const NEAR_BYTES: usize = 4 << 10;

/// What is done while a tile is transposed, some lines of it at a time.
pub(super) trait Meanwhile {
    /// For so many lines of it. Always inlined.
    fn lines(&mut self, count: usize);
}

pub(super) struct Nothing;

impl Meanwhile for Nothing {
    #[inline(always)]
    fn lines(&mut self, _: usize) {}
}

impl<M: Meanwhile> Meanwhile for &mut M {
    #[inline(always)]
    fn lines(&mut self, count: usize) {
        (**self).lines(count);
    }
}

impl<A: Meanwhile, B: Meanwhile> Meanwhile for (A, B) {
    #[inline(always)]
    fn lines(&mut self, count: usize) {
        self.0.lines(count);
        self.1.lines(count);
    }
}

/// Asks for a line.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn ask<const HINT: i32>(line: *const u8) {
    // SAFETY: nothing is fetched from an address that cannot be read. (Newer compilers know.)
    #[allow(unused_unsafe)]
    unsafe {
        _mm_prefetch::<HINT>(line.cast());
    }
}

/// Lines of what a cache holds are asked for, into the first-level one.
pub(super) struct Near(*const u8);

impl Near {
    /// What comes after the items, as much. After the last ones of a block that is another thread's, but little beside the block.
    pub(super) fn after<T>(items: &[T]) -> Self {
        Self(items.as_ptr_range().end.cast())
    }
}

impl Meanwhile for Near {
    #[inline(always)]
    fn lines(&mut self, count: usize) {
        #[cfg(target_arch = "x86_64")]
        for line in 0..count {
            ask::<_MM_HINT_T0>(self.0.wrapping_add(line * LINE));
        }
        self.0 = self.0.wrapping_add(count * LINE);
    }
}

/// Lines of memory are asked for, twice: far ahead, and near.
pub(super) struct Ahead {
    far: *const u8,
    near: Near,
}

impl Ahead {
    pub(super) fn of<T>(items: &[T]) -> Self {
        let after = |bytes: usize| items.as_ptr().wrapping_byte_add(bytes).cast();
        Self { far: after(FAR_BYTES), near: Near(after(NEAR_BYTES)) }
    }

    /// Nothing that begins past the end of `all`, of which the items are some: instead the items, which are there already.
    pub(super) fn within<T>(items: &[T], all: &[T]) -> Self {
        let within =
            |ahead| if ahead < all.as_ptr_range().end.cast() { ahead } else { items.as_ptr().cast() };
        let Self { far, near } = Self::of(items);
        Self { far: within(far), near: Near(within(near.0)) }
    }
}

impl Meanwhile for Ahead {
    #[inline(always)]
    fn lines(&mut self, count: usize) {
        #[cfg(target_arch = "x86_64")]
        for line in 0..count {
            ask::<_MM_HINT_T1>(self.far.wrapping_add(line * LINE));
            self.near.lines(1);
        }
        self.far = self.far.wrapping_add(count * LINE);
    }
}

/// A constant, once this is compiled for an item: the loops have no branches, and what is chosen by it in a constant of its own is
/// all that code is made for.
#[inline(always)]
const fn words_of_run<T, W: Word>() -> usize {
    RUN * size_of::<T>() / size_of::<W>()
}

/// Whether a row fills registers of 64 bytes, if the processor has registers of so many.
#[cfg(target_arch = "x86_64")]
const fn fills_registers<W: Word>(bytes: usize) -> bool {
    bytes >= 64 && size_of::<Row<W>>() >= 64
}

/// Of runs of items of type `T`, into rows.
///
/// # Safety
///
/// The rows are the first of some [`Rows`](super::rows::Rows), which are aligned as registers are.
#[inline(always)]
pub(super) unsafe fn transpose<T, W: Word, const BYTES: usize>(
    _registers: Registers<BYTES>,
    runs: &[W],
    rows: &mut [Row<W>],
    mut meanwhile: impl Meanwhile,
) {
    let words = words_of_run::<T, W>();
    assert!(runs.len() == W::LANES * words && rows.len() == words);
    #[cfg(target_arch = "x86_64")]
    if const { BYTES > 0 } {
        debug_assert!(rows.as_ptr().addr().is_multiple_of(LINE));
        let (runs, rows) = (runs.as_ptr(), rows.as_mut_ptr());
        // SAFETY: the processor has the registers, as the caller has proven, and the lengths are as they must be.
        return unsafe {
            if const { !fills_registers::<W>(BYTES) } {
                parts::by_32::transpose::<T, W>(runs, rows, meanwhile)
            } else if const { whole::transposes::<W>(words_of_run::<T, W>()) } {
                whole::transpose::<T, W>(runs, rows, meanwhile)
            } else {
                parts::by_64::transpose::<T, W>(runs, rows, meanwhile)
            }
        };
    }
    meanwhile.lines(size_of_val(runs) / LINE);
    for (lane, run) in runs.chunks_exact(words).enumerate() {
        for (row, &word) in rows.iter_mut().zip(run) {
            // SAFETY: a row has as many words as there are runs.
            unsafe { row.words_mut().add(lane).write(word) };
        }
    }
}

/// The way back: runs from the rows of their words.
///
/// # Safety
///
/// The rows are some of [`Rows`](super::rows::Rows), from an item's first row on, and all of them were set.
#[inline(always)]
pub(super) unsafe fn restore<T, W: Word, const BYTES: usize>(
    _registers: Registers<BYTES>,
    rows: &[Row<W>],
    runs: &mut [MaybeUninit<W>],
) {
    let words = words_of_run::<T, W>();
    assert!(runs.len() == W::LANES * words && rows.len() == words);
    #[cfg(target_arch = "x86_64")]
    if const { BYTES > 0 } {
        debug_assert!(rows.as_ptr().addr().is_multiple_of(LINE.min(size_of::<Row<W>>())));
        let (rows, runs) = (rows.as_ptr(), runs.as_mut_ptr().cast());
        // SAFETY: the processor has the registers, as the caller has proven, and the lengths are as they must be.
        return unsafe {
            if const { fills_registers::<W>(BYTES) && whole::restores::<W>(words_of_run::<T, W>()) } {
                whole::restore::<T, W>(rows, runs)
            } else {
                // With AVX-512, too: quarters of registers of 64 bytes take twice as long to store as halves of those of 32.
                parts::restore::<T, W>(rows, runs)
            }
        };
    }
    for (lane, run) in runs.chunks_exact_mut(words).enumerate() {
        for (row, word) in rows.iter().zip(run) {
            // SAFETY: a row has as many words as there are runs, and all were set.
            word.write(unsafe { row.words().add(lane).read() });
        }
    }
}

#[cfg(test)]
mod tests;
