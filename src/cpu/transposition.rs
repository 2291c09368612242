//! From runs, one after the other, to lanes beside each other.
//!
//! The words of a tile's runs are a matrix in memory: a row is one run. Its transpose has in each row one word of every run,
//! which is what a vector register takes. Without AVX2 words are moved one at a time. With it they go through registers of
//! two parts of sixteen bytes each: parts are loaded from runs and stored to runs, and words are shuffled inside parts,
//! as few times as there can be for each register. With AVX-512, too.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::rows::{Row, Word};
#[cfg(target_arch = "x86_64")]
use super::units::LINE;
use super::units::RUN;
use super::vectors::Registers;

/// A constant, once this is compiled for an item: the loops have no branches, and what is chosen by it in a constant of its own is
/// all that code is made for.
#[inline(always)]
const fn words_of_run<T, W: Word>() -> usize {
    RUN * size_of::<T>() / size_of::<W>()
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
) {
    let words = words_of_run::<T, W>();
    assert!(runs.len() == W::LANES * words && rows.len() == words);
    #[cfg(target_arch = "x86_64")]
    if const { BYTES > 0 } {
        debug_assert!(rows.as_ptr().addr().is_multiple_of(LINE.min(size_of::<Row<W>>())));
        // SAFETY: the processor has AVX2, as the caller has proven, the lengths are as they must be, and the runs are only read.
        return unsafe { by_parts::<T, W, false>(runs.as_ptr().cast_mut(), rows.as_mut_ptr()) };
    }
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
        // SAFETY: the processor has AVX2, as the caller has proven, the lengths are as they must be, and the rows are only read.
        return unsafe { by_parts::<T, W, true>(runs.as_mut_ptr().cast(), rows.as_ptr().cast_mut()) };
    }
    for (lane, run) in runs.chunks_exact_mut(words).enumerate() {
        for (row, word) in rows.iter().zip(run) {
            // SAFETY: a row has as many words as there are runs, and all were set.
            word.write(unsafe { row.words().add(lane).read() });
        }
    }
}

/// From runs to rows, or back.
///
/// # Safety
///
/// The runs are of items of type `T`, and there is a row for each word of a run. The ones can be read, and the others written.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn by_parts<T, W: Word, const BACK: bool>(runs: *mut W, rows: *mut Row<W>) {
    // SAFETY: as the caller says.
    unsafe {
        match const { size_of::<W>() } {
            1 | 2 => blocks::<T, W, 8, BACK>(runs, rows),
            4 => blocks::<T, W, 4, BACK>(runs, rows),
            _ => blocks::<T, W, 2, BACK>(runs, rows),
        }
    }
}

/// In blocks of `COUNT` rows and one register of lanes: as many registers as rows.
///
/// # Safety
///
/// As for [`by_parts`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn blocks<T, W: Word, const COUNT: usize, const BACK: bool>(runs: *mut W, rows: *mut Row<W>) {
    let words = words_of_run::<T, W>();
    let (lanes, of_part) = (32 / size_of::<W>(), 16 / size_of::<W>());
    for first_lane in (0..W::LANES).step_by(lanes) {
        for first_word in (0..words).step_by(COUNT) {
            // SAFETY: it is one of the rows, and the lanes fill a register.
            let row = |i| unsafe { rows.add(first_word + i).cast::<W>().add(first_lane).cast::<__m256i>() };
            // Of each register the first part; the other one is of lanes that are half a register further.
            let part = |i| {
                let lane = first_lane + i * (of_part / COUNT);
                // SAFETY: the lanes and words of a block are some of the runs.
                unsafe { runs.add(lane * words + first_word) }
            };
            let mut block = [_mm256_setzero_si256(); COUNT];
            for (i, register) in block.iter_mut().enumerate() {
                // SAFETY: as above.
                *register = unsafe {
                    if const { BACK } {
                        _mm256_load_si256(row(i))
                    } else {
                        _mm256_set_m128i(load(part(i).add(of_part * words), words), load(part(i), words))
                    }
                };
            }
            // On the way back by all bits of a number but those by which it was rotated on the way there.
            shuffle::<W, COUNT>(&mut block, if const { BACK } { COUNT.ilog2() } else { of_part.ilog2() });
            for (i, register) in block.into_iter().enumerate() {
                // SAFETY: as above.
                unsafe {
                    if const { BACK } {
                        store(part(i), words, _mm256_castsi256_si128(register));
                        store(part(i).add(of_part * words), words, _mm256_extracti128_si256::<1>(register));
                    } else {
                        _mm256_store_si256(row(i), register);
                    }
                }
            }
        }
    }
}

/// Rotates the numbers of all words by so many bits. Parts of sixteen bytes stay apart. In them a word's place has a number, whose
/// upper bits are those of the register and whose lower ones are the place in it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn shuffle<W: Word, const COUNT: usize>(block: &mut [__m256i; COUNT], bits: u32) {
    for _ in 0..bits {
        let before = *block;
        for i in 0..COUNT / 2 {
            (block[2 * i], block[2 * i + 1]) = interleave::<W>(before[i], before[i + COUNT / 2]);
        }
    }
}

/// The words of both in turn, in each part: those of the lower halves, and those of the upper ones.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn interleave<W: Word>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    match const { size_of::<W>() } {
        1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
        2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
        4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
        _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
    }
}

/// What [`load`] has loaded.
///
/// # Safety
///
/// There is room for it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store<W: Word>(run: *mut W, words: usize, register: __m128i) {
    // SAFETY: as the caller says.
    unsafe {
        if size_of::<W>() > 1 || words == 8 {
            _mm_storeu_si128(run.cast(), register);
        } else {
            _mm_storel_epi64(run.cast(), register);
            _mm_storel_epi64(run.add(words).cast(), _mm_unpackhi_epi64(register, register));
        }
    }
}

/// Sixteen bytes of a run; if words are bytes, eight of it and eight of the next one.
///
/// # Safety
///
/// They can be read.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load<W: Word>(run: *const W, words: usize) -> __m128i {
    // SAFETY: as the caller says.
    unsafe {
        if size_of::<W>() > 1 || words == 8 {
            _mm_loadu_si128(run.cast())
        } else {
            _mm_unpacklo_epi64(_mm_loadl_epi64(run.cast()), _mm_loadl_epi64(run.add(words).cast()))
        }
    }
}

#[cfg(test)]
mod tests;
