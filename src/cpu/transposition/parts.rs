//! Parts of sixteen bytes of registers: a run's parts are loaded into those of any register and stored from there, and words
//! are shuffled inside parts, as few times as there can be: log2(16 / size of a word) for each register.

use std::arch::x86_64::*;

use super::{Meanwhile, words_of_run};
use crate::cpu::rows::{Row, Word};
use crate::cpu::units::LINE;

/// A module for one kind of registers: of a feature's functions none is inlined into what is not compiled for it, so no function
/// can be of any kind.
macro_rules! registers {
    (
        $module:ident, $features:literal, $register:ident, $zero:ident, $of_parts:ident, $store:ident,
        $($bytes:pat => ($low:ident, $high:ident)),*
    ) => {
        pub(super) mod $module {
            use super::*;

            /// # Safety
            ///
            /// The runs are of items of type `T`, and there is a row for each word of a run.
            #[target_feature(enable = $features)]
            #[inline]
            pub(crate) unsafe fn transpose<T, W: Word>(
                runs: *const W,
                rows: *mut Row<W>,
                meanwhile: impl Meanwhile,
            ) {
                // SAFETY: as the caller says.
                unsafe {
                    match const { size_of::<W>() } {
                        1 | 2 => blocks::<T, W, 8>(runs, rows, meanwhile),
                        4 => blocks::<T, W, 4>(runs, rows, meanwhile),
                        _ => blocks::<T, W, 2>(runs, rows, meanwhile),
                    }
                }
            }

            /// In blocks of `COUNT` rows and one register of lanes: as many registers as rows.
            ///
            /// # Safety
            ///
            /// As for [`transpose`].
            #[target_feature(enable = $features)]
            #[inline]
            unsafe fn blocks<T, W: Word, const COUNT: usize>(
                runs: *const W,
                rows: *mut Row<W>,
                mut meanwhile: impl Meanwhile,
            ) {
                let words = words_of_run::<T, W>();
                let (lanes, of_part) = (size_of::<$register>() / size_of::<W>(), 16 / size_of::<W>());
                for first_lane in (0..W::LANES).step_by(lanes) {
                    for first_word in (0..words).step_by(COUNT) {
                        meanwhile.lines(COUNT * size_of::<$register>() / LINE);
                        let mut block = [$zero(); COUNT];
                        for (i, register) in block.iter_mut().enumerate() {
                            let lane = first_lane + i * (of_part / COUNT);
                            // SAFETY: the lanes and words of a block are some of the runs.
                            *register = unsafe {
                                let first = runs.add(lane * words + first_word);
                                $of_parts(first, of_part * words, words)
                            };
                        }
                        shuffle::<W, COUNT>(&mut block, of_part.ilog2());
                        for (i, register) in block.into_iter().enumerate() {
                            // SAFETY: it is one of the rows, and the lanes fill a register.
                            unsafe {
                                let row = rows.add(first_word + i).cast::<W>();
                                $store(row.add(first_lane).cast(), register);
                            }
                        }
                    }
                }
            }

            /// Rotates the numbers of all words by so many bits. Parts of sixteen bytes stay apart. In them a word's place has
            /// a number, whose upper bits are those of the register and whose lower ones are the place in it.
            #[target_feature(enable = $features)]
            #[inline]
            pub(crate) fn shuffle<W: Word, const COUNT: usize>(block: &mut [$register; COUNT], bits: u32) {
                for _ in 0..bits {
                    let before = *block;
                    for i in 0..COUNT / 2 {
                        (block[2 * i], block[2 * i + 1]) =
                            interleave::<W>(before[i], before[i + COUNT / 2]);
                    }
                }
            }

            /// The words of both in turn, in each part: those of the lower halves, and those of the upper ones.
            #[target_feature(enable = $features)]
            #[inline]
            fn interleave<W: Word>(a: $register, b: $register) -> ($register, $register) {
                match const { size_of::<W>() } {
                    $($bytes => ($low(a, b), $high(a, b))),*
                }
            }
        }
    };
}

registers!(
    by_32, "avx2", __m256i, _mm256_setzero_si256, two_parts, _mm256_storeu_si256,
    1 => (_mm256_unpacklo_epi8, _mm256_unpackhi_epi8),
    2 => (_mm256_unpacklo_epi16, _mm256_unpackhi_epi16),
    4 => (_mm256_unpacklo_epi32, _mm256_unpackhi_epi32),
    _ => (_mm256_unpacklo_epi64, _mm256_unpackhi_epi64)
);
registers!(
    by_64, "avx2,avx512f,avx512bw", __m512i, _mm512_setzero_si512, four_parts, _mm512_storeu_si512,
    1 => (_mm512_unpacklo_epi8, _mm512_unpackhi_epi8),
    2 => (_mm512_unpacklo_epi16, _mm512_unpackhi_epi16),
    4 => (_mm512_unpacklo_epi32, _mm512_unpackhi_epi32),
    _ => (_mm512_unpacklo_epi64, _mm512_unpackhi_epi64)
);

/// Of runs of so many words: parts that are so many words apart.
///
/// # Safety
///
/// They can be read.
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn two_parts<W: Word>(first: *const W, apart: usize, words: usize) -> __m256i {
    // SAFETY: as the caller says.
    unsafe { _mm256_set_m128i(load(first.add(apart), words), load(first, words)) }
}

/// As [`two_parts`].
///
/// # Safety
///
/// They can be read.
#[target_feature(enable = "avx2,avx512f,avx512bw")]
#[inline]
unsafe fn four_parts<W: Word>(first: *const W, apart: usize, words: usize) -> __m512i {
    // SAFETY: as the caller says.
    unsafe {
        let all = _mm512_castsi128_si512(load(first, words));
        let all = _mm512_inserti32x4::<1>(all, load(first.add(apart), words));
        let all = _mm512_inserti32x4::<2>(all, load(first.add(2 * apart), words));
        _mm512_inserti32x4::<3>(all, load(first.add(3 * apart), words))
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
        match const { size_of::<W>() } {
            1 | 2 => blocks_back::<T, W, 8>(rows, runs),
            4 => blocks_back::<T, W, 4>(rows, runs),
            _ => blocks_back::<T, W, 2>(rows, runs),
        }
    }
}

/// In blocks as on the way there, half a register at a time.
///
/// # Safety
///
/// As for [`restore`].
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn blocks_back<T, W: Word, const COUNT: usize>(rows: *const Row<W>, runs: *mut W) {
    let (words, lanes) = (words_of_run::<T, W>(), 32 / size_of::<W>());
    for first_lane in (0..W::LANES).step_by(lanes) {
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
            by_32::shuffle::<W, COUNT>(&mut block, COUNT.ilog2());
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
