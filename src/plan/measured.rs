//! The tuning values that depend on the item size, in one table.
//!
//! They were measured on an NVIDIA H200 (`docs/PERFORMANCE.md`). No other architecture has been
//! measured.

use super::data::{Data, scalars};

/// The tuning values for one item size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// Size of the items that the row is for, in bytes.
    bytes: usize,
    /// Most numbers that these items consist of.
    scalars: usize,
    /// Least size of a lane's group in the small kernel, in bytes.
    pub(super) group_bytes: usize,
    /// Most that a lane has of a tile of the large kernel, in bytes. The groups of a lane are a
    /// power of two, at most 8 unless whole loads need more: 12-byte items have 192 of 256 bytes.
    pub(super) tile_bytes: usize,
    /// Adjacent tiles that a warp of the large kernel merges: 1 or 4.
    pub(super) merged_tiles: u32,
    /// Adjacent rows that a warp of the small kernel merges: 1 or 2.
    pub(super) merged_rows: u32,
    /// Runs of a chunk of the large kernel, at most: 1 to 32.
    pub(super) runs: u32,
    /// Blocks of the large kernel that a multiprocessor should hold at once. This limits the
    /// registers of a thread.
    pub(super) held_blocks: u32,
    /// `Policy::tiles_per_warp`: tiles of a warp in a chunk, if the input takes several waves.
    pub(super) tiles: u32,
    /// `Policy::max_full_waves`: most waves in which a warp has up to 32 tiles.
    pub(super) max_full_waves: u32,
    /// `Policy::small_blocks`: most blocks of 8 warps that reduce a small input.
    pub(super) small_blocks: u32,
}

const ANY: u32 = u32::MAX;

#[rustfmt::skip]
const MEASURED: [Measured; 12] = [
    //  bytes  numbers  group  tile  merged  merged         held           full  small
    //   of an item     bytes a lane  tiles   rows   runs  blocks  tiles  waves  blocks
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
/// Items of at most 48 bytes that the table does not have.
const OTHER_ITEMS: Measured = row(48, 16, 32, 256, 4, 1, 32, 3, 4, 2, 768);
/// Larger items. The values of several tiles do not fit into registers.
const LARGE_ITEMS: Measured = row(0, 16, 32, 256, 1, 1, 32, 3, 4, 2, 768);
/// Largest item, in bytes, that stays in registers.
pub(super) const LARGEST_IN_REGISTERS: usize = 64;
/// `held_blocks` of items that are made of smaller elements, if they have at least this many bytes
/// and fit into registers: the items need more registers than what is loaded.
const HELD_OF_PREPARED: u32 = 2;
const LARGE_PREPARED: usize = 48;
/// Items in local memory that accumulate elements. More warps hide its latency. A warp has many rows,
/// because only its last items are combined with each other.
const ACCUMULATED: Measured = row(0, usize::MAX, 32, 0, 1, 1, 1, 4, 32, ANY, 768);
/// Items of more than 16 numbers. Their operator takes long to compile, so the code has few copies.
const MANY_SCALARS: Measured = row(0, usize::MAX, 32, 128, 1, 1, 32, 3, 8, ANY, 768);

#[rustfmt::skip]
#[expect(clippy::too_many_arguments, reason = "a row of a table")]
const fn row(
    bytes: usize, scalars: usize, group_bytes: usize, tile_bytes: usize, merged_tiles: u32, merged_rows: u32, runs: u32,
    held_blocks: u32, tiles: u32, max_full_waves: u32, small_blocks: u32,
) -> Measured {
    Measured {
        bytes, scalars, group_bytes, tile_bytes, merged_tiles, merged_rows, runs, held_blocks, tiles, max_full_waves, small_blocks,
    }
}

impl Measured {
    /// The row for `data`. For one array this is the first row of the table that fits.
    pub(super) fn of(data: &Data) -> Self {
        let numbers = scalars(&data.item);
        let fits = |row: &&Self| row.bytes == data.item.size && numbers <= row.scalars;
        let measured = MEASURED.iter().find(fits).filter(|_| data.elements.len() == 1);
        let other = match data.item.size {
            _ if Self::has_many_scalars(data) => MANY_SCALARS,
            bytes if bytes <= OTHER_ITEMS.bytes => OTHER_ITEMS,
            _ => LARGE_ITEMS,
        };
        let measured = measured.copied().unwrap_or(other);
        let is_prepared = data.element_bytes() < data.item.size;
        match data.item.size {
            bytes if bytes > LARGEST_IN_REGISTERS && data.accumulates => ACCUMULATED,
            LARGE_PREPARED..=LARGEST_IN_REGISTERS if is_prepared => {
                Self { held_blocks: HELD_OF_PREPARED, ..measured }
            }
            _ => measured,
        }
    }

    /// Whether items have too many numbers for many copies of the operator in the code.
    pub(super) fn has_many_scalars(data: &Data) -> bool {
        scalars(&data.item) > OTHER_ITEMS.scalars
    }
}
