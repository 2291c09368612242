//! Stores past the caches: a line that is written as a whole is not read first, and displaces nothing that is used again.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::cpu::LINE;
use crate::cpu::rows::{Room, Word};

/// Bytes of an output that caches would not keep until somebody reads it.
const LEAST_BYTES: usize = 64 << 20;

/// Whether an output is worth it.
pub(super) fn suits<T>(output: &[T]) -> bool {
    cfg!(target_arch = "x86_64") && size_of_val(output) >= LEAST_BYTES
}

/// Places that get their words from the left, some at a time. What went past the caches is seen by others once this is dropped.
/// The processor must have vector registers of so many `BYTES`.
pub(super) struct Output<'a, W: Word, const BYTES: usize> {
    places: &'a mut [MaybeUninit<W>],
    /// At a time.
    words: usize,
    /// How often places have got them.
    times: usize,
    /// Where words are put together, if they go past the caches: in two halves in turn, since those that are only just written cannot
    /// be read at once. Each has first the line in which the first of its places is, with what is done of it.
    lines: Option<*mut u8>,
    of_lines: PhantomData<&'a mut [Room]>,
}

impl<'a, W: Word, const BYTES: usize> Output<'a, W, BYTES> {
    /// If it streams, so many words are whole lines.
    pub(super) fn new(
        places: &'a mut [MaybeUninit<W>],
        words: usize,
        streams: bool,
        lines: &'a mut Vec<Room>,
    ) -> Self {
        let lines = streams.then(|| {
            let bytes = words * size_of::<W>();
            assert!(bytes > 0 && bytes.is_multiple_of(LINE));
            lines.resize(Room::of(2 * (bytes + LINE)), Room::NONE);
            lines.as_mut_ptr().cast()
        });
        Self { places, words, times: 0, lines, of_lines: PhantomData }
    }

    /// What the next places hold.
    ///
    /// # Safety
    ///
    /// They hold words.
    #[inline(always)]
    pub(super) unsafe fn next_words(&self) -> &[W] {
        let next = &self.places[self.times * self.words..][..self.words];
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts(next.as_ptr().cast(), next.len()) }
    }

    /// The next places, which `set` sets all.
    #[inline(always)]
    pub(super) fn next(&mut self, set: impl FnOnce(&mut [MaybeUninit<W>])) {
        let next = &mut self.places[self.times * self.words..][..self.words];
        match self.lines {
            None => set(next),
            Some(lines) => {
                let skipped = next.as_ptr().addr() % LINE;
                // SAFETY: both halves have room for all words and a line, at least as aligned, and nobody else knows of them.
                unsafe {
                    let half = lines.add(self.half_of(self.times));
                    let last = lines.add(self.half_of(self.times + 1) + self.bytes());
                    last.copy_to_nonoverlapping(half, LINE);
                    set(std::slice::from_raw_parts_mut(half.add(skipped).cast(), self.words));
                }
                self.store_last(lines);
            }
        }
        self.times += 1;
    }

    /// Of the words that are put together at a time.
    #[inline(always)]
    fn bytes(&self) -> usize {
        size_of::<W>() * self.words
    }

    /// Where the half begins in which the words of that time are put together.
    #[inline(always)]
    fn half_of(&self, time: usize) -> usize {
        time % 2 * (self.bytes() + LINE)
    }

    /// Stores the lines of the last words that were put together, but the one in which they end.
    #[inline(always)]
    fn store_last(&mut self, lines: *const u8) {
        let Some(time) = self.times.checked_sub(1) else { return };
        // SAFETY: the lines that the half begins with are those of the places that got their words then.
        unsafe {
            let from = lines.add(self.half_of(time));
            let to = self.places.as_mut_ptr().add(time * self.words).cast::<u8>();
            let skipped = to.addr() % LINE;
            match time {
                // What is before them in the first line is not ours.
                0 => from.add(skipped).copy_to_nonoverlapping(to, LINE - skipped),
                _ => store::<BYTES>(from, to.sub(skipped), 1),
            }
            store::<BYTES>(from.add(LINE), to.add(LINE - skipped), self.bytes() / LINE - 1);
        }
    }
}

impl<W: Word, const BYTES: usize> Drop for Output<'_, W, BYTES> {
    fn drop(&mut self) {
        let Some(lines) = self.lines else { return };
        self.store_last(lines);
        if let Some(time) = self.times.checked_sub(1) {
            // SAFETY: they are the last of the bytes that are done.
            unsafe {
                let end = self.places.as_mut_ptr().add(self.times * self.words).cast::<u8>();
                let held = end.addr() % LINE;
                let line = lines.add(self.half_of(time) + self.bytes());
                line.copy_to_nonoverlapping(end.sub(held), held);
            }
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has it.
        unsafe {
            _mm_sfence();
        }
    }
}

/// # Safety
///
/// So many lines can be read and written, both begin at the beginning of one, and the processor has registers of so many `BYTES`.
#[inline(always)]
unsafe fn store<const BYTES: usize>(from: *const u8, to: *mut u8, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    if BYTES > 0 {
        // SAFETY: as the caller says.
        return unsafe {
            match BYTES {
                64.. => store_by_64(from.cast(), to.cast(), lines),
                _ => store_by_32(from.cast(), to.cast(), lines),
            }
        };
    }
    // SAFETY: as the caller says; they are apart.
    unsafe { from.copy_to_nonoverlapping(to, LINE * lines) };
}

/// # Safety
///
/// As for [`store`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store_by_64(from: *const __m512i, to: *mut __m512i, lines: usize) {
    for line in 0..lines {
        // SAFETY: as the caller says.
        unsafe { _mm512_stream_si512(to.add(line), _mm512_load_si512(from.add(line))) };
    }
}

/// # Safety
///
/// As for [`store`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
unsafe fn store_by_32(from: *const __m256i, to: *mut __m256i, lines: usize) {
    for half in 0..2 * lines {
        // SAFETY: as the caller says.
        unsafe { _mm256_stream_si256(to.add(half), _mm256_load_si256(from.add(half))) };
    }
}
