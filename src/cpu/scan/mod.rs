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
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::lanes::tile_items;
use self::levels::{Levels, go_in_lanes};
use self::turns::{Turn, Turns};
use super::read::Elements;
use super::rows::as_places;
use super::units::{RUN, items_of};
use super::vectors::Vectors;
use crate::tree::Prefix;
use crate::{DeviceType, Monoid};

/// Bytes of one block, or twice as many: with what goes out a second-level cache holds it, and those that wait.
const BLOCK_BYTES: usize = 128 << 10;
/// At most so many blocks of a thread wait to go down.
const MOST_WAITING: usize = 2;

/// The scan of what some elements become, in new memory.
pub(crate) fn scan<M: Monoid>(
    operator: &M,
    prefix: Prefix,
    elements: &(impl Elements<M::Item> + ?Sized),
) -> Vec<M::Item> {
    let mut scanned = Vec::with_capacity(elements.length());
    // New memory is cleared page by page where it is first written to, and so is in the caches.
    let places = &mut scanned.spare_capacity_mut()[..elements.length()];
    // SAFETY: there are elements; and all blocks went down, so all places were written.
    unsafe {
        in_blocks(operator, prefix, Some(elements), places, false);
        scanned.set_len(elements.length());
    }
    scanned
}

/// The scan of what some elements become, in as many places.
pub(crate) fn scan_into<M: Monoid>(
    operator: &M,
    prefix: Prefix,
    elements: &(impl Elements<M::Item> + ?Sized),
    places: &mut [M::Item],
) {
    let streams = stream::suits(places);
    // SAFETY: items are written to the places, and there are elements.
    unsafe { in_blocks(operator, prefix, Some(elements), as_places(places), streams) };
}

/// The scan of some items, in their own place.
pub(crate) fn scan_in_place<M: Monoid>(operator: &M, prefix: Prefix, items: &mut [M::Item]) {
    // SAFETY: items are written to the places, which hold some.
    unsafe { in_blocks(operator, prefix, None::<&[M::Item]>, as_places(items), false) };
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

/// Scans what elements become or, if there are none, the items in the places.
///
/// # Safety
///
/// If there are no elements, the places hold items.
unsafe fn in_blocks<M: Monoid, E: Elements<M::Item> + ?Sized>(
    operator: &M,
    prefix: Prefix,
    elements: Option<&E>,
    places: &mut [MaybeUninit<M::Item>],
    streams: bool,
) {
    assert!(elements.is_none_or(|elements| elements.length() == places.len()));
    let (whole, most) = (block_items::<M::Item>(streams), places.len());
    let count = most.div_ceil(whole);
    let turns = Turns::of(count);
    // Taken in order: whoever has a block waits for such as are taken already.
    let blocks: Vec<_> = places.chunks_mut(whole).map(|places| Mutex::new(Some(places))).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let stop = turns.stop_others();
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let places = blocks.get(index)?.lock().ok().and_then(|mut block| block.take());
            let places = places.expect("it is taken once, and nobody panics meanwhile");
            // The last block may be no perfect subtree; nothing comes after it.
            Some((Turn { index, is_whole: places.len() == whole }, places))
        };
        let mut room = Vec::new();
        let range_of = |turn: Turn, places: &[_]| turn.index * whole..turn.index * whole + places.len();
        let mut waiting = VecDeque::<(Turn, &mut [_], Levels<'_, M>)>::with_capacity(MOST_WAITING);
        let mut spare = Vec::with_capacity(MOST_WAITING);
        loop {
            let may_go_down = waiting.front().is_some_and(|(turn, ..)| turns.has_come(*turn));
            let taken = if may_go_down || waiting.len() == MOST_WAITING { None } else { take() };
            if let Some((turn, places)) = taken {
                let mut levels =
                    spare.pop().unwrap_or_else(|| Levels::new(operator, most.min(whole), streams));
                // SAFETY: without elements the places hold items.
                let here = || unsafe { std::slice::from_raw_parts(places.as_ptr().cast(), places.len()) };
                let items = elements.map(|elements| elements.items(range_of(turn, places), &mut room));
                let value = levels.up(items.unwrap_or_else(here));
                if turn.is_whole {
                    turns.publish(operator, turn.index, value);
                }
                waiting.push_back((turn, places, levels));
            } else if let Some((turn, places, mut levels)) = waiting.pop_front() {
                let Some(edges) = turns.edges(turn) else { return };
                let items = elements.map(|elements| elements.items(range_of(turn, places), &mut room));
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
    match rayon::current_num_threads().min(count) {
        0 | 1 => work(),
        threads => rayon::scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| work()))),
    }
    // Whoever stopped has panicked, and `scope` with it.
    assert_eq!(finished.into_inner(), blocks.len(), "all blocks went down");
}

#[cfg(test)]
mod tests;
