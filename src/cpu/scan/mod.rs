//! Scans on the CPU, in parallel: memory is read once and written once.
//!
//! Threads take blocks of items from left to right. The items of a block go up the bracket, in runs of eight, to its value, as
//! in a reduction. It is published, and once all to the left are, it is known what is before the block; meanwhile the thread
//! goes up with another one. Then it goes down again: from what is before each run, and its items, which a cache still
//! holds, to what is before each place.

#![allow(unsafe_code)]

mod lanes;
mod levels;
mod runs;
mod stream;
mod turns;

use std::collections::VecDeque;
use std::iter::zip;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::lanes::tile_items;
use self::levels::{Levels, go_in_lanes};
use self::turns::{Turn, Turns};
use super::rows::as_places;
use super::units::{RUN, items_of};
use super::vectors::Vectors;
use crate::tree::Prefix;
use crate::{DeviceType, Monoid};

/// Bytes of one block, or twice as many: with what goes out a second-level cache holds it, and those that wait.
const BLOCK_BYTES: usize = 128 << 10;
/// At most so many blocks of a thread wait to go down.
const MOST_WAITING: usize = 2;

/// The scan of some items, in new memory.
pub(crate) fn scan<M: Monoid>(operator: &M, prefix: Prefix, items: &[M::Item]) -> Vec<M::Item> {
    let mut scanned = Vec::with_capacity(items.len());
    // New memory is cleared page by page where it is first written to, and so is in the caches.
    let places = &mut scanned.spare_capacity_mut()[..items.len()];
    in_blocks(operator, prefix, apart(items, places, false), false);
    // SAFETY: all blocks went down, and so all their places were written.
    unsafe { scanned.set_len(items.len()) };
    scanned
}

/// The scan of some items, in memory of the same length.
pub(crate) fn scan_into<M: Monoid>(operator: &M, prefix: Prefix, items: &[M::Item], places: &mut [M::Item]) {
    // SAFETY: items are written to them.
    let places = unsafe { as_places(places) };
    let streams = stream::suits(places);
    in_blocks(operator, prefix, apart(items, places, streams), streams);
}

/// The scan of some items, in their own place.
pub(crate) fn scan_in_place<M: Monoid>(operator: &M, prefix: Prefix, items: &mut [M::Item]) {
    let size = block_items::<M::Item>(false);
    in_blocks(operator, prefix, items.chunks_mut(size).map(Block::InPlace).collect(), false);
}

fn apart<'a, T: DeviceType>(
    items: &'a [T],
    places: &'a mut [MaybeUninit<T>],
    streams: bool,
) -> Vec<Block<'a, T>> {
    let size = block_items::<T>(streams);
    let pairs = zip(items.chunks(size), places.chunks_mut(size));
    pairs.map(|(items, places)| Block::Apart { items, places }).collect()
}

/// A power of two of items: of those that go in lanes more where what goes out takes no room in the caches, and where only then values of
/// runs of runs fill the lanes.
fn block_items<T: DeviceType>(streams: bool) -> usize {
    let [few, many] = [BLOCK_BYTES, 2 * BLOCK_BYTES].map(items_of::<T>);
    let tile = tile_items::<T>();
    let fill_lanes = |items: usize| items >= RUN * RUN * tile;
    let more = streams || (fill_lanes(many) && !fill_lanes(few));
    if more && go_in_lanes::<T>(Vectors::detected()) { many } else { few }.max(tile)
}

/// What one thread scans at a time.
enum Block<'a, T> {
    Apart { items: &'a [T], places: &'a mut [MaybeUninit<T>] },
    InPlace(&'a mut [T]),
}

impl<T> Block<'_, T> {
    fn items(&self) -> &[T] {
        match self {
            Block::Apart { items, .. } => items,
            Block::InPlace(items) => items,
        }
    }

    /// The items, if they are not in their places, and the places.
    fn parts(&mut self) -> (Option<&[T]>, &mut [MaybeUninit<T>]) {
        match self {
            Block::Apart { items, places } => (Some(items), places),
            // SAFETY: items are written to them.
            Block::InPlace(items) => (None, unsafe { as_places(items) }),
        }
    }
}

fn in_blocks<M: Monoid>(operator: &M, prefix: Prefix, blocks: Vec<Block<'_, M::Item>>, streams: bool) {
    let threads = rayon::current_num_threads().min(blocks.len());
    let most = blocks.first().map_or(0, |block| block.items().len());
    let whole = block_items::<M::Item>(streams);
    let turns = Turns::of(blocks.len());
    // Taken in order: whoever has a block waits for such as are taken already.
    let blocks: Vec<_> = blocks.into_iter().map(|block| Mutex::new(Some(block))).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let stop = turns.stop_others();
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let block = blocks.get(index)?.lock().ok().and_then(|mut block| block.take());
            let block = block.expect("it is taken once, and nobody panics meanwhile");
            // The last block may be no perfect subtree; nothing comes after it.
            let is_whole = block.items().len() == whole;
            Some((Turn { index, is_whole }, block))
        };
        let mut waiting: VecDeque<(Turn, Block<'_, M::Item>, Levels<'_, M>)> =
            VecDeque::with_capacity(MOST_WAITING);
        let mut spare = Vec::with_capacity(MOST_WAITING);
        loop {
            let may_go_down = waiting.front().is_some_and(|(turn, ..)| turns.has_come(*turn));
            let taken = if may_go_down || waiting.len() == MOST_WAITING { None } else { take() };
            if let Some((turn, block)) = taken {
                let mut levels = spare.pop().unwrap_or_else(|| Levels::new(operator, most, streams));
                let value = levels.up(block.items());
                if turn.is_whole {
                    turns.publish(operator, turn.index, value);
                }
                waiting.push_back((turn, block, levels));
            } else if let Some((turn, mut block, mut levels)) = waiting.pop_front() {
                let Some(edges) = turns.edges(turn) else { return };
                let (items, places) = block.parts();
                // SAFETY: it is the block that they went up.
                unsafe { levels.down(prefix, edges, items, places) };
                finished.fetch_add(1, Ordering::Relaxed);
                spare.push(levels);
            } else {
                break;
            }
        }
        std::mem::forget(stop);
    };
    match threads {
        0 | 1 => work(),
        _ => rayon::scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| work()))),
    }
    // Whoever stopped has panicked, and `scope` with it.
    assert_eq!(finished.into_inner(), blocks.len(), "all blocks went down");
}

#[cfg(test)]
mod tests;
