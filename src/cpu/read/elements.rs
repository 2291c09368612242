//! The interface between readers and primitives.

use std::ops::Range;

use crate::cpu::units::items_of;

/// Bytes of one block of a reduction. Small enough that an input of a megabyte keeps several threads
/// busy. Large enough that the last levels of a block, and its transfer to a thread, cost little.
pub(super) const BLOCK_BYTES: usize = 256 << 10;

/// Elements that become items. Many threads read them block by block.
pub(crate) trait Elements<Item>: Sync {
    /// The number of items.
    fn length(&self) -> usize;

    /// The items of a block of a reduction: a power of two.
    fn block(&self) -> usize {
        items_of::<Item>(BLOCK_BYTES)
    }

    /// The items of `range`. If memory does not hold them already, they are written to `room`, which
    /// stays in the caches of a thread. Must be `#[inline(always)]`, as [`Compiled`] is.
    ///
    /// [`Compiled`]: crate::cpu::vectors::Compiled
    fn items<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<Item>) -> &'a [Item];
}
