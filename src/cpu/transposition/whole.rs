//! Whole registers of 64 bytes: a line is one load or one store.
//!
//! A block is as many registers as it has rows. A word's place in it has a number, whose upper bits are those of the register and whose
//! lower ones are the place in that. In rows these are a word of the run, and its lane; in memory they are the lane, and a word of the run.
//! So the way from one to the other is to rotate all numbers, which takes log2 of the rows times two shuffles for two registers.

use std::arch::x86_64::*;

use super::{Meanwhile, parts, words_of_run};
use crate::cpu::rows::{Row, Word};
use crate::cpu::units::RUN;

/// Whether [`transpose`] takes fewer instructions than parts do, of runs of so many words: where blocks have [few](FEW) rows.
pub(super) const fn transposes<W: Word>(words: usize) -> bool {
    size_of::<W>() >= 4 && !is_of_many::<W>(words)
}

/// Whether [`restore`] does.
pub(super) const fn restores<W: Word>(words: usize) -> bool {
    size_of::<W>() >= 4 || words == FEW
}

/// Rows of a block: the least words of a run, and a line of the largest ones.
const FEW: usize = RUN;
/// Those of a block whose registers are one run each.
const MANY: usize = 16;

const fn is_of_many<W: Word>(words: usize) -> bool {
    size_of::<W>() == 4 && words.is_multiple_of(MANY)
}

/// # Safety
///
/// The runs are of items of type `T` that [are transposed](transposes) here, and there is a row for each word of a run.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) unsafe fn transpose<T, W: Word>(runs: *const W, rows: *mut Row<W>, mut meanwhile: impl Meanwhile) {
    debug_assert!(transposes::<W>(words_of_run::<T, W>()));
    let (words, lanes) = (words_of_run::<T, W>(), size_of::<__m512i>() / size_of::<W>());
    for first_lane in (0..W::LANES).step_by(lanes) {
        for first_word in (0..words).step_by(FEW) {
            meanwhile.lines(FEW);
            let mut block = [_mm512_setzero_si512(); FEW];
            for (i, register) in block.iter_mut().enumerate() {
                let lane = first_lane + i * (lanes / FEW);
                // SAFETY: the lanes and words of a block are some of the runs.
                *register = unsafe { load::<W, FEW>(runs.add(lane * words + first_word), words) };
            }
            for _ in 0..FEW.ilog2() {
                let before = block;
                for i in 0..FEW / 2 {
                    (block[i], block[i + FEW / 2]) = separate::<W>(before[2 * i], before[2 * i + 1]);
                }
            }
            for (i, register) in block.into_iter().enumerate() {
                // SAFETY: it is one of the rows, and the lanes fill a register.
                unsafe {
                    let row = rows.add(first_word + i).cast::<W>();
                    _mm512_store_si512(row.add(first_lane).cast(), register);
                }
            }
        }
    }
}

/// # Safety
///
/// There is room for runs of items of type `T` that [are restored](restores) here, and a row for each word of a run.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) unsafe fn restore<T, W: Word>(rows: *const Row<W>, runs: *mut W) {
    debug_assert!(restores::<W>(words_of_run::<T, W>()));
    // SAFETY: as the caller says.
    unsafe {
        if const { size_of::<W>() < 4 } {
            lines_of_parts(rows, runs)
        } else if const { is_of_many::<W>(words_of_run::<T, W>()) } {
            blocks_back::<T, W, MANY>(rows, runs)
        } else {
            blocks_back::<T, W, FEW>(rows, runs)
        }
    }
}

/// # Safety
///
/// As for [`restore`].
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn blocks_back<T, W: Word, const COUNT: usize>(rows: *const Row<W>, runs: *mut W) {
    let (words, lanes) = (words_of_run::<T, W>(), size_of::<__m512i>() / size_of::<W>());
    for first_lane in (0..W::LANES).step_by(lanes) {
        for first_word in (0..words).step_by(COUNT) {
            // SAFETY: they are some of the rows, and the lanes fill a register.
            let mut block: [__m512i; COUNT] = unsafe { some_rows(rows.add(first_word), first_lane) };
            for _ in 0..COUNT.ilog2() {
                let before = block;
                for i in 0..COUNT / 2 {
                    (block[2 * i], block[2 * i + 1]) = interleave::<W>(before[i], before[i + COUNT / 2]);
                }
            }
            for (i, register) in block.into_iter().enumerate() {
                let lane = first_lane + i * (lanes / COUNT);
                // SAFETY: the lanes and words of a block are some of the runs.
                unsafe { store::<W, COUNT>(runs.add(lane * words + first_word), words, register) };
            }
        }
    }
}

/// Of words too small for shuffles of whole registers, if a run is eight: first parts of sixteen bytes of memory, of which registers
/// that follow each other have such that do; and then lines, of the same part of four registers.
///
/// # Safety
///
/// There are eight rows, and room for all runs.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
unsafe fn lines_of_parts<W: Word>(rows: *const Row<W>, runs: *mut W) {
    assert_eq!(size_of::<Row<W>>(), size_of::<__m512i>());
    // SAFETY: as the caller says.
    let mut block: [__m512i; FEW] = unsafe { some_rows(rows, 0) };
    parts::by_64::shuffle::<W, FEW>(&mut block, FEW.ilog2());
    for (half, registers) in block.as_chunks::<4>().0.iter().enumerate() {
        for (part, line) in transposed_parts(registers).into_iter().enumerate() {
            // SAFETY: there are eight lines.
            unsafe { _mm512_storeu_si512(runs.cast::<__m512i>().add(2 * part + half), line) };
        }
    }
}

/// The first part of each register, the second of each, and so on.
#[target_feature(enable = "avx512f")]
#[inline]
fn transposed_parts(&[a, b, c, d]: &[__m512i; 4]) -> [__m512i; 4] {
    const LOWER: i32 = 0b01_00_01_00;
    const UPPER: i32 = 0b11_10_11_10;
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let [ab, cd] = [(a, b), (c, d)]
        .map(|(a, b)| [_mm512_shuffle_i32x4::<LOWER>(a, b), _mm512_shuffle_i32x4::<UPPER>(a, b)]);
    [
        _mm512_shuffle_i32x4::<EVEN>(ab[0], cd[0]),
        _mm512_shuffle_i32x4::<ODD>(ab[0], cd[0]),
        _mm512_shuffle_i32x4::<EVEN>(ab[1], cd[1]),
        _mm512_shuffle_i32x4::<ODD>(ab[1], cd[1]),
    ]
}

/// The words of so many rows in some lanes.
///
/// # Safety
///
/// There are as many rows, and lanes that fill a register.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn some_rows<W: Word, const COUNT: usize>(rows: *const Row<W>, first_lane: usize) -> [__m512i; COUNT] {
    let mut block = [_mm512_setzero_si512(); COUNT];
    for (i, register) in block.iter_mut().enumerate() {
        // SAFETY: as the caller says; every row is as aligned as a register.
        *register = unsafe { _mm512_load_si512(rows.add(i).cast::<W>().add(first_lane).cast()) };
    }
    block
}

/// The words of both in turn: those of the lower halves, and those of the upper ones.
#[target_feature(enable = "avx512f")]
#[inline]
fn interleave<W: Word>(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    if const { size_of::<W>() == 4 } {
        let lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let upper = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        (_mm512_permutex2var_epi32(a, lower, b), _mm512_permutex2var_epi32(a, upper, b))
    } else {
        let (lower, upper) =
            (_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15));
        (_mm512_permutex2var_epi64(a, lower, b), _mm512_permutex2var_epi64(a, upper, b))
    }
}

/// The way back: every other word of both, and the rest.
#[target_feature(enable = "avx512f")]
#[inline]
fn separate<W: Word>(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
    if const { size_of::<W>() == 4 } {
        let even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        (_mm512_permutex2var_epi32(a, even, b), _mm512_permutex2var_epi32(a, odd, b))
    } else {
        let (even, odd) =
            (_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15));
        (_mm512_permutex2var_epi64(a, even, b), _mm512_permutex2var_epi64(a, odd, b))
    }
}

/// Whether a register that has so many words of each run is one piece of memory: of runs of so many words.
const fn is_one_piece<W: Word>(count: usize, words: usize) -> bool {
    count * size_of::<W>() == size_of::<__m512i>() || count == words
}

/// So many words of a run; if they do not fill a register, of it and the next one.
///
/// # Safety
///
/// They can be read.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load<W: Word, const COUNT: usize>(run: *const W, words: usize) -> __m512i {
    // SAFETY: as the caller says.
    unsafe {
        if is_one_piece::<W>(COUNT, words) {
            return _mm512_loadu_si512(run.cast());
        }
        let [this, next] = [run, run.add(words)].map(|run| _mm256_loadu_si256(run.cast()));
        _mm512_inserti64x4::<1>(_mm512_castsi256_si512(this), next)
    }
}

/// What [`load`] has loaded.
///
/// # Safety
///
/// There is room for it.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store<W: Word, const COUNT: usize>(run: *mut W, words: usize, register: __m512i) {
    // SAFETY: as the caller says.
    unsafe {
        if is_one_piece::<W>(COUNT, words) {
            return _mm512_storeu_si512(run.cast(), register);
        }
        _mm256_storeu_si256(run.cast(), _mm512_castsi512_si256(register));
        _mm256_storeu_si256(run.add(words).cast(), _mm512_extracti64x4_epi64::<1>(register));
    }
}
