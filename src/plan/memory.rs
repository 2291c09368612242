//! Device memory of a reduction: tickets, and then its partials.

use crate::Layout;

/// Device memory for an input up to 65.5 MB, at most; for a larger one for each kilobyte a byte.
const MEMORY_BYTES: u64 = 64 << 10;
/// The bytes of a line of memory.
pub(super) const LINE: u64 = 128;
/// Device memory in which chunks are drawn. It shares no line with partials; and so much of it, since on an H200 partials behind it are
/// nearer to whoever reads them than those right behind a line are (`docs/PERFORMANCE.md`).
pub(crate) const TICKET_BYTES: u64 = 4 << 10;

/// Device memory that a reduction may have.
pub(crate) fn most_bytes(item: &Layout, length: u64) -> u64 {
    (length.saturating_mul(item.size as u64) / 1000).max(MEMORY_BYTES)
}

/// Device memory that the partials of one launch have. They share no line with others: what is read of them may be kept.
pub(crate) fn partial_bytes(item: &Layout, chunks: u64) -> u64 {
    (chunks * item.size as u64).next_multiple_of(LINE)
}

/// Device memory that partials have which are gathered: rows of 32, each word with a mark above it, as `Partials` in
/// `templates/reduce/partials.cuh` has it.
pub(crate) fn cell_bytes(item: &Layout, chunks: u64) -> u64 {
    chunks.next_multiple_of(32) * (item.size as u64).next_multiple_of(8) * 2
}
