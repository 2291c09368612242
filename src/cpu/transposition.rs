//! From runs, one after the other, to lanes beside each other.
//!
//! The words of 32 runs are a matrix in memory: a row is one run. Its transpose has in each row one word of every run,
//! which is what a vector register takes. Without AVX2 words are moved one at a time; with it by perfect shuffles of
//! registers, as few as there can be: log2(16 / size of a word) for each register.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use super::RUN;
use super::rows::{LANES, Row, Word};

/// How far ahead of its use memory is asked for, into the second-level cache: far enough that it has come, and that the
/// processor, which begins anew with every page, need not guess. From 8 to 32 KiB it makes little difference.
pub(super) const AHEAD_BYTES: usize = 12 << 10;

/// Of runs of items of type `T`. Meanwhile as many bytes from `ahead` on are asked for. With `AVX2` the processor must have it.
#[inline(always)]
pub(super) fn transpose<T, W: Word, const AVX2: bool>(runs: &[W], rows: &mut [Row<W>], ahead: *const W) {
    // Constants, once this is compiled for an item: the loops have no branches.
    let words = RUN * size_of::<T>() / size_of::<W>();
    assert!(runs.len() == LANES * words && rows.len() == words);
    #[cfg(target_arch = "x86_64")]
    if AVX2 {
        // SAFETY: the caller knows that the processor has it, and the lengths are as they must be.
        return unsafe { avx2::transpose::<T, W>(runs.as_ptr(), rows.as_mut_ptr(), ahead) };
    }
    for (lane, run) in runs.chunks_exact(words).enumerate() {
        for (row, &word) in rows.iter_mut().zip(run) {
            row.0[lane] = word;
        }
    }
}

/// The way back: runs from the rows of their words.
#[inline(always)]
pub(super) fn restore<T, W: Word, const AVX2: bool>(rows: &[Row<W>], runs: &mut [MaybeUninit<W>]) {
    let words = RUN * size_of::<T>() / size_of::<W>();
    assert!(runs.len() == LANES * words && rows.len() == words);
    #[cfg(target_arch = "x86_64")]
    if AVX2 {
        // SAFETY: the caller knows that the processor has it, and the lengths are as they must be.
        return unsafe { avx2::restore::<T, W>(rows.as_ptr(), runs.as_mut_ptr().cast()) };
    }
    for (lane, run) in runs.chunks_exact_mut(words).enumerate() {
        for (row, word) in rows.iter().zip(run) {
            word.write(row.0[lane]);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    use super::{LANES, RUN, Row, Word};

    /// # Safety
    ///
    /// The runs are of items of type `T`, and there is a row for each word of a run.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn transpose<T, W: Word>(runs: *const W, rows: *mut Row<W>, ahead: *const W) {
        // SAFETY: as the caller says.
        unsafe {
            match size_of::<W>() {
                1 | 2 => blocks::<T, W, 8>(runs, rows, ahead),
                4 => blocks::<T, W, 4>(runs, rows, ahead),
                _ => blocks::<T, W, 2>(runs, rows, ahead),
            }
        }
    }

    /// In blocks of `COUNT` rows and one register of lanes: as many registers as rows.
    ///
    /// # Safety
    ///
    /// As for [`transpose`].
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn blocks<T, W: Word, const COUNT: usize>(runs: *const W, rows: *mut Row<W>, ahead: *const W) {
        let (words, lanes) = (RUN * size_of::<T>() / size_of::<W>(), 32 / size_of::<W>());
        let mut ahead = ahead.cast::<i8>();
        for first_lane in (0..LANES).step_by(lanes) {
            for first_word in (0..words).step_by(COUNT) {
                for _ in 0..COUNT / 2 {
                    // SAFETY: nothing is fetched from an address that cannot be read. (Newer compilers know.)
                    #[allow(unused_unsafe)]
                    unsafe {
                        _mm_prefetch::<_MM_HINT_T1>(ahead)
                    };
                    ahead = ahead.wrapping_add(64);
                }
                // SAFETY: the lanes and words of a block are some of the runs.
                let part = |lane: usize| unsafe { load(runs.add(lane * words + first_word), words) };
                let mut block = [_mm256_setzero_si256(); COUNT];
                for (i, register) in block.iter_mut().enumerate() {
                    let lane = first_lane + i * (lanes / 2 / COUNT);
                    *register = _mm256_set_m128i(part(lane + lanes / 2), part(lane));
                }
                shuffle::<W, COUNT>(&mut block, (16 / size_of::<W>()).ilog2());
                for (i, register) in block.into_iter().enumerate() {
                    // SAFETY: it is one of the rows, and the lanes fill a register.
                    unsafe {
                        let row = rows.add(first_word + i).cast::<W>();
                        _mm256_store_si256(row.add(first_lane).cast(), register);
                    }
                }
            }
        }
    }

    /// Rotates the numbers of all words by so many bits. Halves of registers stay apart. In them a word's place has a number, whose
    /// upper bits are those of the register and whose lower ones are the place in it.
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

    /// # Safety
    ///
    /// There is room for runs of items of type `T`, and a row for each word of a run.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn restore<T, W: Word>(rows: *const Row<W>, runs: *mut W) {
        // SAFETY: as the caller says.
        unsafe {
            match size_of::<W>() {
                1 | 2 => blocks_back::<T, W, 8>(rows, runs),
                4 => blocks_back::<T, W, 4>(rows, runs),
                _ => blocks_back::<T, W, 2>(rows, runs),
            }
        }
    }

    /// As [`blocks`], the other way.
    ///
    /// # Safety
    ///
    /// As for [`restore`].
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn blocks_back<T, W: Word, const COUNT: usize>(rows: *const Row<W>, runs: *mut W) {
        let (words, lanes) = (RUN * size_of::<T>() / size_of::<W>(), 32 / size_of::<W>());
        for first_lane in (0..LANES).step_by(lanes) {
            for first_word in (0..words).step_by(COUNT) {
                let mut block = [_mm256_setzero_si256(); COUNT];
                for (i, register) in block.iter_mut().enumerate() {
                    // SAFETY: it is one of the rows, and the lanes fill a register.
                    *register = unsafe {
                        let row = rows.add(first_word + i).cast::<W>();
                        _mm256_load_si256(row.add(first_lane).cast())
                    };
                }
                // All bits of a number but those by which it was rotated on the way there.
                shuffle::<W, COUNT>(&mut block, COUNT.ilog2());
                for (i, register) in block.into_iter().enumerate() {
                    let lane = first_lane + i * (lanes / 2 / COUNT);
                    // SAFETY: the lanes and words of a block are some of the runs.
                    let part = |lane: usize| unsafe { runs.add(lane * words + first_word) };
                    // SAFETY: as above.
                    unsafe {
                        store(part(lane), words, _mm256_castsi256_si128(register));
                        store(part(lane + lanes / 2), words, _mm256_extracti128_si256::<1>(register));
                    }
                }
            }
        }
    }

    /// What [`load`] has loaded.
    ///
    /// # Safety
    ///
    /// There is room for it.
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

    /// The words of both in turn, in each half: those of the lower quarters, and those of the upper ones.
    #[target_feature(enable = "avx2")]
    #[inline]
    fn interleave<W: Word>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        match size_of::<W>() {
            1 => (_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)),
            2 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
            4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
            _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_the_transpose<T, W: Word + PartialEq + std::fmt::Debug>(word: fn(usize) -> W) {
        let words = RUN * size_of::<T>() / size_of::<W>();
        let runs: Vec<W> = (0..LANES * words).map(word).collect();
        let check = |transpose: fn(&[W], &mut [Row<W>], *const W),
                     restore: fn(&[Row<W>], &mut [MaybeUninit<W>])| {
            let mut rows = vec![Row::default(); words];
            transpose(&runs, &mut rows, runs.as_ptr());
            let mut restored = Vec::with_capacity(runs.len());
            restore(&rows, &mut restored.spare_capacity_mut()[..runs.len()]);
            // SAFETY: all of them were written.
            unsafe { restored.set_len(runs.len()) };
            assert_eq!(restored, runs);
            for (i, row) in rows.iter().enumerate() {
                let expected: [W; LANES] = std::array::from_fn(|lane| runs[lane * words + i]);
                assert_eq!(row.0, expected, "word {i} of {words}");
            }
        };
        check(transpose::<T, W, false>, restore::<T, W, false>);
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            check(transpose::<T, W, true>, restore::<T, W, true>);
        }
    }

    fn of_one_to_five_words<W: Word + PartialEq + std::fmt::Debug>(word: fn(usize) -> W) {
        is_the_transpose::<W, W>(word);
        is_the_transpose::<[W; 2], W>(word);
        is_the_transpose::<[W; 3], W>(word);
        is_the_transpose::<[W; 5], W>(word);
    }

    #[test]
    fn a_row_has_one_word_of_every_run() {
        of_one_to_five_words(|i| (i as u32).wrapping_mul(0x9e37_79b9).to_be_bytes()[0]);
        of_one_to_five_words(|i| i as u16);
        of_one_to_five_words(|i| i as u32);
        of_one_to_five_words(|i| i as u64);
    }
}
