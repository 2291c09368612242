//! Sizes of lines and runs.

/// Bytes of a cache line. A part of a line takes as long to move as the whole line.
pub(super) const LINE: usize = 64;
/// Items of a run, which are combined into one value.
pub(super) const RUN: usize = 8;

/// The largest power of two of items within `bytes` bytes, but at least two.
pub(super) fn items_of<T>(bytes: usize) -> usize {
    items_of_bytes(bytes, size_of::<T>())
}

/// The same of items of this size.
pub(super) fn items_of_bytes(bytes: usize, size: usize) -> usize {
    1 << (bytes / size).max(2).ilog2()
}
