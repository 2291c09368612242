//! Who goes when: what comes before a block is known once the values of all blocks to its left are published.
//!
//! A thread publishes the value of its block and goes on: one of those that have just done so finds out, for all, what follows.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, TryLockError};

use crate::Monoid;

/// How often somebody who waits has looked.
struct Looks(usize);

impl Looks {
    /// So many, before other threads may have the processor.
    const MOST: usize = 1000;

    fn pause(&mut self) {
        self.0 += 1;
        match self.0 <= Self::MOST {
            true => std::hint::spin_loop(),
            false => std::thread::yield_now(),
        }
    }
}

/// What is before some items, if anything is, and what is before their end, if that is known.
#[derive(Clone, Copy)]
pub(super) struct Edges<T> {
    pub(super) before: Option<T>,
    pub(super) after: Option<T>,
}

/// What comes before and after blocks, as far as their values are published.
pub(super) struct Turns<T> {
    /// Of each block, once it is published.
    values: Vec<OnceLock<T>>,
    /// Values that were published, and not looked at since.
    new: Alone<AtomicUsize>,
    /// Of the blocks whose values and all values before them were looked at.
    subtrees: Alone<Mutex<Vec<Subtree<T>>>>,
    /// Of each of those, what comes before its end.
    prefixes: Vec<OnceLock<T>>,
    /// How many those are.
    known: Alone<AtomicUsize>,
}

/// On lines that nothing else is on, of which processors fetch two: whoever looks at it waits for nobody who writes something else.
#[repr(align(128))]
struct Alone<T>(T);

/// A block's place in the order.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) index: usize,
    /// Whether it has a value, and waits for what comes after it, too.
    pub(super) is_whole: bool,
}

/// A perfect subtree of blocks.
struct Subtree<T> {
    blocks: usize,
    value: T,
    /// What comes before its end.
    prefix: T,
}

/// Nobody's turn: some thread panics.
const STOPPED: usize = usize::MAX;

/// Dropped only where a thread does not get to its end.
pub(super) struct StopOthers<'a>(&'a AtomicUsize);

impl Drop for StopOthers<'_> {
    fn drop(&mut self) {
        self.0.store(STOPPED, Ordering::Release);
    }
}

impl<T: Copy> Turns<T> {
    pub(super) fn of(blocks: usize) -> Self {
        let each = || (0..blocks).map(|_| OnceLock::new()).collect();
        Self {
            values: each(),
            new: Alone(AtomicUsize::new(0)),
            subtrees: Alone(Mutex::default()),
            prefixes: each(),
            known: Alone(AtomicUsize::new(0)),
        }
    }

    /// For as long as a thread may panic: all others stop then. It is forgotten at the end.
    pub(super) fn stop_others(&self) -> StopOthers<'_> {
        StopOthers(&self.known.0)
    }

    /// The value of a whole block.
    pub(super) fn publish<M: Monoid<Item = T>>(&self, operator: &M, block: usize, value: T) {
        self.values[block].get_or_init(|| value);
        // Whoever looks at the ones before looks at this one, too.
        if self.new.0.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        // Whoever had them is about to let go of them: were this thread to sleep until then, all others would wait longer.
        let mut looks = Looks(0);
        let mut subtrees = loop {
            match self.subtrees.0.try_lock() {
                Ok(subtrees) => break subtrees,
                Err(TryLockError::WouldBlock) => looks.pause(),
                Err(TryLockError::Poisoned(_)) => return,
            }
        };
        let (mut known, mut new) = (self.known.0.load(Ordering::Relaxed), 1);
        while new > 0 {
            while let Some(&value) = self.values.get(known).and_then(OnceLock::get) {
                let prefix = append(operator, &mut subtrees, value);
                self.prefixes[known].get_or_init(|| prefix);
                known += 1;
            }
            // Not less than before: all may have been stopped meanwhile.
            self.known.0.fetch_max(known, Ordering::Release);
            new = self.new.0.fetch_sub(new, Ordering::AcqRel) - new;
        }
    }

    pub(super) fn has_come(&self, turn: Turn) -> bool {
        self.known.0.load(Ordering::Acquire) >= turn.index + usize::from(turn.is_whole)
    }

    /// Waits for a turn; none if that will never come.
    pub(super) fn edges(&self, turn: Turn) -> Option<Edges<T>> {
        let mut looks = Looks(0);
        while !self.has_come(turn) {
            looks.pause();
        }
        if self.known.0.load(Ordering::Acquire) == STOPPED {
            return None;
        }
        let prefix = |block: usize| self.prefixes[block].get().copied();
        let before = turn.index.checked_sub(1).and_then(prefix);
        Some(Edges { before, after: if turn.is_whole { prefix(turn.index) } else { None } })
    }
}

/// One more block, of this value, after those of the subtrees. Returns what comes before its end.
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

#[cfg(test)]
mod tests;
