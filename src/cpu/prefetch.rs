//! Lines of memory that are asked for before they are used.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};

#[cfg(target_arch = "x86_64")]
use super::units::LINE;

/// How far ahead of its use memory is asked for, into the second-level cache: far enough that it has come, and that the
/// processor, which begins anew with every page, need not guess. From 8 to 32 KiB it makes little difference.
const FAR_BYTES: usize = 12 << 10;
/// And from there into the first-level cache.
const NEAR_BYTES: usize = 4 << 10;

/// Asks for as much as the items are, far ahead of them and near, but for nothing that begins past the end of `all`, of which they are
/// some.
#[inline(always)]
pub(super) fn ahead_of<T>(items: &[T], all: &[T]) {
    let (from, end) = (items.as_ptr().cast::<u8>(), all.as_ptr_range().end.cast::<u8>());
    let (far, near) = (from.wrapping_add(FAR_BYTES), from.wrapping_add(NEAR_BYTES));
    if far < end {
        lines::<FAR>(far, size_of_val(items));
    }
    if near < end {
        lines::<NEAR>(near, size_of_val(items));
    }
}

/// Asks for as much as the items are, right after them. After the last ones of a block that is another thread's, but little beside
/// the block.
#[inline(always)]
pub(super) fn after<T>(items: &[T]) {
    lines::<NEAR>(items.as_ptr_range().end.cast(), size_of_val(items));
}

/// Into the second-level cache.
const FAR: bool = true;
/// Into the first-level cache.
const NEAR: bool = false;

/// Asks for each line of so many bytes, which need not be there.
#[inline(always)]
fn lines<const IS_FAR: bool>(from: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for at in (0..bytes).step_by(LINE) {
        let line = from.wrapping_add(at).cast();
        // SAFETY: nothing is fetched from an address that cannot be read. (Newer compilers know.)
        #[allow(unused_unsafe)]
        unsafe {
            if IS_FAR { _mm_prefetch::<_MM_HINT_T1>(line) } else { _mm_prefetch::<_MM_HINT_T0>(line) }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, bytes);
}
