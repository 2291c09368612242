//! Stores past the caches: a line that is written as a whole is not read first, and displaces nothing that is used again.

#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use crate::cpu::LINE;
use crate::cpu::rows::Word;
use crate::cpu::transposition::Meanwhile;

/// Bytes of an output that caches would not keep until somebody reads it.
const LEAST_BYTES: usize = 64 << 20;

/// Whether an output is worth it.
pub(super) fn suits<T>(output: &[T]) -> bool {
    cfg!(target_arch = "x86_64") && size_of_val(output) >= LEAST_BYTES
}

/// Where words are put together, one after the other.
const PARTS: usize = 3;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line([u8; LINE]);

/// Places that get their words from the left, some at a time. What went past the caches is seen by others once this is dropped.
/// The processor must have vector registers of so many `BYTES`.
///
/// Lines go there later than their words are set, [some at a time](Meanwhile), while other words are computed: a core has few buffers for what
/// waits for memory, and what it loads meanwhile takes one, too.
pub(super) struct Output<'a, W: Word, const BYTES: usize> {
    places: &'a mut [MaybeUninit<W>],
    /// At a time.
    words: usize,
    /// How often places have got them.
    times: usize,
    /// Where words are put together, if they go past the caches: in parts in turn. Each has first the line in which the first of its places
    /// is, with what is done of it.
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
        places: &'a mut [MaybeUninit<W>],
        words: usize,
        streams: bool,
        lines: &'a mut Vec<Line>,
    ) -> Self {
        let bytes = words * size_of::<W>();
        let lines = streams.then(|| {
            assert!(bytes > 0 && bytes.is_multiple_of(LINE));
            lines.resize(PARTS * (bytes / LINE + 1), Line([0; LINE]));
            lines.as_mut_ptr()
        });
        let (from, to) = (std::ptr::null(), std::ptr::null_mut());
        Self { places, words, times: 0, lines, of_lines: PhantomData, left: 0, from, to }
    }

    /// What the next places hold.
    ///
    /// # Safety
    ///
    /// They hold words, and get others only when these are no longer used.
    #[inline(always)]
    pub(super) unsafe fn next_words(&self) -> &'a [W] {
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
                // SAFETY: all parts have room for all words and a line, and nobody else knows of them.
                unsafe {
                    let part = lines.add(self.part_of(self.times));
                    *part = *lines.add(self.part_of(self.times + PARTS - 1) + self.lines_of_words());
                    set(std::slice::from_raw_parts_mut(part.cast::<u8>().add(skipped).cast(), self.words));
                }
                self.leave_last(lines);
            }
        }
        self.times += 1;
    }

    /// Whole ones, at a time.
    #[inline(always)]
    fn lines_of_words(&self) -> usize {
        size_of::<W>() * self.words / LINE
    }

    /// Where the part begins in which the words of that time are put together.
    #[inline(always)]
    fn part_of(&self, time: usize) -> usize {
        time % PARTS * (self.lines_of_words() + 1)
    }

    #[inline(always)]
    fn store_left(&mut self) {
        while self.left > 0 {
            self.lines(1);
        }
    }

    /// Leaves the lines of the last words, but the one in which they end.
    #[inline(always)]
    fn leave_last(&mut self, lines: *const Line) {
        self.store_left();
        let Some(time) = self.times.checked_sub(1) else { return };
        let begin = self.places[time * self.words..].as_mut_ptr().cast::<u8>();
        let skipped = begin.addr() % LINE;
        self.left = self.lines_of_words();
        self.from = lines.wrapping_add(self.part_of(time));
        self.to = begin.wrapping_sub(skipped).cast();
        if time == 0 {
            // What is before them in the first line is not ours.
            // SAFETY: the rest of it are places, and were put together.
            unsafe { self.from.cast::<u8>().add(skipped).copy_to_nonoverlapping(begin, LINE - skipped) };
            self.go_on(1);
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
    /// Stores as many of those that are left, if they are.
    #[inline(always)]
    fn lines(&mut self, count: usize) {
        if self.left >= count {
            // SAFETY: they are all ours.
            (0..count).for_each(|line| unsafe { store::<BYTES>(self.from.add(line), self.to.add(line)) });
            self.go_on(count);
        }
    }
}

impl<W: Word, const BYTES: usize> Drop for Output<'_, W, BYTES> {
    fn drop(&mut self) {
        let Some(lines) = self.lines else { return };
        self.leave_last(lines);
        self.store_left();
        if self.times > 0 {
            // SAFETY: what is left of the last words are the bytes in front of their end.
            unsafe {
                let end = self.places.as_mut_ptr().add(self.times * self.words).cast::<u8>();
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
    if BYTES > 0 {
        // SAFETY: as the caller says.
        return unsafe {
            match BYTES {
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
