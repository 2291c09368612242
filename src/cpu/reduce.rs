//! The bracket on the CPU, in parallel.
//!
//! - Each block of items is bracketed by one thread. Then the values of the blocks are bracketed. A
//!   block is a power of two of items, so this is the same tree.
//! - Small items are reduced in runs of eight, which are three levels of the bracket. [`lanes`]
//!   reduces many runs at once, in vector registers. As soon as the values of runs fill the lanes,
//!   they are reduced in the same way. So the combinations are spread evenly over the items, while
//!   the next items arrive.
//! - Large items and items with padding are combined level by level, between two scratch vectors.
//!   So are all items in two cases: in a debug build, and on an x86-64 processor without AVX2 and
//!   FMA. Therefore code for lanes is compiled there only for AVX2 and AVX-512.
//!
//! Memory is allocated for blocks and for parts of blocks, never for each item.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::lanes::{self, tile_items};
use super::read::Elements;
use super::threads::on_threads;
use super::units::{RUN, items_of};
use super::vectors::{Compiled, Registers, Vectors, has_lanes_of};
use super::{prefetch, rows};
use crate::{DeviceType, Monoid};

/// Most levels of runs, for the largest possible number of items.
const LEVELS: usize = usize::BITS.div_ceil(RUN.ilog2()) as usize;
/// Bytes of a part of a block whose pairs stay in the first-level cache from level to level.
const PART_BYTES: usize = 16 << 10;

/// The bracket of the items that the elements become.
pub(crate) fn bracket<M: Monoid>(operator: &M, elements: &(impl Elements<M::Item> + ?Sized)) -> M::Item {
    match elements.length() {
        0 => operator.identity(),
        1 => elements.items(0..1, &mut Vec::new())[0],
        _ => blocks(operator, rows::fits_lanes(&M::Item::layout()), elements),
    }
}

fn blocks<M: Monoid>(operator: &M, in_lanes: bool, elements: &(impl Elements<M::Item> + ?Sized)) -> M::Item {
    let (length, block) = (elements.length(), elements.block());
    if length <= block {
        return Brackets::new(operator, in_lanes).of(elements, 0..length, &mut Vec::new());
    }
    let count = length.div_ceil(block);
    let (next, of_threads) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // Takes one block after another.
    let work = || {
        let (mut brackets, mut room) = (Brackets::new(operator, in_lanes), Vec::new());
        let mut values = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let (begin, end) = (index * block, length.min((index + 1) * block));
            values.push((index, brackets.of(elements, begin..end, &mut room)));
        }
        of_threads.lock().unwrap_or_else(PoisonError::into_inner).push(values);
    };
    on_threads(count, &work);
    let of_threads = of_threads.into_inner().unwrap_or_else(PoisonError::into_inner);
    let all = || of_threads.iter().flatten();
    let Some(&(_, any)) = all().next() else { unreachable!("there are blocks") };
    let mut values = vec![any; count];
    all().for_each(|&(index, value)| values[index] = value);
    // The values of blocks are few, so one thread brackets them.
    Brackets::new(operator, in_lanes).bracket(&values)
}

/// The state with which a thread brackets blocks.
pub(super) struct Brackets<'a, M: Monoid> {
    operator: &'a M,
    vectors: Vectors,
    in_lanes: bool,
    /// For each level of runs, the values that do not fill the lanes yet.
    levels: [Vec<M::Item>; LEVELS],
    /// Without lanes: the values of the last level, and memory for the values of the next.
    values: Vec<M::Item>,
    spare: Vec<M::Item>,
}

impl<'a, M: Monoid> Brackets<'a, M> {
    /// Uses lanes if `in_lanes` is set and the items fit the lanes.
    pub(super) fn new(operator: &'a M, in_lanes: bool) -> Self {
        let in_lanes = in_lanes && rows::fits_lanes(&M::Item::layout());
        let vectors = Vectors::detected();
        let levels = [const { Vec::new() }; LEVELS];
        Self { operator, vectors, in_lanes, levels, values: Vec::new(), spare: Vec::new() }
    }

    /// The bracket of a range of items, at least one.
    pub(super) fn of(
        &mut self,
        elements: &(impl Elements<M::Item> + ?Sized),
        range: Range<usize>,
        room: &mut Vec<M::Item>,
    ) -> M::Item {
        let items = self.vectors.run(ItemsOf { elements, range, room });
        self.bracket(items)
    }

    /// The bracket of at least one item.
    fn bracket(&mut self, items: &[M::Item]) -> M::Item {
        self.vectors.run(BracketOf { brackets: self, items })
    }

    #[inline(always)]
    fn level_by_level(&mut self, items: &[M::Item]) -> M::Item {
        round(self.operator, items, &mut self.values);
        while self.values.len() > 1 {
            round(self.operator, &self.values, &mut self.spare);
            std::mem::swap(&mut self.values, &mut self.spare);
        }
        self.values[0]
    }
}

/// Makes items of elements.
struct ItemsOf<'a, T, E: ?Sized> {
    elements: &'a E,
    range: Range<usize>,
    room: &'a mut Vec<T>,
}

impl<'a, T, E: Elements<T> + ?Sized> Compiled for ItemsOf<'a, T, E> {
    type Output = &'a [T];
    #[inline(always)]
    fn run<const BYTES: usize>(self, _: Registers<BYTES>) -> &'a [T] {
        self.elements.items(self.range, self.room)
    }
}

struct BracketOf<'b, 'a, M: Monoid> {
    brackets: &'b mut Brackets<'a, M>,
    items: &'b [M::Item],
}

impl<M: Monoid> Compiled for BracketOf<'_, '_, M> {
    type Output = M::Item;
    #[inline(always)]
    fn run<const BYTES: usize>(self, registers: Registers<BYTES>) -> M::Item {
        let Self { brackets, items } = self;
        if const { has_lanes_of::<M::Item>(BYTES) } && brackets.in_lanes {
            // SAFETY: `in_lanes` is set only if the items fit the lanes.
            return unsafe { run_by_run(registers, brackets.operator, &mut brackets.levels, items) };
        }
        let part_items = items_of::<M::Item>(PART_BYTES);
        if items.len() <= part_items {
            return brackets.level_by_level(items);
        }
        let values: Vec<M::Item> =
            items.chunks(part_items).map(|part| brackets.level_by_level(part)).collect();
        brackets.bracket(&values)
    }
}

/// Combines the items of each run of eight, which are three levels of the bracket. Items of more
/// than 64 bytes are combined in pairs: the values of a run would not fit into registers.
///
/// All items take this path in a debug build, which compiles it without optimisation. So the loop
/// has no iterators, and indexes arrays.
#[inline(always)]
fn round<M: Monoid>(operator: &M, items: &[M::Item], values: &mut Vec<M::Item>) {
    values.clear();
    if const { size_of::<M::Item>() > 64 } {
        let (pairs, bye) = items.as_chunks::<2>();
        values.extend(pairs.iter().map(|&[left, right]| operator.combine(left, right)));
        values.extend(bye);
        return;
    }
    let (runs, rest) = items.as_chunks::<RUN>();
    values.reserve(runs.len() + 1);
    let mut index = 0;
    while index < runs.len() {
        let run = &runs[index];
        let abcd = operator.combine(operator.combine(run[0], run[1]), operator.combine(run[2], run[3]));
        let efgh = operator.combine(operator.combine(run[4], run[5]), operator.combine(run[6], run[7]));
        values.push(operator.combine(abcd, efgh));
        index += 1;
    }
    if !rest.is_empty() {
        values.push(short_bracket(operator, rest));
    }
}

/// The bracket of at least one item, run by run. Each level has an eighth of the values of the
/// level below.
///
/// # Safety
///
/// The items [fit the lanes](rows::fits_lanes).
#[inline(always)]
unsafe fn run_by_run<M: Monoid, const BYTES: usize>(
    registers: Registers<BYTES>,
    operator: &M,
    levels: &mut [Vec<M::Item>; LEVELS],
    items: &[M::Item],
) -> M::Item {
    let tile_items = tile_items::<M::Item>();
    let mut most = items.len();
    for level in &mut *levels {
        level.clear();
        if most > 1 {
            most = most.div_ceil(RUN);
            // Allocated once: threads whose vectors grow wait for each other in the allocator.
            level.reserve_exact(most.min(tile_items));
        }
    }
    let tiles = items.chunks_exact(tile_items);
    let rest = tiles.remainder();
    for tile in tiles {
        prefetch::prefetch_ahead(tile, items);
        // SAFETY: the items fit the lanes, as the caller promises.
        unsafe { lanes::tile(registers, operator, tile, &mut levels[0]) };
        for level in 0.. {
            let (below, above) = levels.split_at_mut(level + 1);
            let tile = &mut below[level];
            if tile.len() < tile_items {
                break;
            }
            // SAFETY: the items fit the lanes, as the caller promises.
            unsafe { lanes::tile(registers, operator, tile, &mut above[0]) };
            tile.clear();
        }
    }
    levels[0].extend(rest.chunks(RUN).map(|run| short_bracket(operator, run)));
    let mut level = 0;
    loop {
        let (below, above) = levels.split_at_mut(level + 1);
        match below[level][..] {
            [value] if above.iter().all(Vec::is_empty) => return value,
            _ => above[0].extend(below[level].chunks(RUN).map(|run| short_bracket(operator, run))),
        }
        level += 1;
    }
}

/// The bracket of the items of a run: at least one.
fn short_bracket<M: Monoid>(operator: &M, items: &[M::Item]) -> M::Item {
    match *items {
        [item] => item,
        [left, right] => operator.combine(left, right),
        _ => {
            let (left, right) = items.split_at(if items.len() > 4 { 4 } else { 2 });
            operator.combine(short_bracket(operator, left), short_bracket(operator, right))
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
