//! Stores past the caches: a line that is written as a whole is not read first, and displaces nothing that is used again.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::cpu::rows::{Room, Word};

/// Bytes of an output that caches would not keep until somebody reads it.
const LEAST_BYTES: usize = 64 << 20;
/// Bytes that memory takes at once. A part of a line alone would take as long.
const LINE: usize = 64;

/// Whether an output is worth it.
pub(super) fn suits<T>(output: &[T]) -> bool {
    cfg!(target_arch = "x86_64") && size_of_val(output) >= LEAST_BYTES
}

/// Places that get their words from the left, some at a time. What went past the caches is seen by others once this is dropped.
/// The processor must have vector registers of so many `BYTES`.
pub(super) struct Output<'a, W: Word, const BYTES: usize> {
    places: &'a mut [MaybeUninit<W>],
    /// Words at a time.
    words: usize,
    /// Those that have got their words.
    done: usize,
    /// Some of them, if they go past the caches: first the line in which the next one is, with what is done of it.
    lines: Option<&'a mut [Room]>,
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
            lines.resize(Room::of(bytes + LINE), Room::NONE);
            &mut lines[..]
        });
        Self { places, words, done: 0, lines }
    }

    /// The next places, as they were. They may be read until they are [set](Self::next).
    #[inline(always)]
    pub(super) fn next_places(&self) -> *const W {
        self.places[self.done..].as_ptr().cast()
    }

    /// The next places, which `set` sets all.
    #[inline(always)]
    pub(super) fn next(&mut self, set: impl FnOnce(&mut [MaybeUninit<W>])) {
        let words = self.words;
        let next = &mut self.places[self.done..self.done + words];
        let Some(lines) = &mut self.lines else {
            self.done += words;
            return set(next);
        };
        let (bytes, skipped) = (size_of_val(next), next.as_ptr().addr() % LINE);
        assert!(bytes + LINE <= size_of_val(*lines));
        let lines = lines.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room for as many, at least as aligned.
        set(unsafe { std::slice::from_raw_parts_mut(lines.add(skipped).cast(), words) });
        // SAFETY: the lines that `lines` begins with are those of the next places.
        unsafe {
            let to = self.places.as_mut_ptr().add(self.done).cast::<u8>();
            match self.done {
                // What is before them in the first line is not ours.
                0 => lines.add(skipped).copy_to_nonoverlapping(to, LINE - skipped),
                _ => store::<BYTES>(lines, to.sub(skipped), 1),
            }
            store::<BYTES>(lines.add(LINE), to.add(LINE - skipped), bytes / LINE - 1);
            lines.add(bytes).copy_to_nonoverlapping(lines, LINE);
        }
        self.done += words;
    }
}

impl<W: Word, const BYTES: usize> Drop for Output<'_, W, BYTES> {
    fn drop(&mut self) {
        let Some(lines) = &self.lines else { return };
        let end = self.places[self.done..].as_ptr().addr();
        let held = if self.done > 0 { end % LINE } else { 0 };
        // SAFETY: they are the last of the bytes that are done.
        unsafe {
            let places = self.places.as_mut_ptr().add(self.done).cast::<u8>();
            lines.as_ptr().cast::<u8>().copy_to_nonoverlapping(places.sub(held), held);
        }
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has it.
        unsafe {
            std::arch::x86_64::_mm_sfence();
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
        use std::arch::x86_64::{__m256i, _mm256_load_si256, _mm256_stream_si256};
        let (from, to) = (from.cast::<__m256i>(), to.cast::<__m256i>());
        for half in 0..2 * lines {
            // SAFETY: as the caller says.
            unsafe { _mm256_stream_si256(to.add(half), _mm256_load_si256(from.add(half))) };
        }
        return;
    }
    // SAFETY: as the caller says; they are apart.
    unsafe { from.copy_to_nonoverlapping(to, LINE * lines) };
}
