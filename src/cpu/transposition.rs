//! Transposes the runs of a tile into lanes, and back.
//!
//! In memory, the words of a tile are a matrix with one run in each row. In the transposed matrix,
//! a row has one word of every run, as vector registers need it.
//!
//! - Without AVX2, words are moved one at a time.
//! - With AVX2 or AVX-512, words go through registers of two parts of 16 bytes each. Parts are
//!   loaded from runs and stored to runs. Words are shuffled within parts, with the fewest possible
//!   shuffles for each register.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::rows::{Row, Word};
#[cfg(target_arch = "x86_64")]
use super::units::LINE;
use super::units::RUN;
use super::vectors::Registers;

/// Words of a run. This is a constant for a type of items, so the loops have no branches. If a
/// choice depends on it within `const { }`, code is generated for one case only.
#[inline(always)]
const fn words_of_run<T, W: Word>() -> usize {
    RUN * size_of::<T>() / size_of::<W>()
}

/// Transposes runs of items of type `T` into rows.
///
/// # Safety
///
/// The rows are the first ones of [`Rows`](super::rows::Rows), which are aligned to registers.
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
        assert!(rows.as_ptr().addr().is_multiple_of(LINE.min(size_of::<Row<W>>())));
        // SAFETY: the processor has AVX2, as `_registers` proves. The lengths were checked. The
        // runs are only read.
        return unsafe { by_parts::<T, W, false>(runs.as_ptr().cast_mut(), rows.as_mut_ptr()) };
    }
    for (lane, run) in runs.chunks_exact(words).enumerate() {
        for (row, &word) in rows.iter_mut().zip(run) {
            // SAFETY: a row has as many words as there are runs.
            unsafe { row.words_mut().add(lane).write(word) };
        }
    }
}

/// Transposes rows back into runs.
///
/// # Safety
///
/// The rows are in [`Rows`](super::rows::Rows), and begin with the first row of an item. All of
/// them were set.
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
        assert!(rows.as_ptr().addr().is_multiple_of(LINE.min(size_of::<Row<W>>())));
        // SAFETY: the processor has AVX2, as `_registers` proves. The lengths were checked. The
        // rows are only read.
        return unsafe { by_parts::<T, W, true>(runs.as_mut_ptr().cast(), rows.as_ptr().cast_mut()) };
    }
    for (lane, run) in runs.chunks_exact_mut(words).enumerate() {
        for (row, word) in rows.iter().zip(run) {
            // SAFETY: a row has as many words as there are runs, and all were set.
            word.write(unsafe { row.words().add(lane).read() });
        }
    }
}

/// Transposes runs into rows, or rows into runs if `INVERSE`.
///
/// # Safety
///
/// The runs are of items of type `T`, and there is a row for each word of a run. The source can be
/// read, and the destination can be written.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn by_parts<T, W: Word, const INVERSE: bool>(runs: *mut W, rows: *mut Row<W>) {
    // SAFETY: the conditions are the same, and the caller promises them.
    unsafe {
        match const { size_of::<W>() } {
            1 | 2 => blocks::<T, W, 8, INVERSE>(runs, rows),
            4 => blocks::<T, W, 4, INVERSE>(runs, rows),
            _ => blocks::<T, W, 2, INVERSE>(runs, rows),
        }
    }
}

/// Transposes blocks of `COUNT` rows and one register of lanes. Such a block has `COUNT` registers.
///
/// # Safety
///
/// As for [`by_parts`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn blocks<T, W: Word, const COUNT: usize, const INVERSE: bool>(runs: *mut W, rows: *mut Row<W>) {
    let words = words_of_run::<T, W>();
    let (lanes, of_part) = (32 / size_of::<W>(), 16 / size_of::<W>());
    for first_lane in (0..W::LANES).step_by(lanes) {
        for first_word in (0..words).step_by(COUNT) {
            // SAFETY: the index is within the rows, and the lanes fill a register.
            let row = |i| unsafe { rows.add(first_word + i).cast::<W>().add(first_lane).cast::<__m256i>() };
            // The first part of a register. The second part is of lanes half a register further.
            let part = |i| {
                let lane = first_lane + i * (of_part / COUNT);
                // SAFETY: the lanes and words of a block are within the runs.
                unsafe { runs.add(lane * words + first_word) }
            };
            let mut block = [_mm256_setzero_si256(); COUNT];
            for (i, register) in block.iter_mut().enumerate() {
                // SAFETY: `row` and `part` are within the rows and the runs.
                *register = unsafe {
                    if const { INVERSE } {
                        _mm256_load_si256(row(i))
                    } else {
                        _mm256_set_m128i(load(part(i).add(of_part * words), words), load(part(i), words))
                    }
                };
            }
            // Both directions together rotate a word's number by all of its bits.
            shuffle::<W, COUNT>(&mut block, if const { INVERSE } { COUNT.ilog2() } else { of_part.ilog2() });
            for (i, register) in block.into_iter().enumerate() {
                // SAFETY: `row` and `part` are within the rows and the runs.
                unsafe {
                    if const { INVERSE } {
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

/// Rotates the numbers of all words by `bits` bits. The two parts of a register stay separate.
/// Within its part, a word has a number. Its upper bits are the index of the register, and its
/// lower bits are the position in it.
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

/// Interleaves the words of two registers, in each part separately. Returns the interleaved lower
/// halves, and the interleaved upper halves.
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

/// Stores the bytes that [`load`] loads.
///
/// # Safety
///
/// The runs have room for them.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store<W: Word>(run: *mut W, words: usize, register: __m128i) {
    // SAFETY: the runs have room, as the caller promises.
    unsafe {
        if size_of::<W>() > 1 || words == 8 {
            _mm_storeu_si128(run.cast(), register);
        } else {
            _mm_storel_epi64(run.cast(), register);
            _mm_storel_epi64(run.add(words).cast(), _mm_unpackhi_epi64(register, register));
        }
    }
}

/// Loads 16 bytes of a run. If words are bytes, loads 8 bytes of this run and 8 of the next.
///
/// # Safety
///
/// These bytes can be read.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn load<W: Word>(run: *const W, words: usize) -> __m128i {
    // SAFETY: these bytes can be read, as the caller promises.
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
