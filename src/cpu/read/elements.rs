//! What a primitive reads, whatever the reader.

use std::ops::Range;

/// Elements that become items, read block by block by many threads.
pub(crate) trait Elements<Item>: Sync {
    /// How many there are.
    fn length(&self) -> usize;

    /// What some of them become. There is room for it, in the caches of a thread, where it is not in memory already.
    fn items<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<Item>) -> &'a [Item];
}
