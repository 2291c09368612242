//! Streaming stores, which bypass the caches. A line that is written as a whole is not read first,
//! and displaces no line that is used again.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::cpu::rows::Word;
use crate::cpu::units::LINE;
use crate::cpu::vectors::Registers;

/// Least bytes of an output that the caches would not keep until it is read.
const MIN_BYTES: usize = 64 << 20;

/// Whether streaming stores are worthwhile for an output.
pub(super) fn is_worthwhile<T>(output: &[T]) -> bool {
    cfg!(target_arch = "x86_64") && size_of_val(output) >= MIN_BYTES
}

/// One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; LINE]);

/// An output that is written from left to right, `words` words at a time. Other threads see
/// streaming stores once the output is dropped.
pub(super) struct Output<'a, W: Word, const BYTES: usize> {
    places: *mut W,
    of_places: PhantomData<&'a mut [MaybeUninit<W>]>,
    count: usize,
    /// Number of words that are written at a time.
    words: usize,
    /// Number of writes so far.
    times: usize,
    /// The staging buffer of streaming stores. Words have the same offset in its first line as in
    /// their line of the output. The last words of the previous write stand in front of them.
    lines: Option<&'a mut [Line]>,
}

impl<'a, W: Word, const BYTES: usize> Output<'a, W, BYTES> {
    /// If the output streams, `words` words must be whole lines.
    pub(super) fn new(
        _registers: Registers<BYTES>,
        places: &'a mut [MaybeUninit<W>],
        words: usize,
        streams: bool,
        lines: &'a mut Vec<Line>,
    ) -> Self {
        let bytes = words * size_of::<W>();
        let lines = streams.then(|| {
            assert!(bytes > 0 && bytes.is_multiple_of(LINE));
            lines.resize(bytes / LINE + 1, Line([0; LINE]));
            &mut lines[..]
        });
        let (count, places) = (places.len(), places.as_mut_ptr().cast());
        Self { places, of_places: PhantomData, count, words, times: 0, lines }
    }

    /// The places that are written next.
    #[inline(always)]
    fn next_places(&self) -> *mut W {
        assert!((self.times + 1) * self.words <= self.count);
        self.places.wrapping_add(self.times * self.words)
    }

    /// The contents of the places that are written next.
    ///
    /// # Safety
    ///
    /// These places hold words, and are overwritten only when the returned words are no longer
    /// used.
    #[inline(always)]
    pub(super) unsafe fn next_words(&self) -> &'a [W] {
        // SAFETY: the places hold words, as the caller promises.
        unsafe { std::slice::from_raw_parts(self.next_places(), self.words) }
    }

    /// Writes the next places.
    ///
    /// # Safety
    ///
    /// `set` sets all of them.
    #[inline(always)]
    pub(super) unsafe fn next(&mut self, set: impl FnOnce(&mut [MaybeUninit<W>])) {
        let places = self.next_places();
        match &mut self.lines {
            // SAFETY: the output borrows the places exclusively.
            None => set(unsafe { std::slice::from_raw_parts_mut(places.cast(), self.words) }),
            Some(lines) => {
                let (skipped, last) = (places.addr() % LINE, lines.len() - 1);
                let first = lines.as_mut_ptr();
                // SAFETY: the buffer has room for all words and one line more. All words are set,
                // and the output borrows their places exclusively. The first line is stored only if
                // it begins with the output, or with words that were set before.
                unsafe {
                    let words = first.cast::<u8>().add(skipped);
                    set(std::slice::from_raw_parts_mut(words.cast(), self.words));
                    let to: *mut Line = places.cast::<u8>().wrapping_sub(skipped).cast();
                    let begins_within = self.times == 0 && skipped > 0;
                    if begins_within {
                        words.copy_to_nonoverlapping(places.cast(), LINE - skipped);
                    }
                    for line in usize::from(begins_within)..last {
                        store::<BYTES>(first.add(line), to.wrapping_add(line));
                    }
                    *first = *first.add(last);
                }
            }
        }
        self.times += 1;
    }
}

impl<W: Word, const BYTES: usize> Drop for Output<'_, W, BYTES> {
    fn drop(&mut self) {
        let Some(lines) = &self.lines else { return };
        if self.times > 0 {
            let end = self.places.wrapping_add(self.times * self.words).cast::<u8>();
            let held = end.addr() % LINE;
            // SAFETY: the bytes that remain are those of the last words.
            unsafe { lines.as_ptr().cast::<u8>().copy_to_nonoverlapping(end.sub(held), held) };
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has this instruction.
        unsafe {
            _mm_sfence();
        }
    }
}

/// Stores a line.
///
/// # Safety
///
/// `from` can be read, `to` can be written, and the processor has registers of `BYTES` bytes.
#[inline(always)]
unsafe fn store<const BYTES: usize>(from: *const Line, to: *mut Line) {
    #[cfg(target_arch = "x86_64")]
    if const { BYTES > 0 } {
        // SAFETY: the conditions are the same, and the caller promises them.
        return unsafe {
            match const { BYTES } {
                64.. => store_by_64(from.cast(), to.cast()),
                _ => store_by_32(from.cast(), to.cast()),
            }
        };
    }
    // SAFETY: the caller promises that both lines exist. They do not overlap.
    unsafe { from.copy_to_nonoverlapping(to, 1) };
}

/// # Safety
///
/// As for [`store`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store_by_64(from: *const __m512i, to: *mut __m512i) {
    // SAFETY: the caller promises that both lines exist.
    unsafe { _mm512_stream_si512(to, _mm512_load_si512(from)) };
}

/// # Safety
///
/// As for [`store`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store_by_32(from: *const __m256i, to: *mut __m256i) {
    for half in 0..2 {
        // SAFETY: the caller promises that both lines exist.
        unsafe { _mm256_stream_si256(to.add(half), _mm256_load_si256(from.add(half))) };
    }
}

#[cfg(test)]
mod tests;
