//! Scratch memory of a reduction: tickets, then partials.

use crate::Layout;

/// Most scratch memory for inputs of up to 65.5 MB, in bytes. Larger inputs may have a thousandth
/// of their size.
const MEMORY_BYTES: u64 = 64 << 10;
/// Bytes of a line of GPU memory.
pub(super) const LINE: u64 = 128;
/// Bytes before the partials, which hold the counter that chunks are drawn from. A whole page: on
/// an H200, partials behind a page are nearer to their readers than partials right behind a line
/// (`docs/PERFORMANCE.md`). The counter shares no line with partials.
pub(crate) const TICKET_BYTES: u64 = 4 << 10;

/// Most scratch memory of a reduction of `length` items, in bytes.
pub(crate) fn most_bytes(item: &Layout, length: u64) -> u64 {
    (length.saturating_mul(item.size as u64) / 1000).max(MEMORY_BYTES)
}

/// Bytes of the partials of one launch, in whole lines. Launches share no line, because a cache may
/// keep a line that it has read.
pub(crate) fn partial_bytes(item: &Layout, chunks: u64) -> u64 {
    (chunks * item.size as u64).next_multiple_of(LINE)
}

/// Bytes of partials that are gathered. They form rows of 32, and each 32-bit word has a mark above
/// it. The same layout as `Partials` in `templates/reduce/partials.cuh`.
pub(crate) fn cell_bytes(item: &Layout, chunks: u64) -> u64 {
    chunks.next_multiple_of(32) * (item.size as u64).next_multiple_of(8) * 2
}
