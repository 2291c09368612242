//! The interface between readers and primitives.

use std::ops::Range;

/// Elements that become items. Many threads read them block by block.
pub(crate) trait Elements<Item>: Sync {
    /// The number of elements.
    fn length(&self) -> usize;

    /// The items that the elements of `range` become. If memory does not hold them already, they
    /// are written to `room`, which stays in the caches of a thread.
    fn items<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<Item>) -> &'a [Item];
}
