//! The prefixes of blocks. The prefix before a block is known once all blocks to its left have
//! published their values.
//!
//! A thread publishes the value of its block and continues. Of the threads that publish at about
//! the same time, one computes the prefixes for all.

use std::sync::TryLockError;
use std::sync::atomic::Ordering;
#[cfg(not(all(test, warpfold_loom)))]
use std::{
    hint::spin_loop,
    sync::{Mutex, OnceLock, atomic::AtomicUsize},
    thread::yield_now,
};

use crossbeam_utils::CachePadded;

#[cfg(all(test, warpfold_loom))]
use self::sync::{AtomicUsize, Mutex, OnceLock, spin_loop, yield_now};

use crate::Monoid;

/// Counts how often a waiting thread has polled.
struct PollCount(usize);

impl PollCount {
    /// Polls before the thread yields the processor.
    const MOST: usize = 1000;

    fn pause(&mut self) {
        self.0 += 1;
        match self.0 <= Self::MOST {
            true => spin_loop(),
            false => yield_now(),
        }
    }
}

/// The prefix before some items, if any items precede them. Also the prefix at their end, if it is
/// known.
#[derive(Clone, Copy)]
pub(super) struct Edges<T> {
    pub(super) before: Option<T>,
    pub(super) after: Option<T>,
}

/// The published values of blocks, and the prefixes that follow from them.
pub(super) struct BlockPrefixes<T> {
    /// The value of each published block.
    values: Vec<OnceLock<T>>,
    /// Number of published values that are not processed yet.
    new: CachePadded<AtomicUsize>,
    /// The perfect subtrees that the processed blocks form, from left to right.
    subtrees: CachePadded<Mutex<Vec<Subtree<T>>>>,
    /// The prefix at the end of each processed block.
    prefixes: Vec<OnceLock<T>>,
    /// Number of processed blocks. [`STOPPED`] if a thread has panicked.
    known: CachePadded<AtomicUsize>,
}

/// A block, and its position in the order of blocks.
#[derive(Clone, Copy)]
pub(super) struct BlockPosition {
    pub(super) index: usize,
    /// Whether the block is complete. Then it has a value, and also waits for the prefix at its
    /// end.
    pub(super) is_whole: bool,
}

/// A perfect subtree of blocks.
struct Subtree<T> {
    blocks: usize,
    value: T,
    /// The prefix at its end.
    prefix: T,
}

/// The value of `known` after a panic. It ends all waits.
const STOPPED: usize = usize::MAX;

/// Stops all other threads when it is dropped. A thread that reaches its end forgets it.
pub(super) struct StopOthers<'a>(&'a AtomicUsize);

impl Drop for StopOthers<'_> {
    fn drop(&mut self) {
        self.0.swap(STOPPED, Ordering::Release);
    }
}

impl<T: Copy> BlockPrefixes<T> {
    pub(super) fn of(blocks: usize) -> Self {
        let each = || (0..blocks).map(|_| OnceLock::new()).collect();
        Self {
            values: each(),
            new: CachePadded::new(AtomicUsize::new(0)),
            subtrees: CachePadded::new(Mutex::default()),
            prefixes: each(),
            known: CachePadded::new(AtomicUsize::new(0)),
        }
    }

    /// Guards against a panic of this thread: all other threads then stop. The thread forgets the
    /// guard at its end.
    pub(super) fn stop_others(&self) -> StopOthers<'_> {
        StopOthers(&self.known)
    }

    /// Publishes the value of a whole block.
    pub(super) fn publish<M: Monoid<Item = T>>(&self, operator: &M, block: usize, value: T) {
        self.values[block].get_or_init(|| value);
        // The thread that processes the earlier values processes this one, too.
        if self.new.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        // The thread that holds the lock is about to release it. If this thread slept until then,
        // all others would wait longer.
        let mut polls = PollCount(0);
        let mut subtrees = loop {
            match self.subtrees.try_lock() {
                Ok(subtrees) => break subtrees,
                Err(TryLockError::WouldBlock) => polls.pause(),
                Err(TryLockError::Poisoned(_)) => return,
            }
        };
        let (mut known, mut new) = (self.known.load(Ordering::Relaxed), 1);
        while new > 0 {
            while let Some(&value) = self.values.get(known).and_then(OnceLock::get) {
                let prefix = append(operator, &mut subtrees, value);
                self.prefixes[known].get_or_init(|| prefix);
                known += 1;
            }
            // Must not decrease: a panic may have set it to `STOPPED`.
            self.known.fetch_max(known, Ordering::Release);
            new = self.new.fetch_sub(new, Ordering::AcqRel) - new;
        }
    }

    pub(super) fn is_ready(&self, position: BlockPosition) -> bool {
        self.known.load(Ordering::Acquire) >= position.index + usize::from(position.is_whole)
    }

    /// Waits for the prefixes of a block. Returns `None` if a thread has panicked.
    pub(super) fn edges(&self, position: BlockPosition) -> Option<Edges<T>> {
        let mut polls = PollCount(0);
        while !self.is_ready(position) {
            polls.pause();
        }
        if self.known.load(Ordering::Acquire) == STOPPED {
            return None;
        }
        let prefix = |block: usize| self.prefixes[block].get().copied();
        let before = position.index.checked_sub(1).and_then(prefix);
        Some(Edges { before, after: if position.is_whole { prefix(position.index) } else { None } })
    }
}

/// Appends one block with this value. Returns the prefix at its end.
fn append<M: Monoid>(operator: &M, subtrees: &mut Vec<Subtree<M::Item>>, value: M::Item) -> M::Item {
    let (mut blocks, mut value) = (1, value);
    while let Some(left) = subtrees.pop_if(|left| left.blocks == blocks) {
        (blocks, value) = (2 * blocks, operator.combine(left.value, value));
    }
    let prefix = match subtrees.last() {
        Some(left) => operator.combine(left.prefix, value),
        None => value,
    };
    subtrees.push(Subtree { blocks, value, prefix });
    prefix
}

#[cfg(all(test, warpfold_loom))]
mod model;
#[cfg(all(test, warpfold_loom))]
mod sync;
#[cfg(all(test, not(warpfold_loom)))]
mod tests;
