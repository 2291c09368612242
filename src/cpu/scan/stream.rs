//! Stores past the caches: a line that is written as a whole is not read first, and displaces nothing that is used again.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::cpu::rows::{Row, Word};

/// Bytes of an output that caches would not keep until somebody reads it.
const LEAST_BYTES: usize = 64 << 20;

/// Whether an output is worth it, and as aligned as these stores are.
pub(super) fn suits<T>(output: &[T]) -> bool {
    let is_aligned = output.as_ptr().addr().is_multiple_of(16);
    cfg!(target_arch = "x86_64") && is_aligned && size_of_val(output) >= LEAST_BYTES
}

/// Dropped where others may see what was stored: it comes before whatever this thread does next.
pub(super) struct End;

impl Drop for End {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has it.
        unsafe {
            std::arch::x86_64::_mm_sfence();
        }
    }
}

/// Writes as many words as there is room for. Nobody looks at them while there is no [`End`].
#[inline(always)]
pub(super) fn store<W: Word>(from: &[Row<W>], to: &mut [MaybeUninit<W>]) {
    let bytes = size_of_val(to);
    assert!(bytes <= size_of_val(from));
    #[cfg(target_arch = "x86_64")]
    if to.as_ptr().addr().is_multiple_of(16) && bytes.is_multiple_of(16) {
        use std::arch::x86_64::{__m128i, _mm_load_si128, _mm_stream_si128};
        let (from, to) = (from.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
        for index in 0..bytes / 16 {
            // SAFETY: both are as long, and aligned; every x86-64 processor has these instructions.
            unsafe { _mm_stream_si128(to.add(index), _mm_load_si128(from.add(index))) };
        }
        return;
    }
    // SAFETY: both are as long, and apart.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr().cast(), to.as_mut_ptr(), to.len()) };
}
