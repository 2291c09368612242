//! The fastest that memory is read, and copied, by all threads of a CPU: what a reduction can reach, and a scan.

use rayon::prelude::*;
use warpfold::DeviceType;

/// The words of a chunk: as many bytes as a block of warpfold's has.
const CHUNK: usize = 32 << 10;
/// Bytes of what is copied by a thread at a time, if lines are asked for.
const PART_BYTES: usize = 128 << 10;

/// Bytes that memory gives and takes at once.
const LINE: usize = 64;

/// Every bit of the items, which have no padding, in one number.
pub fn read<T: DeviceType>(items: &[T]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has it.
        return unsafe { read_by(items, avx2::read) };
    }
    // SAFETY: it is safe.
    unsafe { read_by(items, read_some) }
}

/// The same, where lines are asked for before the processor would.
pub fn read_ahead<T: DeviceType>(items: &[T]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        // SAFETY: the processor has it.
        return unsafe { read_by(items, avx2::read_ahead) };
    }
    read(items)
}

/// # Safety
///
/// `read` may be called.
unsafe fn read_by<T: DeviceType>(items: &[T], read: unsafe fn(&[u64]) -> u64) -> u64 {
    // SAFETY: any bytes are words.
    let (_, words, _) = unsafe { items.align_to::<u64>() };
    // SAFETY: the caller says so.
    words.par_chunks(CHUNK).map(|words| unsafe { read(words) }).reduce(|| 0, |a, b| a ^ b)
}

fn read_some(words: &[u64]) -> u64 {
    words.iter().fold(0, |all, word| all ^ word)
}

/// Copies items, each thread parts of them: the least that a scan does.
pub fn copy<T: DeviceType>(items: &[T], places: &mut [T], part_bytes: usize) {
    let part = part_bytes / size_of::<T>();
    items
        .par_chunks(part)
        .zip(places.par_chunks_mut(part))
        .for_each(|(items, places)| places.copy_from_slice(items));
}

/// The same, where lines are asked for before the processor would, and whole ones go past the caches.
pub fn copy_ahead<T: DeviceType>(items: &[T], places: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    if has_avx2() {
        assert_eq!(items.len(), places.len(), "one place for each item");
        let bytes = size_of_val(items);
        // SAFETY: items without padding are bytes.
        let items = unsafe { std::slice::from_raw_parts(items.as_ptr().cast::<u8>(), bytes) };
        // SAFETY: as above, and the bytes that they are set to are those of items.
        let places = unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast::<u8>(), bytes) };
        let first = places.as_ptr().align_offset(LINE).min(bytes);
        places[..first].copy_from_slice(&items[..first]);
        let parts = items[first..].par_chunks(PART_BYTES).zip(places[first..].par_chunks_mut(PART_BYTES));
        // SAFETY: the processor has it.
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

    /// As far as reductions and scans do (`src/cpu/transposition/`).
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

    /// The places begin where a line does.
    #[target_feature(enable = "avx2")]
    pub fn copy_ahead(items: &[u8], places: &mut [u8]) {
        assert!(items.len() == places.len() && places.as_ptr().addr().is_multiple_of(LINE));
        let (lines, last) = items.as_chunks::<LINE>();
        let (lines_of_places, last_places) = places.as_chunks_mut::<LINE>();
        for (line, places) in zip(lines, lines_of_places) {
            ask_ahead(line.as_ptr());
            let (from, to) = (line.as_ptr().cast::<__m256i>(), places.as_mut_ptr().cast::<__m256i>());
            for half in 0..2 {
                // SAFETY: a line is two of them, and the places are as aligned as a line is.
                unsafe { _mm256_stream_si256(to.add(half), _mm256_loadu_si256(from.add(half))) };
            }
        }
        last_places.copy_from_slice(last);
        // Others see it now.
        _mm_sfence();
    }

    fn ask_ahead(line: *const u8) {
        // SAFETY: nothing is fetched from an address that cannot be read.
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(line.wrapping_add(AHEAD_BYTES).cast());
        }
    }
}
