//! The fastest that memory is read by all threads of a CPU: what a reduction can reach.

use rayon::prelude::*;
use warpfold::DeviceType;

/// The words of a chunk: as many bytes as a block of warpfold's has.
const CHUNK: usize = 32 << 10;

/// Every bit of the items, which have no padding, in one number.
pub fn read<T: DeviceType>(items: &[T]) -> u64 {
    read_by(items, read_some)
}

/// The same, where lines are asked for before the processor would.
pub fn read_ahead<T: DeviceType>(items: &[T]) -> u64 {
    read_by(items, read_some_ahead)
}

fn read_by<T: DeviceType>(items: &[T], read: fn(&[u64]) -> u64) -> u64 {
    // SAFETY: any bytes are words.
    let (_, words, _) = unsafe { items.align_to::<u64>() };
    words.par_chunks(CHUNK).map(read).reduce(|| 0, |a, b| a ^ b)
}

fn read_some(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has it.
        return unsafe { read_some_with_avx2(words) };
    }
    words.iter().fold(0, |all, word| all ^ word)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn read_some_with_avx2(words: &[u64]) -> u64 {
    words.iter().fold(0, |all, word| all ^ word)
}

fn read_some_ahead(words: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has it.
        return unsafe { read_some_ahead_with_avx2(words) };
    }
    read_some(words)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn read_some_ahead_with_avx2(words: &[u64]) -> u64 {
    use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};

    /// As far as reductions do (`src/cpu/transposition.rs`).
    const AHEAD_BYTES: usize = 12 << 10;
    /// Words of a line.
    const LINE: usize = 8;
    let (lines, rest) = words.as_chunks::<LINE>();
    let mut all = [0; LINE];
    for line in lines {
        let ahead = line.as_ptr().wrapping_byte_add(AHEAD_BYTES);
        // SAFETY: nothing is fetched from an address that cannot be read. (Newer compilers know.)
        #[allow(unused_unsafe)]
        unsafe {
            _mm_prefetch::<_MM_HINT_T1>(ahead.cast());
        }
        std::iter::zip(&mut all, line).for_each(|(all, word)| *all ^= word);
    }
    all.iter().chain(rest).fold(0, |all, word| all ^ word)
}

/// Copies items, each thread parts of them: the least that a scan does.
pub fn copy<T: Copy + Send + Sync>(items: &[T], places: &mut [T], part_bytes: usize) {
    let part = part_bytes / size_of::<T>();
    items
        .par_chunks(part)
        .zip(places.par_chunks_mut(part))
        .for_each(|(items, places)| places.copy_from_slice(items));
}
