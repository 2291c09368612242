//! What memory and brackets are taken in.

/// Bytes that memory gives and takes at once: a part of a line takes as long.
pub(super) const LINE: usize = 64;
/// Items that one value is made of.
pub(super) const RUN: usize = 8;
