//! The bracket on the CPU, in parallel.
//!
//! Chunks of a power of two compose: every block of items is bracketed by one thread, round by round between two
//! scratch rows that stay in its first-level cache, and the blocks' values are bracketed in turn. A round is a loop over
//! neighbouring pairs with nothing else in it, which the compiler vectorises where the operator allows. Memory is
//! allocated per thread and for one value a block, never per item.

use rayon::prelude::*;

use crate::Monoid;

/// Bytes of one block: with its two scratch rows it fits in a first-level cache.
const BLOCK_BYTES: usize = 16 << 10;
/// Inputs of fewer bytes are not worth waking other threads for.
const PARALLEL_BYTES: usize = 256 << 10;

pub(crate) fn bracket<M: Monoid>(operator: &M, items: &[M::Item]) -> M::Item {
    let size = size_of::<M::Item>();
    let block_items = 1 << (BLOCK_BYTES / size).max(2).ilog2();
    match items {
        [] => operator.identity(),
        &[item] => item,
        _ if items.len() <= block_items => Rows::new().bracket(operator, items),
        _ => {
            let blocks_at_once = PARALLEL_BYTES.div_ceil(block_items * size);
            let values: Vec<M::Item> = items
                .par_chunks(block_items)
                .with_min_len(blocks_at_once)
                .map_init(Rows::new, |rows, block| rows.bracket(operator, block))
                .collect();
            bracket(operator, &values)
        }
    }
}

/// The rounds of a bracket, the even and the odd ones.
struct Rows<T> {
    current: Vec<T>,
    next: Vec<T>,
}

impl<T: Copy> Rows<T> {
    fn new() -> Self {
        Self { current: Vec::new(), next: Vec::new() }
    }

    /// At least two items.
    fn bracket<M: Monoid<Item = T>>(&mut self, operator: &M, items: &[T]) -> T {
        round(operator, items, &mut self.current);
        while self.current.len() > 1 {
            round(operator, &self.current, &mut self.next);
            std::mem::swap(&mut self.current, &mut self.next);
        }
        self.current[0]
    }
}

/// Each pair combined, and the odd one out as it is.
fn round<M: Monoid>(operator: &M, items: &[M::Item], winners: &mut Vec<M::Item>) {
    let (pairs, bye) = items.as_chunks::<2>();
    winners.clear();
    winners.extend(pairs.iter().map(|&[left, right]| operator.combine(left, right)));
    winners.extend(bye);
}
