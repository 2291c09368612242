//! Device memory of a reduction: what its blocks share, and then its partials.

use super::shape::LARGEST_IN_REGISTERS;
use crate::Layout;

/// Device memory for an input up to 64 MiB, at most; for a larger one for each KiB a byte.
const MEMORY_BYTES: u64 = 64 << 10;
/// The bytes of a line of memory.
pub(super) const LINE: u64 = 128;
/// Device memory that blocks share, as `Common` in `templates/bracket.cuh` has it: a line, and cells. It shares no line with partials.
pub(crate) const COMMON_BYTES: u64 = LINE + CELL_BYTES;
/// Of all cells, where there are any.
const CELL_BYTES: u64 = 24 << 10;

/// Device memory that a reduction may have.
pub(crate) fn most_bytes(item: &Layout, length: u64) -> u64 {
    (length.saturating_mul(item.size as u64) / 1024).max(MEMORY_BYTES)
}

/// Device memory that blocks share: without cells, where no block gathers.
pub(crate) fn common_bytes(item: &Layout) -> u64 {
    LINE + cells_bytes(item)
}

/// Items that do not stay in registers have none: their partials would have too little memory left.
pub(super) fn cells_bytes(item: &Layout) -> u64 {
    if item.size <= LARGEST_IN_REGISTERS { CELL_BYTES } else { 0 }
}

/// Device memory in which one block sends another an item: for each word its serial, too, and whole pairs of such words.
pub(crate) fn cell_bytes(item: &Layout) -> u64 {
    (item.size.div_ceil(4) as u64 * 8).next_multiple_of(16)
}

/// Device memory that the partials of one launch have. They share no line with others: what is read of them may be kept.
pub(crate) fn partial_bytes(item: &Layout, chunks: u64) -> u64 {
    (chunks * item.size as u64).next_multiple_of(LINE)
}
