//! Prefetches: lines of memory are requested before they are used.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};

#[cfg(target_arch = "x86_64")]
use super::units::LINE;

/// Distance of prefetches into the second-level cache, in bytes.
///
/// Lines arrive before they are used. The hardware prefetcher, which starts anew with every page,
/// is not needed. From 8 to 32 KiB the distance makes little difference.
const L2_DISTANCE: usize = 12 << 10;
/// Distance of prefetches into the first-level cache, in bytes.
const L1_DISTANCE: usize = 4 << 10;

/// Prefetches as many bytes as `items` have, at the far and at the near distance. Prefetches
/// nothing at a distance that is past the end of `all`. `items` are a part of `all`.
#[inline(always)]
pub(super) fn prefetch_ahead<T>(items: &[T], all: &[T]) {
    let (from, end) = (items.as_ptr().cast::<u8>(), all.as_ptr_range().end.cast::<u8>());
    let (far, near) = (from.wrapping_add(L2_DISTANCE), from.wrapping_add(L1_DISTANCE));
    if far < end {
        lines::<L2>(far, size_of_val(items));
    }
    if near < end {
        lines::<L1>(near, size_of_val(items));
    }
}

/// Prefetches the first bytes of items, which are used next, into the second-level cache.
#[inline(always)]
pub(super) fn next<T>(items: &[T]) {
    lines::<L2>(items.as_ptr().cast(), size_of_val(items).min(L2_DISTANCE));
}

/// Prefetches as many bytes as `items` have, directly after them. At the end of a block these bytes
/// belong to another thread, but they are few compared to the block.
#[inline(always)]
pub(super) fn after<T>(items: &[T]) {
    lines::<L1>(items.as_ptr_range().end.cast(), size_of_val(items));
}

/// Prefetch into the second-level cache.
const L2: bool = true;
/// Prefetch into the first-level cache.
const L1: bool = false;

/// Prefetches each line of `bytes` bytes. The memory need not exist.
#[inline(always)]
fn lines<const IS_FAR: bool>(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(LINE) {
        let line = from.wrapping_add(at).cast();
        // SAFETY: a prefetch of an address that cannot be read does nothing. Newer compilers
        // declare it safe.
        #[allow(unused_unsafe)]
        unsafe {
            if IS_FAR { _mm_prefetch::<_MM_HINT_T1>(line) } else { _mm_prefetch::<_MM_HINT_T0>(line) }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}
