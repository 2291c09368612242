//! A model of the threads: loom runs every order of their steps, and every value that their loads
//! may return. `cargo xtask test --soak` compiles it (`--cfg warpfold_loom`).

use loom::cell::UnsafeCell;
pub(super) use loom::hint::spin_loop;
use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
pub(super) use loom::sync::{Mutex, atomic::AtomicUsize};
use loom::thread;
pub(super) use loom::thread::yield_now;

use super::*;

/// The part of `std::sync::OnceLock` that the scan uses. At most one thread initialises it.
pub(super) struct OnceLock<T> {
    is_set: AtomicBool,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the value is written once, before `is_set`, and only read after it. loom checks this.
unsafe impl<T: Send + Sync> Sync for OnceLock<T> {}

impl<T> OnceLock<T> {
    pub(super) fn new() -> Self {
        Self { is_set: AtomicBool::new(false), value: UnsafeCell::new(None) }
    }

    pub(super) fn get(&self) -> Option<&T> {
        let is_set = self.is_set.load(Ordering::Acquire);
        // SAFETY: nothing writes the value after `is_set`.
        is_set.then(|| self.value.with(|value| unsafe { (*value).as_ref() })).flatten()
    }

    pub(super) fn get_or_init(&self, value: impl FnOnce() -> T) {
        assert!(self.get().is_none(), "two threads initialise it");
        // SAFETY: one thread initialises it, and the others wait for `is_set`.
        self.value.with_mut(|place| unsafe { *place = Some(value()) });
        self.is_set.store(true, Ordering::Release);
    }
}

/// Strings, joined: the order of the operands shows.
#[derive(Clone, Copy)]
struct Digits;

impl Monoid for Digits {
    type Item = u64;
    fn identity(&self) -> u64 {
        unreachable!("never combined")
    }
    fn combine(&self, left: u64, right: u64) -> u64 {
        left * 10_u64.pow(right.ilog10() + 1) + right
    }
}

/// Every thread publishes its blocks, from left to right, and waits for the prefixes of each.
fn check(threads: usize, blocks_of_each: usize, preemptions: usize) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.max_branches = 10_000;
    builder.check(move || {
        let blocks = threads * blocks_of_each;
        let prefixes = Arc::new(BlockPrefixes::<u64>::of(blocks));
        let run = move |prefixes: &BlockPrefixes<u64>, thread: usize| {
            for index in (thread..blocks).step_by(threads) {
                prefixes.publish(&Digits, index, index as u64 + 1);
                let edges = prefixes.edges(BlockPosition { index, is_whole: true });
                let edges = edges.expect("no thread has panicked");
                let before = (1..=index as u64).reduce(|left, right| Digits.combine(left, right));
                let after = before.map_or(1, |before| Digits.combine(before, index as u64 + 1));
                assert_eq!((edges.before, edges.after), (before, Some(after)), "block {index}");
            }
        };
        let others: Vec<_> = (1..threads)
            .map(|thread| {
                let prefixes = prefixes.clone();
                thread::spawn(move || run(&prefixes, thread))
            })
            .collect();
        run(&prefixes, 0);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

#[test]
fn two_threads_get_the_prefixes_of_four_blocks() {
    check(2, 2, 4);
}

#[test]
fn three_threads_get_the_prefixes_of_three_blocks() {
    check(3, 1, 1);
}

#[test]
fn a_thread_that_stops_ends_the_wait_of_another() {
    loom::model(|| {
        let prefixes = Arc::new(BlockPrefixes::<u64>::of(2));
        let stopped = prefixes.clone();
        let other = thread::spawn(move || drop(stopped.stop_others()));
        prefixes.publish(&Digits, 1, 2);
        assert!(prefixes.edges(BlockPosition { index: 1, is_whole: true }).is_none());
        other.join().unwrap();
    });
}
