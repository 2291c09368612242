//! Scans on the CPU, in parallel. Items are read once and written once. Elements of an aggregate are
//! read and prepared in each sweep.
//!
//! 1. Threads take blocks of items from left to right.
//! 2. Up-sweep: a block is reduced in runs of eight, as in a reduction. Its value is published.
//! 3. When all blocks to its left have published their values, the prefix before the block is
//!    known. Until then the thread sweeps another block up.
//! 4. Down-sweep: the prefix before each run and the items of the run give the prefix of each item.
//!    A cache still holds the items.
//!
//! The *prefix before* an item is the value of all items to its left, by the tree of the scan.

#![allow(unsafe_code)]

mod block_prefixes;
mod lanes;
mod levels;
mod results;
mod runs;
mod stream;

use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::block_prefixes::{BlockPosition, BlockPrefixes};
use self::lanes::tile_items;
use self::levels::{Levels, uses_lanes};
pub(crate) use self::results::PresentedBy;
use self::results::{Items, Results};
use super::read::Elements;
use super::rows::as_places;
use super::threads::on_threads;
use super::units::{RUN, items_of};
use super::vectors::Vectors;
use crate::tree::Prefix;
use crate::{DeviceType, Monoid};

/// Bytes of a block. Some blocks have twice as many. The second-level cache holds the block, its
/// output, and the blocks that wait.
const BLOCK_BYTES: usize = 128 << 10;
/// Most blocks of a thread that wait for their down-sweep.
const MAX_PENDING: usize = 2;

/// Scans the items that the elements become, into new memory.
pub(crate) fn scan<M: Monoid, R: Results<M::Item>>(
    operator: &M,
    prefix: Prefix,
    elements: &(impl Elements<M::Item> + ?Sized),
    results: &R,
) -> Vec<R::Output> {
    let mut scanned = Vec::with_capacity(elements.length());
    // The system clears new memory page by page at the first write. So the caches hold it already,
    // and stores do not bypass them.
    let places = &mut scanned.spare_capacity_mut()[..elements.length()];
    // SAFETY: elements are given. All blocks were swept down, so every place was written.
    unsafe {
        scan_blocks(operator, prefix, Some(elements), results, places, false);
        scanned.set_len(elements.length());
    }
    scanned
}

/// Scans the items that the elements become, into `places`.
pub(crate) fn scan_into<M: Monoid, R: Results<M::Item>>(
    operator: &M,
    prefix: Prefix,
    elements: &(impl Elements<M::Item> + ?Sized),
    results: &R,
    places: &mut [R::Output],
) {
    let streams = stream::is_worthwhile(places);
    // SAFETY: only results are written to the places, and elements are given.
    unsafe { scan_blocks(operator, prefix, Some(elements), results, as_places(places), streams) };
}

/// Scans items in place.
pub(crate) fn scan_in_place<M: Monoid>(operator: &M, prefix: Prefix, items: &mut [M::Item]) {
    // SAFETY: the places hold items, and only items are written to them.
    unsafe { scan_blocks(operator, prefix, None::<&[M::Item]>, &Items, as_places(items), false) };
}

/// Items of a block: a power of two, at least a tile. Blocks of items in lanes are larger in two
/// cases:
///
/// - The output bypasses the caches.
/// - Only a larger block has enough runs of runs for their values to fill the lanes.
fn block_items<T: DeviceType>(streams: bool) -> usize {
    let [few, many] = [BLOCK_BYTES, 2 * BLOCK_BYTES].map(items_of::<T>);
    let tile = tile_items::<T>();
    let fill_lanes = |items: usize| items >= RUN * RUN * tile;
    let more = streams || (fill_lanes(many) && !fill_lanes(few));
    if more && uses_lanes::<T>(Vectors::detected()) { many } else { few }.max(tile)
}

/// Scans the items that the elements become. Without elements, scans the items in the places.
///
/// # Safety
///
/// If there are no elements, results are items, and the places hold items.
unsafe fn scan_blocks<M: Monoid, E: Elements<M::Item> + ?Sized, R: Results<M::Item>>(
    operator: &M,
    prefix: Prefix,
    elements: Option<&E>,
    results: &R,
    places: &mut [MaybeUninit<R::Output>],
    streams: bool,
) {
    // Items that become results are written to memory that stays in the caches.
    let streams = streams && R::as_places_of_items(&mut []).is_some();
    assert!(elements.is_none_or(|elements| elements.length() == places.len()));
    let (whole, most) = (block_items::<M::Item>(streams), places.len());
    let count = most.div_ceil(whole);
    let prefixes = BlockPrefixes::of(count);
    // Blocks are taken in order. So a block waits only for blocks that were taken before it.
    let blocks: Vec<_> = places.chunks_mut(whole).map(|places| Mutex::new(Some(places))).collect();
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let stop = prefixes.stop_others();
        let take = || {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let places = blocks.get(index)?.lock().ok().and_then(|mut block| block.take());
            let places = places.expect("it is taken once, and nobody panics meanwhile");
            // The last block may be incomplete. No other block needs its value.
            Some((BlockPosition { index, is_whole: places.len() == whole }, places))
        };
        let (mut room, mut scanned) = (Vec::new(), Vec::new());
        let range_of = |position: BlockPosition, places: &[_]| {
            position.index * whole..position.index * whole + places.len()
        };
        let mut waiting = VecDeque::<(BlockPosition, &mut [_], Levels<'_, M>)>::with_capacity(MAX_PENDING);
        let mut spare = Vec::with_capacity(MAX_PENDING);
        loop {
            let may_go_down = waiting.front().is_some_and(|(position, ..)| prefixes.is_ready(*position));
            let taken = if may_go_down || waiting.len() == MAX_PENDING { None } else { take() };
            if let Some((position, places)) = taken {
                let mut levels =
                    spare.pop().unwrap_or_else(|| Levels::new(operator, most.min(whole), streams));
                // SAFETY: without elements the places hold items.
                let here = || unsafe { std::slice::from_raw_parts(places.as_ptr().cast(), places.len()) };
                let items = elements.map(|elements| elements.items(range_of(position, places), &mut room));
                assert!(items.is_none_or(|items| items.len() == places.len()), "an item for each element");
                let value = levels.up(items.unwrap_or_else(here));
                if position.is_whole {
                    prefixes.publish(operator, position.index, value);
                }
                waiting.push_back((position, places, levels));
            } else if let Some((position, places, mut levels)) = waiting.pop_front() {
                let Some(edges) = prefixes.edges(position) else { return };
                let items = elements.map(|elements| elements.items(range_of(position, places), &mut room));
                assert!(items.is_none_or(|items| items.len() == places.len()), "an item for each element");
                match R::as_places_of_items(places) {
                    // SAFETY: `levels` has swept up the same block.
                    Some(places) => unsafe { levels.down(prefix, edges, items, places) },
                    None => {
                        scanned.resize_with(places.len(), MaybeUninit::uninit);
                        // SAFETY: the same. Elements are given, as results are not items.
                        unsafe { levels.down(prefix, edges, items, &mut scanned) };
                        let first = position.index * whole + usize::from(prefix == Prefix::Inclusive);
                        for (count, (place, item)) in (first as u64..).zip(places.iter_mut().zip(&scanned)) {
                            // SAFETY: every place was written.
                            place.write(results.present(unsafe { item.assume_init() }, count));
                        }
                    }
                }
                finished.fetch_add(1, Ordering::Relaxed);
                spare.push(levels);
            } else {
                break;
            }
        }
        std::mem::forget(stop);
    };
    on_threads(count, &work);
    // If a thread stopped early, an operator has panicked, and `on_threads` panics, too.
    assert_eq!(finished.into_inner(), blocks.len(), "all blocks went down");
}

#[cfg(test)]
mod tests;
