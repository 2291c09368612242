//! The fastest read and copy of memory by all threads of a CPU. They bound reductions and scans.

use rayon::prelude::*;
use warpfold::DeviceType;

/// Words in a chunk, which has as many bytes as a block of the CPU backend.
const CHUNK: usize = 32 << 10;
/// Bytes that a thread copies at a time, with prefetch.
const PART_BYTES: usize = 128 << 10;

/// Bytes of a cache line.
const LINE: usize = 64;

/// Reads the items and returns the XOR of their words. The items must have no padding.
pub fn read<T: DeviceType>(items: &[T]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        return unsafe { read_by(items, avx2::read) };
    }
    // SAFETY: `read_some` is a safe function.
    unsafe { read_by(items, read_some) }
}

/// Does the same as [`read`], with software prefetch.
pub fn read_ahead<T: DeviceType>(items: &[T]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has AVX2.
        return unsafe { read_by(items, avx2::read_ahead) };
    }
    read(items)
}

/// Folds the words of the items by `read`, in parallel.
///
/// # Safety
///
/// It must be sound to call `read` on this processor.
unsafe fn read_by<T: DeviceType>(items: &[T], read: unsafe fn(&[u64]) -> u64) -> u64 {
    // SAFETY: the items have no padding, and any bytes are a valid `u64`.
    let (_, words, _) = unsafe { items.align_to::<u64>() };
    // SAFETY: the caller promises that `read` may be called.
    words.par_chunks(CHUNK).map(|words| unsafe { read(words) }).reduce(|| 0, |a, b| a ^ b)
}

fn read_some(words: &[u64]) -> u64 {
    words.iter().fold(0, |all, word| all ^ word)
}

/// Copies items in parallel, in parts of `part_bytes`. Every scan moves at least as much memory.
pub fn copy<T: DeviceType>(items: &[T], places: &mut [T], part_bytes: usize) {
    let part = part_bytes / size_of::<T>();
    items
        .par_chunks(part)
        .zip(places.par_chunks_mut(part))
        .for_each(|(items, places)| places.copy_from_slice(items));
}

/// Does the same with software prefetch, and writes whole lines with non-temporal stores.
pub fn copy_ahead<T: DeviceType>(items: &[T], places: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        assert_eq!(items.len(), places.len(), "one place for each item");
        let bytes = size_of_val(items);
        // SAFETY: items without padding are valid as bytes.
        let items = unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), bytes) };
        // SAFETY: as above, and the bytes written are those of valid items.
        let places = unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast::<u8>(), bytes) };
        let first = places.as_ptr().align_offset(LINE).min(bytes);
        places[..first].copy_from_slice(&items[..first]);
        let parts = items[first..].par_chunks(PART_BYTES).zip(places[first..].par_chunks_mut(PART_BYTES));
        // SAFETY: the processor has AVX2.
        return parts.for_each(|(items, places)| unsafe { avx2::copy_ahead(items, places) });
    }
    copy(items, places, PART_BYTES);
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _MM_HINT_T1, _mm_prefetch, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256,
    };
    use std::iter::zip;

    use super::LINE;

    /// Prefetch distance in bytes, the same as in reductions and scans (`src/cpu/transposition/`).
    const AHEAD_BYTES: usize = 12 << 10;

    #[target_feature(enable = "avx2")]
    pub fn read(words: &[u64]) -> u64 {
        super::read_some(words)
    }

    #[target_feature(enable = "avx2")]
    pub fn read_ahead(words: &[u64]) -> u64 {
        let (lines, rest) = words.as_chunks::<{ LINE / 8 }>();
        let mut all = [0; LINE / 8];
        for line in lines {
            ask_ahead(line.as_ptr().cast());
            zip(&mut all, line).for_each(|(all, word)| *all ^= word);
        }
        all.iter().chain(rest).fold(0, |all, word| all ^ word)
    }

    /// Copies bytes. `places` must begin at a multiple of a line.
    #[target_feature(enable = "avx2")]
    pub fn copy_ahead(items: &[u8], places: &mut [u8]) {
        assert!(items.len() == places.len() && places.as_ptr().addr().is_multiple_of(LINE));
        let (lines, last) = items.as_chunks::<LINE>();
        let (lines_of_places, last_places) = places.as_chunks_mut::<LINE>();
        for (line, places) in zip(lines, lines_of_places) {
            ask_ahead(line.as_ptr());
            let (from, to) = (line.as_ptr().cast::<__m256i>(), places.as_mut_ptr().cast::<__m256i>());
            for half in 0..2 {
                // SAFETY: a line is two vectors of 32 bytes, and the destination is aligned to a
                // line.
                unsafe { _mm256_stream_si256(to.add(half), _mm256_loadu_si256(from.add(half))) };
            }
        }
        last_places.copy_from_slice(last);
        // Makes the non-temporal stores visible to other threads.
        _mm_sfence();
    }

    fn ask_ahead(line: *const u8) {
        // SAFETY: a prefetch of an unreadable address does nothing.
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(line.wrapping_add(AHEAD_BYTES).cast());
        }
    }
}
