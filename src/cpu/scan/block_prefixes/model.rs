//! A model of the threads: loom runs every order of their steps, and every value that their loads
//! may return. `cargo xtask test --soak` compiles it (`--cfg warpfold_loom`).

use loom::sync::Arc;
use loom::thread;

use super::*;

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
