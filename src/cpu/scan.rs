//! Scans on the CPU, in parallel: memory is read once and written once.
//!
//! Threads take blocks of items from left to right. The items of a block go up the bracket into a buffer that a cache
//! holds: place i gets the value of the largest perfect subtree that ends there. Then the thread waits for its turn, which
//! comes when all blocks to the left had theirs, learns what is before its block, and says what is after it. With that the
//! values go down again: each place combines what is before its subtree with it. That is one combination a place either way.

#![allow(unsafe_code)]

use std::iter::zip;
use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::items_of;
use crate::Monoid;
use crate::tree::Prefix;

/// Places that go up and down together.
const RUN: usize = 8;
/// Bytes of one block: with what comes in and what goes out a second-level cache holds it.
const BLOCK_BYTES: usize = 128 << 10;
/// Looks at whose turn it is, before other threads may have the processor.
const SPINS: usize = 1000;

/// The scan of some items, in new memory.
pub(crate) fn scan<M: Monoid>(operator: &M, prefix: Prefix, items: &[M::Item]) -> Vec<M::Item> {
    let mut scanned = Vec::with_capacity(items.len());
    let size = block_items::<M::Item>();
    let places = scanned.spare_capacity_mut()[..items.len()].chunks_mut(size);
    let blocks = zip(items.chunks(size), places).map(|(items, places)| Block::Apart { items, places });
    in_blocks(operator, prefix, blocks);
    // SAFETY: all places of all blocks were written.
    unsafe { scanned.set_len(items.len()) };
    scanned
}

/// The scan of some items, in memory of the same length.
pub(crate) fn scan_into<M: Monoid>(operator: &M, prefix: Prefix, items: &[M::Item], places: &mut [M::Item]) {
    let size = block_items::<M::Item>();
    let places = as_places(places).chunks_mut(size);
    in_blocks(
        operator,
        prefix,
        zip(items.chunks(size), places).map(|(items, places)| Block::Apart { items, places }),
    );
}

/// The scan of some items, in their own place.
pub(crate) fn scan_in_place<M: Monoid>(operator: &M, prefix: Prefix, items: &mut [M::Item]) {
    let size = block_items::<M::Item>();
    in_blocks(operator, prefix, items.chunks_mut(size).map(Block::InPlace));
}

/// A power of two of items.
fn block_items<T>() -> usize {
    items_of::<T>(BLOCK_BYTES, &[]).max(RUN)
}

fn as_places<T>(items: &mut [T]) -> &mut [MaybeUninit<T>] {
    // SAFETY: the same memory, to which nothing but items is written.
    unsafe { std::slice::from_raw_parts_mut(items.as_mut_ptr().cast(), items.len()) }
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

    fn places(&mut self) -> &mut [MaybeUninit<T>] {
        match self {
            Block::Apart { places, .. } => places,
            Block::InPlace(items) => as_places(items),
        }
    }
}

fn in_blocks<'a, M: Monoid>(
    operator: &M,
    prefix: Prefix,
    blocks: impl ExactSizeIterator<Item = Block<'a, M::Item>> + Send,
) {
    let threads = rayon::current_num_threads().min(blocks.len());
    let turns = Turns { next: AtomicUsize::new(0), subtrees: Mutex::default() };
    // Taken in order: whoever has a block waits for such as are taken already.
    let blocks = Mutex::new(blocks.enumerate());
    let work = || {
        let _stop = StopIfPanicking(&turns.next);
        let mut tree = Tree::new(operator);
        let take = || blocks.lock().ok()?.next();
        while let Some((index, mut block)) = take() {
            let whole = tree.up(block.items());
            let Some(edges) = turns.take(operator, index, whole) else { return };
            tree.down(prefix, edges, block.places());
        }
    };
    match threads {
        0 | 1 => work(),
        _ => rayon::scope(|scope| (0..threads).for_each(|_| scope.spawn(|_| work()))),
    }
}

/// What is before a block, if anything is, and what is after it.
#[derive(Clone, Copy)]
struct Edges<T> {
    before: Option<T>,
    after: T,
}

/// The blocks that had their turn.
struct Turns<T> {
    /// The block whose turn it is.
    next: AtomicUsize,
    /// Of blocks, from the left.
    subtrees: Mutex<Vec<Subtree<T>>>,
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

struct StopIfPanicking<'a>(&'a AtomicUsize);

impl Drop for StopIfPanicking<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(STOPPED, Ordering::Release);
        }
    }
}

impl<T: Copy> Turns<T> {
    /// Waits for the turn of a block, whose value is known; none if that will never come.
    fn take<M: Monoid<Item = T>>(&self, operator: &M, block: usize, whole: T) -> Option<Edges<T>> {
        let mut spins = 0;
        loop {
            match self.next.load(Ordering::Acquire) {
                next if next == block => break,
                STOPPED => return None,
                _ if spins < SPINS => std::hint::spin_loop(),
                _ => std::thread::yield_now(),
            }
            spins += 1;
        }
        let mut subtrees = self.subtrees.lock().ok()?;
        let before = subtrees.last().map(|subtree| subtree.prefix);
        let (mut blocks, mut value) = (1, whole);
        while let Some(left) = subtrees.pop_if(|left| left.blocks == blocks) {
            (blocks, value) = (2 * blocks, operator.combine(left.value, value));
        }
        let prefix = match subtrees.last() {
            Some(left) => operator.combine(left.prefix, value),
            None => value,
        };
        subtrees.push(Subtree { blocks, value, prefix });
        self.next.store(block + 1, Ordering::Release);
        Some(Edges { before, after: prefix })
    }
}

/// The items of a block on their way up and down.
struct Tree<'a, M: Monoid> {
    operator: &'a M,
    /// Items of a whole block, a power of two.
    block: usize,
    /// Of each place, the largest perfect subtree of the block that ends there.
    subtrees: Vec<M::Item>,
    /// What is before the end of each run.
    ends: Vec<M::Item>,
}

impl<'a, M: Monoid> Tree<'a, M> {
    fn new(operator: &'a M) -> Self {
        Self { operator, block: block_items::<M::Item>(), subtrees: Vec::new(), ends: Vec::new() }
    }

    /// The items of a block, at least one. Returns what the last place gets: of a whole block its value.
    fn up(&mut self, items: &[M::Item]) -> M::Item {
        let op = |left, right| self.operator.combine(left, right);
        self.subtrees.clear();
        self.subtrees.reserve(items.len());
        let (runs, rest) = items.as_chunks::<RUN>();
        for (index, &[a, b, c, d, e, f, g, h]) in runs.iter().enumerate() {
            let (ab, cd, ef, gh) = (op(a, b), op(c, d), op(e, f), op(g, h));
            let abcd = op(ab, cd);
            let mut last = op(abcd, op(ef, gh));
            let end = RUN * (index + 1);
            for level in RUN.ilog2()..end.trailing_zeros() {
                last = op(self.subtrees[end - (1 << level) - 1], last);
            }
            self.subtrees.extend_from_slice(&[a, ab, c, abcd, e, ef, g, last]);
        }
        for (index, &item) in rest.iter().enumerate() {
            let mut last = item;
            for level in 0..(index + 1).trailing_zeros() {
                last = op(self.subtrees[self.subtrees.len() - (1 << level)], last);
            }
            self.subtrees.push(last);
        }
        self.subtrees[items.len() - 1]
    }

    /// What is before each place, or before its end, as it was asked for.
    fn down(&mut self, prefix: Prefix, edges: Edges<M::Item>, places: &mut [MaybeUninit<M::Item>]) {
        let op = |left, right| self.operator.combine(left, right);
        let after = |before: Option<M::Item>, right| before.map_or(right, |left| op(left, right));
        self.ends.clear();
        let whole = self.subtrees.len() == self.block;
        let mut before = edges.before;
        let (runs, rest) = self.subtrees.as_chunks::<RUN>();
        let (places, last_places) = places.as_chunks_mut::<RUN>();
        for (index, (&[a, ab, c, abcd, e, ef, g, last], places)) in zip(runs, places).enumerate() {
            let end = index + 1;
            let left = end & (end - 1);
            let next = match left {
                _ if end == runs.len() && whole => edges.after,
                0 => after(edges.before, last),
                _ => op(self.ends[left - 1], last),
            };
            let (a, ab, abcd) = (after(before, a), after(before, ab), after(before, abcd));
            let (c, e, ef) = (op(ab, c), op(abcd, e), op(abcd, ef));
            let g = op(ef, g);
            *places = match (prefix, before) {
                (Prefix::Inclusive, _) => [a, ab, c, abcd, e, ef, g, next],
                (Prefix::Exclusive, Some(before)) => [before, a, ab, c, abcd, e, ef, g],
                (Prefix::Exclusive, None) => [self.operator.identity(), a, ab, c, abcd, e, ef, g],
            }
            .map(MaybeUninit::new);
            self.ends.push(next);
            before = Some(next);
        }
        // What is before each of the last places.
        let mut values = [before; RUN];
        for (index, (&last, place)) in zip(rest, last_places).enumerate() {
            let end = index + 1;
            let left = end & (end - 1);
            let next = after(values[left], last);
            place.write(match prefix {
                Prefix::Inclusive => next,
                Prefix::Exclusive => values[index].unwrap_or_else(|| self.operator.identity()),
            });
            if end < RUN {
                values[end] = Some(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::{AffineComposition, Sum};
    use crate::{DeviceType, tree};

    fn is_the_scan_at_every_edge<M: Monoid>(operator: M, item: fn(usize) -> M::Item)
    where
        M::Item: std::fmt::Debug,
    {
        let block = block_items::<M::Item>();
        let edges = [block, 2 * block, 3 * block, 4 * block, 5 * block];
        let around = edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1, edge + 9, edge + 16]);
        let all: Vec<M::Item> = (0..6 * block).map(item).collect();
        let inclusive = tree::inclusive_scan(&operator, &all);
        let exclusive = tree::exclusive_scan(&operator, &all);
        for length in (0..70).chain(around) {
            let items = &all[..length];
            for (prefix, expected) in [(Prefix::Inclusive, &inclusive), (Prefix::Exclusive, &exclusive)] {
                let check = |got: &[M::Item], how: &str| {
                    assert_eq!(got.len(), length);
                    let differs = zip(got, expected).position(|(got, expected)| !M::Item::same_bits(got, expected));
                    assert_eq!(differs, None, "{prefix:?} of {length} items, {how}");
                };
                check(&scan(&operator, prefix, items), "new memory");
                let mut places = vec![operator.identity(); length];
                scan_into(&operator, prefix, items, &mut places);
                check(&places, "given memory");
                let mut places = items.to_vec();
                scan_in_place(&operator, prefix, &mut places);
                check(&places, "in place");
            }
        }
    }

    #[test]
    fn places_are_prefixes() {
        is_the_scan_at_every_edge(Sum::<f32>::new(), |i| (i.wrapping_mul(0x9e37_79b9) % 1000) as f32 / 7.0);
        is_the_scan_at_every_edge(AffineComposition::<u32>::new(), |i| {
            let i = i as u32;
            [i.wrapping_mul(0x9e37_79b9) | 1, i]
        });
    }

    /// A panic in an operator is the caller's, and no thread waits for the one that panicked.
    #[test]
    fn a_panic_ends_all_threads() {
        #[derive(Clone, Copy)]
        struct Panics;
        impl Monoid for Panics {
            type Item = u32;
            fn identity(&self) -> u32 {
                0
            }
            fn combine(&self, left: u32, right: u32) -> u32 {
                assert!(right < 100_000, "as it should");
                left.max(right)
            }
        }
        let items: Vec<u32> = (0..1_000_000).collect();
        let caught = std::panic::catch_unwind(|| scan(&Panics, Prefix::Inclusive, &items));
        assert!(caught.is_err());
    }
}
