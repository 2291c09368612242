//! Stores past the caches: a line that is written as a whole is not read first, and displaces nothing that is used again.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::cpu::rows::Word;
use crate::cpu::transposition::Meanwhile;
use crate::cpu::units::LINE;
use crate::cpu::vectors::Registers;

/// Bytes of an output that caches would not keep until somebody reads it.
const LEAST_BYTES: usize = 64 << 20;

/// Whether an output is worth it.
pub(super) fn suits<T>(output: &[T]) -> bool {
    cfg!(target_arch = "x86_64") && size_of_val(output) >= LEAST_BYTES
}

/// What memory takes at once.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; LINE]);

/// Places that get their words from the left, some at a time. What went past the caches is seen by others once this is dropped.
///
/// Lines go there later than their words are set, [some at a time](Meanwhile), while other words are computed: a core has few buffers for what
/// waits for memory, and what it loads meanwhile takes one, too.
pub(super) struct Output<'a, W: Word, const BYTES: usize> {
    places: *mut W,
    of_places: PhantomData<&'a mut [MaybeUninit<W>]>,
    count: usize,
    /// At a time.
    words: usize,
    /// How often places have got them.
    times: usize,
    /// Where words are put together, if they go past the caches: in two halves in turn, so that those before are still there. Each has first
    /// the line in which the first of its places is, with what is done of it.
    lines: Option<*mut Line>,
    of_lines: PhantomData<&'a mut [Line]>,
    /// Lines of the words before the last ones that did not go past the caches yet, and where they go. The last ones were only just written,
    /// in other pieces than lines, and cannot be read at once.
    left: usize,
    from: *const Line,
    to: *mut Line,
}

impl<'a, W: Word, const BYTES: usize> Output<'a, W, BYTES> {
    /// If it streams, so many words are whole lines.
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
            lines.resize(2 * (bytes / LINE + 1), Line([0; LINE]));
            lines.as_mut_ptr()
        });
        Self {
            places: places.as_mut_ptr().cast(),
            of_places: PhantomData,
            count: places.len(),
            words,
            times: 0,
            lines,
            of_lines: PhantomData,
            left: 0,
            from: std::ptr::null(),
            to: std::ptr::null_mut(),
        }
    }

    /// Of the words of that time, of which there are places.
    #[inline(always)]
    fn places_of(&self, time: usize) -> *mut W {
        assert!((time + 1) * self.words <= self.count);
        self.places.wrapping_add(time * self.words)
    }

    /// What the next places hold.
    ///
    /// # Safety
    ///
    /// They hold words, and get others only when these are no longer used.
    #[inline(always)]
    pub(super) unsafe fn next_words(&self) -> &'a [W] {
        // SAFETY: as the caller says.
        unsafe { std::slice::from_raw_parts(self.places_of(self.times), self.words) }
    }

    /// The next places.
    ///
    /// # Safety
    ///
    /// `set` sets all of them.
    #[inline(always)]
    pub(super) unsafe fn next(&mut self, set: impl FnOnce(&mut [MaybeUninit<W>])) {
        let next = self.places_of(self.times);
        match self.lines {
            // SAFETY: they are places that nobody else has.
            None => set(unsafe { std::slice::from_raw_parts_mut(next.cast(), self.words) }),
            Some(lines) => {
                self.store_left();
                let skipped = next.addr() % LINE;
                // SAFETY: both halves have room for all words and a line, and nobody else knows of them.
                unsafe {
                    let half = lines.add(self.half_of(self.times));
                    *half = *lines.add(self.half_of(self.times + 1) + self.lines_of_words());
                    set(std::slice::from_raw_parts_mut(half.cast::<u8>().add(skipped).cast(), self.words));
                }
                if let Some(before) = self.times.checked_sub(1) {
                    self.leave(lines, before);
                }
            }
        }
        self.times += 1;
    }

    /// Whole ones, at a time.
    #[inline(always)]
    fn lines_of_words(&self) -> usize {
        size_of::<W>() * self.words / LINE
    }

    /// Where the half begins in which the words of that time are put together.
    #[inline(always)]
    fn half_of(&self, time: usize) -> usize {
        time % 2 * (self.lines_of_words() + 1)
    }

    /// Leaves the lines of the words of that time, but the one in which they end, where none is left.
    #[inline(always)]
    fn leave(&mut self, lines: *const Line, time: usize) {
        let begin = self.places_of(time).cast::<u8>();
        let skipped = begin.addr() % LINE;
        self.left = self.lines_of_words();
        self.from = lines.wrapping_add(self.half_of(time));
        self.to = begin.wrapping_sub(skipped).cast();
        if time == 0 {
            // What is before them in the first line is not ours.
            // SAFETY: the rest of it are places, and were put together.
            unsafe { self.from.cast::<u8>().add(skipped).copy_to_nonoverlapping(begin, LINE - skipped) };
            self.go_on(1);
        }
    }

    #[inline(always)]
    fn store_left(&mut self) {
        while self.left > 0 {
            self.lines(1);
        }
    }

    /// From the first lines that are left to the next ones.
    #[inline(always)]
    fn go_on(&mut self, count: usize) {
        self.left -= count;
        (self.from, self.to) = (self.from.wrapping_add(count), self.to.wrapping_add(count));
    }
}

impl<W: Word, const BYTES: usize> Meanwhile for Output<'_, W, BYTES> {
    /// Stores so many of those that are left. If there are fewer, they stay until the next words are set.
    #[inline(always)]
    fn lines(&mut self, count: usize) {
        if self.left >= count {
            // SAFETY: they are all ours, `to` is where one begins, and the processor has the registers, as `new` was shown.
            (0..count).for_each(|line| unsafe { store::<BYTES>(self.from.add(line), self.to.add(line)) });
            self.go_on(count);
        }
    }
}

impl<W: Word, const BYTES: usize> Drop for Output<'_, W, BYTES> {
    fn drop(&mut self) {
        let Some(lines) = self.lines else { return };
        self.store_left();
        if let Some(last) = self.times.checked_sub(1) {
            self.leave(lines, last);
            self.store_left();
            // SAFETY: what is left of the last words are the bytes in front of their end.
            unsafe {
                let end = self.places.add(self.times * self.words).cast::<u8>();
                let held = end.addr() % LINE;
                self.from.cast::<u8>().copy_to_nonoverlapping(end.sub(held), held);
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
/// One can be read, the other written, and the processor has registers of so many `BYTES`.
#[inline(always)]
unsafe fn store<const BYTES: usize>(from: *const Line, to: *mut Line) {
    #[cfg(target_arch = "x86_64")]
    if const { BYTES > 0 } {
        // SAFETY: as the caller says.
        return unsafe {
            match const { BYTES } {
                64.. => store_by_64(from.cast(), to.cast()),
                _ => store_by_32(from.cast(), to.cast()),
            }
        };
    }
    // SAFETY: as the caller says; they are apart.
    unsafe { from.copy_to_nonoverlapping(to, 1) };
}

/// # Safety
///
/// As for [`store`].
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn store_by_64(from: *const __m512i, to: *mut __m512i) {
    // SAFETY: as the caller says.
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
        // SAFETY: as the caller says.
        unsafe { _mm256_stream_si256(to.add(half), _mm256_load_si256(from.add(half))) };
    }
}

#[cfg(test)]
mod tests;
