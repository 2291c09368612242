//! The shape of a reduction kernel.

use super::data::Data;
use super::measured::{LARGEST_IN_REGISTERS, Measured};
use crate::{Error, Layout};

/// Bytes of the widest load of a lane.
pub(super) const WIDEST_LOAD: usize = 16;
/// Largest group of one array, in bytes. If whole loads take a larger group, items are loaded one
/// by one, with narrower loads.
const LARGEST_GROUP: usize = 128;
/// Most items of a group.
const MAX_GROUP_ITEMS: u32 = 32;
/// Least bytes of a lane's group in the large kernel, if the items allow it. A lane combines the
/// items of its group without shuffles.
const MIN_GROUP: usize = 32;
/// Bytes of a lane's group of elements that are combined with an item one by one, and most of its
/// elements. Only the items of groups are combined with each other.
const ACCUMULATED_GROUP: usize = 128;
/// Most shared memory of a block, in bytes. Every architecture allows it.
const SHARED_BYTES: usize = 64 << 10;
/// Bytes of shared memory before the tiles, besides the values of runs: the two chunks drawn, and
/// padding to a multiple of 128.
const HEADER_BYTES: usize = 8 + 127;
/// Approximate number of multiprocessors of a large GPU. It determines the size of a wave.
const MULTIPROCESSORS: u64 = 128;
/// Largest tile of the baseline kernel, in bytes. A block has two such tiles in shared memory.
const BASELINE_BYTES: usize = 16 << 10;

/// The compile-time parameters of a reduction kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bytes of one load of a row, and of one load of a tile from shared memory. A power of two
    /// from 1 to 16 that divides the bytes of a group.
    ///
    /// If `width` is below 4, or does not divide the address, a load of a row has 4 bytes, or the
    /// alignment of an element if that is larger. A tile is loaded from global memory by 16 bytes,
    /// at any address.
    pub width: u32,
    /// Items that one lane loads at once: a power of two from 1 to 32.
    pub group_items: u32,
    /// Groups of each lane in a tile: a power of two from 1 to 32. The lanes exchange a tile
    /// through shared memory, from a striped into a blocked arrangement.
    ///
    /// The items of a lane in a tile are a multiple of 16 bytes. With `rows` 1 there are no tiles.
    /// Then a warp reduces row by row, with one group per lane.
    pub rows: u32,
    /// Adjacent tiles that merge lane by lane, before the values of lanes are combined: 1 or 4.
    /// Without tiles, the adjacent rows that merge: 1 or 2. More need more registers.
    pub merged_tiles: u32,
    /// Most runs of a chunk, if there are tiles: a power of two from 1 to 32. The warps of a block
    /// process adjacent runs side by side, each the same number. If there are no more runs than
    /// warps, each warp has one run, of its whole part of the chunk.
    pub runs: u32,
    /// Most warps of a block: a power of two from 1 to 32. The baseline always has this number.
    pub warps: u32,
    /// Blocks that each multiprocessor should hold at once: 1 to 32. It limits the registers of a
    /// thread.
    pub blocks_per_multiprocessor: u32,
}

impl Shape {
    /// One row a warp, or two that merge, and as many warps as a block can have.
    pub(super) fn small(data: &Data) -> Self {
        let Measured { group_bytes, merged_rows, .. } = Measured::of(data);
        Self { warps: 32, merged_tiles: merged_rows, ..Self::of_lanes(data, group_bytes, 0) }
    }

    /// Few warps, with as many rows as registers hold.
    pub(super) fn large(data: &Data) -> Self {
        let Measured { tile_bytes, merged_tiles, runs, held_blocks, .. } = Measured::of(data);
        let fits = data.element_bytes().max(data.item.size) <= LARGEST_IN_REGISTERS;
        let tile_bytes = if fits { tile_bytes } else { 0 };
        let shape = Self { warps: 4, ..Self::of_lanes(data, MIN_GROUP, tile_bytes) };
        let shape = Self { blocks_per_multiprocessor: held_blocks, ..shape };
        if shape.rows > 1 { Self { merged_tiles, runs, ..shape } } else { shape }
    }

    /// As many warps as a block can have, while two tiles fit into shared memory.
    pub(super) fn baseline(size: usize) -> Self {
        let items = (BASELINE_BYTES / size).clamp(32, 1024);
        let warps = 1 << (items as u32 / 32).ilog2();
        Self {
            width: 1,
            group_items: 1,
            rows: 1,
            merged_tiles: 1,
            runs: 1,
            warps,
            blocks_per_multiprocessor: 1,
        }
    }

    /// Groups of whole 16-byte loads, and the rows that give a lane at most `bytes` of a tile.
    /// There are more rows if these are needed for whole loads. No tiles if `bytes` is 0.
    fn of_lanes(data: &Data, group_bytes: usize, bytes: usize) -> Self {
        // The fewest elements whose bytes are a multiple of the widest load in each array. Then
        // the power of two of them that has at least `group_bytes`.
        let group_bytes = match data.accumulates {
            true => ACCUMULATED_GROUP.min(data.element_bytes() * MAX_GROUP_ITEMS as usize),
            false => group_bytes,
        };
        let whole = data.sizes().map(|size| WIDEST_LOAD / chunk(size)).max().unwrap_or(1);
        let fits = data.sizes().all(|size| size * whole <= LARGEST_GROUP);
        let least_group = group_bytes.div_ceil(whole * data.element_bytes()).next_power_of_two();
        let (group_items, width) = match fits {
            true => (whole * least_group, WIDEST_LOAD),
            false => (1, data.sizes().map(chunk).min().unwrap_or(1)),
        };
        // The fewest rows that are whole loads of 16 bytes.
        let least = data.sizes().map(|size| WIDEST_LOAD / chunk(size * group_items)).max().unwrap_or(1);
        let rows = match width {
            4.. if bytes > 0 => (bytes / (group_items * data.element_bytes())).clamp(least, 8.max(least)),
            _ => 1,
        };
        Self {
            width: width as u32,
            group_items: group_items as u32,
            rows: 1 << rows.ilog2(),
            merged_tiles: 1,
            runs: 1,
            warps: 1,
            blocks_per_multiprocessor: 1,
        }
    }

    /// Checks that a kernel of this shape can be compiled for `data`.
    pub(crate) fn check(&self, data: &Data) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        let Self { width, group_items, rows, runs, warps, .. } = *self;
        if ![width, group_items, rows, runs, warps].into_iter().all(u32::is_power_of_two) {
            return fail("width, group_items, rows, runs and warps are powers of two");
        }
        if width > 16 || rows > 32 || runs > 32 || warps > 32 {
            return fail("width is at most 16, rows, runs and warps at most 32");
        }
        let groups = || data.sizes().map(|size| size as u64 * u64::from(group_items));
        if !groups().all(|group| group.is_multiple_of(u64::from(width))) {
            return fail("the bytes of a group are a multiple of width");
        }
        if group_items > MAX_GROUP_ITEMS || groups().sum::<u64>() > 1 << 10 {
            return fail("a group is at most 32 items, and at most 1024 bytes");
        }
        if !matches!((rows, self.merged_tiles), (_, 1) | (1, 2) | (2.., 4)) {
            return fail("merged_tiles is 1 or 4, or, where there are rows alone, 1 or 2");
        }
        let are_whole = || groups().all(|group| (group * u64::from(rows)).is_multiple_of(WIDEST_LOAD as u64));
        if rows > 1 && (width < 4 || !are_whole()) {
            return fail("what a lane has of a tile is a multiple of 16 bytes, in loads of at least 4");
        }
        // The values of the runs of two chunks.
        let of_runs = 2 * runs.max(warps) as usize * words(&data.item);
        if rows > 1 && self.shared_bytes(data) + of_runs + HEADER_BYTES > SHARED_BYTES {
            return fail(
                "the tiles of a block that its lanes exchange, and the values of its runs, have at most 64 KiB",
            );
        }
        if !matches!(self.blocks_per_multiprocessor, 1..=32) {
            return fail("blocks_per_multiprocessor is 1 to 32");
        }
        Ok(())
    }

    /// Checks that the baseline kernel can be compiled with this shape.
    pub(crate) fn check_baseline(&self, data: &Data) -> Result<(), Error> {
        self.check(data)?;
        let Self { group_items, rows, merged_tiles, .. } = *self;
        let fits = self.block_items() as usize <= BASELINE_BYTES / data.item.size;
        if fits && (group_items, rows, merged_tiles) == (1, 1, 1) {
            return Ok(());
        }
        let reason = "the baseline has one item a lane, and at most 16 KiB a tile".to_owned();
        Err(Error::Policy { reason })
    }

    /// Warps that a large GPU runs at once.
    pub(super) fn wave_warps(&self) -> u64 {
        MULTIPROCESSORS * u64::from(self.warps * self.blocks_per_multiprocessor)
    }

    /// Rows that a warp has at once, if there are no tiles.
    pub(super) fn merged_rows(&self) -> u32 {
        if self.rows == 1 { self.merged_tiles } else { 1 }
    }

    /// Items of one row: one group for each lane.
    pub fn row_items(&self) -> u64 {
        u64::from(self.group_items) * 32
    }

    /// Items of a block in which every warp has one row.
    pub(super) fn block_items(&self) -> u64 {
        self.row_items() * u64::from(self.warps)
    }

    /// Items of one tile, which a warp reduces in registers.
    pub fn tile_items(&self) -> u64 {
        self.row_items() * u64::from(self.rows)
    }

    /// Shared memory of a block for the tiles that its lanes exchange, in bytes.
    pub fn shared_bytes(&self, data: &Data) -> usize {
        if self.rows == 1 {
            return 0;
        }
        // Each warp needs room for the word in which its last element ends, and for its counter of
        // rows.
        let run = |size: usize| size * (self.group_items * self.rows) as usize;
        let tile: usize = data.sizes().map(|size| exchange_bytes(run(size)) + WIDEST_LOAD).sum();
        self.warps as usize * (tile + 32 * words(&data.item))
    }
}

/// Bytes of a value in shared memory. The same as the size of `Words` in
/// `templates/core/words.cuh`.
fn words(item: &Layout) -> usize {
    item.size.next_multiple_of(4)
}

/// Bytes of the widest load that divides `bytes`.
pub(super) fn chunk(bytes: usize) -> usize {
    WIDEST_LOAD.min(1 << bytes.trailing_zeros())
}

/// Shared memory through which the lanes of a warp exchange runs of `run_bytes` each, in bytes. The
/// same as `Exchange` in `templates/core/exchange.cuh`. Some chunks stay unused, so that lanes load
/// from different banks.
pub(super) fn exchange_bytes(run_bytes: usize) -> usize {
    let chunk = chunk(run_bytes);
    let run = run_bytes / chunk;
    let (all, even) = (32 * run, 1 << run.trailing_zeros().min(3));
    let left_out = if even == 1 || chunk < WIDEST_LOAD { 0 } else { all / (8 * run / even) };
    chunk * (all + left_out)
}
