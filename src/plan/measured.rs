//! What was measured on an NVIDIA H200 (`docs/PERFORMANCE.md`), in one table: what differs by the size of an item. No other
//! architecture has been measured.

use super::data::{Data, scalars};

/// For arrays of some items. A lane has so many bytes of a group of the small kernel; and of a tile, if that is whole groups.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// An item, and the numbers that it is made of, at most.
    bytes: usize,
    scalars: usize,
    pub(super) group_bytes: usize,
    pub(super) tile_bytes: usize,
    /// Tiles, and rows of the small kernel, that a warp merges.
    pub(super) merged_tiles: u32,
    pub(super) merged_rows: u32,
    /// Runs of a chunk.
    pub(super) runs: u32,
    /// Blocks of the large kernel that a multiprocessor holds.
    pub(super) held_blocks: u32,
    /// Tiles of a warp, where that fills the GPU several times.
    pub(super) tiles: u32,
    /// Turns of blocks, at most, that have more tiles.
    pub(super) full_turns: u32,
    /// Blocks of 8 warps, at most.
    pub(super) small_blocks: u32,
}

const ANY: u32 = u32::MAX;

#[rustfmt::skip]
const MEASURED: [Measured; 12] = [
    //  bytes  numbers  group  tile  merged  merged         held           full  small
    //   of an item      bytes of lane tiles   rows   runs  blocks  tiles  turns  blocks
    row(    1,       1,     16,  128,      4,     1,    32,      4,     8,   ANY,    384),
    row(    2,       2,     32,  128,      4,     1,    32,      4,     8,   ANY,    384),
    row(    4,       2,     32,  128,      4,     1,    32,      4,     8,   ANY,    384),
    row(    8,       2,     32,  128,      4,     1,    32,      4,     8,   ANY,    768),
    row(   12,      12,     32,  256,      4,     1,     1,      3,     4,     2,    768),
    row(   16,       4,     32,  128,      4,     2,    32,      4,     8,   ANY,    768),
    row(   16,      16,     32,  256,      1,     2,    32,      3,     4,     2,    768),
    row(   20,      16,     32,  384,      4,     1,    32,      2,     8,     2,    768),
    row(   24,      16,     32,  256,      4,     1,     1,      3,     4,     2,    768),
    row(   32,      16,     32,  384,      4,     2,    32,      2,     4,     2,    768),
    row(   48,      16,     32,  256,      4,     1,     1,      3,     4,     2,    768),
    row(   64,      16,     32,  256,      1,     1,    32,      3,     4,     2,    768),
];
/// Of all else. An operator on many numbers is written out few times: each takes long to compile. Of large items the values of several
/// tiles are more than registers hold.
const FEW_NUMBERS: Measured = row(48, 16, 32, 256, 4, 1, 32, 3, 4, 2, 768);
const LARGE_ITEMS: Measured = row(0, 16, 32, 256, 1, 1, 32, 3, 4, 2, 768);
const MANY_NUMBERS: Measured = row(0, usize::MAX, 32, 128, 1, 1, 32, 3, 8, ANY, 768);

#[rustfmt::skip]
#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn row(
    bytes: usize, scalars: usize, group_bytes: usize, tile_bytes: usize, merged_tiles: u32, merged_rows: u32, runs: u32,
    held_blocks: u32, tiles: u32, full_turns: u32, small_blocks: u32,
) -> Measured {
    Measured {
        bytes, scalars, group_bytes, tile_bytes, merged_tiles, merged_rows, runs, held_blocks, tiles, full_turns, small_blocks,
    }
}

impl Measured {
    /// The row for some data: of one array the first that it fits.
    pub(super) fn of(data: &Data) -> Self {
        let numbers = scalars(&data.item);
        let fits = |row: &&Self| row.bytes == data.item.size && numbers <= row.scalars;
        let measured = MEASURED.iter().find(fits).filter(|_| data.elements.len() == 1);
        let other = match data.item.size {
            _ if Self::has_many_numbers(data) => MANY_NUMBERS,
            bytes if bytes <= FEW_NUMBERS.bytes => FEW_NUMBERS,
            _ => LARGE_ITEMS,
        };
        measured.copied().unwrap_or(other)
    }

    /// Whether an operator on so many numbers is written out few times.
    pub(super) fn has_many_numbers(data: &Data) -> bool {
        scalars(&data.item) > FEW_NUMBERS.scalars
    }
}
