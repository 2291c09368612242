//! Fills the pinned buffers by several threads, ahead of the copies to the device.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::cuda::lock::lock;

/// Bytes that a thread copies at a time.
const PART_BYTES: usize = 256 << 10;

/// A pinned buffer, which several threads fill.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pinned(pub(super) *mut MaybeUninit<u8>);

// SAFETY: any thread may write to the buffer.
unsafe impl Send for Pinned {}
// SAFETY: the buffer is written by `Filling` only, each part by one thread.
unsafe impl Sync for Pinned {}

/// An input that is copied to the buffers chunk by chunk. Chunk c goes to buffer c modulo their
/// number.
pub(super) struct Filling<'a> {
    input: &'a [MaybeUninit<u8>],
    chunk_bytes: usize,
    buffers: &'a [Pinned],
    /// The next part to copy, counted through all chunks.
    next: AtomicUsize,
    state: Mutex<State>,
    /// A buffer holds its whole chunk, which the caller waits for.
    whole: Condvar,
    /// Buffers are free again, which the helping threads wait for.
    freed: Condvar,
}

struct State {
    /// The first chunk whose buffer is still in use.
    end: usize,
    /// For each buffer, the parts of its current chunk that have been copied.
    filled: Vec<usize>,
    is_stopped: bool,
}

impl<'a> Filling<'a> {
    /// # Safety
    ///
    /// Each buffer has room for `chunk_bytes` bytes. Nothing else uses it, except a copy to the
    /// device of a chunk that was [filled](Self::wait), until the buffer is [freed](Self::free).
    pub(super) unsafe fn new(
        input: &'a [MaybeUninit<u8>],
        chunk_bytes: usize,
        buffers: &'a [Pinned],
    ) -> Self {
        let state = State { end: buffers.len(), filled: vec![0; buffers.len()], is_stopped: false };
        let (next, state) = (AtomicUsize::new(0), Mutex::new(state));
        Self { input, chunk_bytes, buffers, next, state, whole: Condvar::new(), freed: Condvar::new() }
    }

    fn chunk(&self, index: usize) -> Option<&'a [MaybeUninit<u8>]> {
        self.input.chunks(self.chunk_bytes).nth(index)
    }

    /// Copies parts until none is left. Runs in each helping thread.
    pub(super) fn help(&self) {
        let parts = self.chunk_bytes.div_ceil(PART_BYTES);
        loop {
            let part = self.next.fetch_add(1, Ordering::Relaxed);
            let (index, part) = (part / parts, part % parts);
            let Some(chunk) = self.chunk(index) else { return };
            let state = self.wait_while(&self.freed, |state| index >= state.end && !state.is_stopped);
            if state.is_stopped {
                return;
            }
            drop(state);
            self.fill_part(index, chunk, part);
        }
    }

    /// Copies a whole chunk. For a caller that no thread helps.
    pub(super) fn fill(&self, index: usize) {
        drop(self.wait_while(&self.freed, |state| index >= state.end));
        let chunk = self.chunk(index).unwrap_or_default();
        (0..parts_of(chunk)).for_each(|part| self.fill_part(index, chunk, part));
    }

    /// Copies a part of a chunk whose buffer is free. One thread alone has the part. The last chunk
    /// may have fewer parts.
    fn fill_part(&self, index: usize, chunk: &[MaybeUninit<u8>], part: usize) {
        let begin = part * PART_BYTES;
        if begin >= chunk.len() {
            return;
        }
        let from = &chunk[begin..chunk.len().min(begin + PART_BYTES)];
        let buffer = index % self.buffers.len();
        // SAFETY: the buffer is free, and has room for the chunk.
        unsafe {
            let to = self.buffers[buffer].0.add(begin);
            std::ptr::copy_nonoverlapping(from.as_ptr(), to, from.len());
        }
        let filled = &mut lock(&self.state).filled[buffer];
        *filled += 1;
        if *filled == parts_of(chunk) {
            self.whole.notify_one();
        }
    }

    /// Waits until the chunk is in its buffer, and returns the buffer.
    pub(super) fn wait(&self, index: usize) -> &[MaybeUninit<u8>] {
        let chunk = self.chunk(index).unwrap_or_default();
        let buffer = index % self.buffers.len();
        let mut state = self.wait_while(&self.whole, |state| state.filled[buffer] < parts_of(chunk));
        state.filled[buffer] = 0;
        // SAFETY: the buffer has the chunk, and does not change until it is freed.
        unsafe { std::slice::from_raw_parts(self.buffers[buffer].0, chunk.len()) }
    }

    /// Permits to fill the buffers of all chunks before `end`.
    pub(super) fn free(&self, end: usize) {
        lock(&self.state).end = end;
        self.freed.notify_all();
    }

    fn wait_while(&self, event: &Condvar, is_waiting: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let state = lock(&self.state);
        event.wait_while(state, |state| is_waiting(state)).unwrap_or_else(PoisonError::into_inner)
    }
}

fn parts_of(chunk: &[MaybeUninit<u8>]) -> usize {
    chunk.len().div_ceil(PART_BYTES)
}

/// Lets the helping threads end when it is dropped.
pub(super) struct StopOnDrop<'f, 'a>(pub(super) &'f Filling<'a>);

impl Drop for StopOnDrop<'_, '_> {
    fn drop(&mut self) {
        lock(&self.0.state).is_stopped = true;
        self.0.freed.notify_all();
    }
}

#[cfg(test)]
mod tests;
