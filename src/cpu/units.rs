//! What memory and brackets are taken in.

/// Bytes that memory gives and takes at once: a part of a line takes as long.
pub(super) const LINE: usize = 64;
/// Items that one value is made of.
pub(super) const RUN: usize = 8;

/// A power of two of items of about so many bytes, at least two.
pub(super) fn items_of<T>(bytes: usize) -> usize {
    1 << (bytes / size_of::<T>()).max(2).ilog2()
}
