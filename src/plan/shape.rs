//! The shape of a kernel that reduces.

use super::data::Data;
use super::measured::Measured;
use crate::{Error, Layout};

/// The bytes that one GPU lane loads at once at most.
pub(super) const WIDEST_LOAD: usize = 16;
/// A group larger than this is not made: its items are loaded one by one, in narrower words.
const LARGEST_GROUP: usize = 128;
/// A group has no more items than this.
const MOST_GROUP_ITEMS: u32 = 32;
/// A lane loads at least so much at once, if the items allow it: what it combines itself needs no shuffles.
const LEAST_GROUP: usize = 32;
/// Items larger than this do not stay in registers.
const LARGEST_IN_REGISTERS: usize = 64;
/// Shared memory of a block, at most: what every architecture gives one.
const SHARED_BYTES: usize = 64 << 10;
/// What comes of it before the tiles, besides the values of runs: what is drawn, and up to the next multiple of 128.
const BEFORE_TILES: usize = 8 + 127;
/// Multiprocessors of a large GPU, roughly: its blocks are counted by it.
const MULTIPROCESSORS: u64 = 128;
/// A tile of the baseline kernel, at most; a block has two.
const BASELINE_BYTES: usize = 16 << 10;

/// The shape of a kernel: what is fixed when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bytes of one load of a row, and of one load of a tile from shared memory: a power of two, at most 16, that divides the
    /// bytes of a group. Below 4, and for inputs whose address is not a multiple of it, rows are loaded in words of 4 bytes.
    /// A tile is loaded from the input by 16 bytes, wherever that begins.
    pub width: u32,
    /// Items that one lane loads at once: a power of two, at most 32.
    pub group_items: u32,
    /// Groups of each lane in a tile, which lanes exchange through shared memory so that each has its own side by side (a
    /// blocked arrangement, not a striped one). A power of two, at most 32; together a multiple of 16 bytes. If 1, there are
    /// no tiles: items go row by row, of one group a lane.
    pub rows: u32,
    /// Neighbouring tiles that merge before a lane's values are combined with those of other lanes, 1 or 4; where there are none, rows,
    /// 1 or 2. More want registers.
    pub merged_tiles: u32,
    /// Where there are tiles, runs of a chunk, at most: a power of two, at most 32. Warps of a block have them side by side, as many each; or
    /// one each, of all that a warp has of the chunk, if there are no more runs than warps.
    pub runs: u32,
    /// Warps of a block, at most, or, of the baseline, always: a power of two, at most 32.
    pub warps: u32,
    /// Blocks that each multiprocessor should hold at once: what bounds the registers of a kernel.
    pub blocks_per_multiprocessor: u32,
}

impl Shape {
    /// A row a warp, of as many warps as a block can have.
    pub(super) fn small(data: &Data) -> Self {
        let Measured { group_bytes, merged_rows, .. } = Measured::of(data);
        Self { warps: 32, merged_tiles: merged_rows, ..Self::of_lanes(data, group_bytes, 0) }
    }

    /// Few warps of many rows, as far as registers allow.
    pub(super) fn large(data: &Data) -> Self {
        let Measured { tile_bytes, merged_tiles, runs, held_blocks, .. } = Measured::of(data);
        let fits = data.element_bytes().max(data.item.size) <= LARGEST_IN_REGISTERS;
        let tile_bytes = if fits { tile_bytes } else { 0 };
        let shape = Self { warps: 4, ..Self::of_lanes(data, LEAST_GROUP, tile_bytes) };
        let shape = Self { blocks_per_multiprocessor: held_blocks, ..shape };
        if shape.rows > 1 { Self { merged_tiles, runs, ..shape } } else { shape }
    }

    /// As many warps as a block can have, or as leave it two tiles in shared memory.
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

    /// Groups of wide loads, and so many rows of them that a lane has at most `bytes`, unless fewer fill no whole loads.
    fn of_lanes(data: &Data, group_bytes: usize, bytes: usize) -> Self {
        // The fewest elements whose bytes are a multiple of the widest load in each array, and enough of them.
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

    /// Whether a kernel can be made of it for such data.
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
        if group_items > MOST_GROUP_ITEMS || groups().sum::<u64>() > 1 << 10 {
            return fail("a group is at most 32 items, and at most 1024 bytes");
        }
        if !matches!((rows, self.merged_tiles), (_, 1) | (1, 2) | (2.., 4)) {
            return fail("merged_tiles is 1 or 4, or, where there are rows alone, 1 or 2");
        }
        let are_whole = || groups().all(|group| (group * u64::from(rows)).is_multiple_of(WIDEST_LOAD as u64));
        if rows > 1 && (width < 4 || !are_whole()) {
            return fail("what a lane has of a tile is a multiple of 16 bytes, in loads of at least 4");
        }
        // Of two chunks.
        let of_runs = 2 * runs.max(warps) as usize * words(&data.item);
        if rows > 1 && self.shared_bytes(data) + of_runs + BEFORE_TILES > SHARED_BYTES {
            return fail(
                "the tiles of a block that its lanes exchange, and the values of its runs, have at most 64 KiB",
            );
        }
        if !matches!(self.blocks_per_multiprocessor, 1..=32) {
            return fail("blocks_per_multiprocessor is 1 to 32");
        }
        Ok(())
    }

    /// Whether the baseline kernel can be made of it.
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

    /// Warps that run at once.
    pub(super) fn wave_warps(&self) -> u64 {
        MULTIPROCESSORS * u64::from(self.warps * self.blocks_per_multiprocessor)
    }

    /// Rows that a warp has at once, where there are no tiles.
    pub(super) fn merged_rows(&self) -> u32 {
        if self.rows == 1 { self.merged_tiles } else { 1 }
    }

    /// Items of one row: of each lane, a group.
    pub fn row_items(&self) -> u64 {
        u64::from(self.group_items) * 32
    }

    /// Items of a block of which every warp has a row.
    pub(super) fn block_items(&self) -> u64 {
        self.row_items() * u64::from(self.warps)
    }

    /// Items of one tile, which a warp reduces in registers.
    pub fn tile_items(&self) -> u64 {
        self.row_items() * u64::from(self.rows)
    }

    /// Shared memory that a block needs for what its lanes exchange, in bytes.
    pub fn shared_bytes(&self, data: &Data) -> usize {
        if self.rows == 1 {
            return 0;
        }
        // With room for the word in which the last element of a warp ends, and for its counter of rows.
        let run = |size: usize| size * (self.group_items * self.rows) as usize;
        let tile: usize = data.sizes().map(|size| exchange_bytes(run(size)) + WIDEST_LOAD).sum();
        self.warps as usize * (tile + 32 * words(&data.item))
    }
}

/// Bytes of a value in shared memory, as `Words` in `templates/core/words.cuh` has it.
fn words(item: &Layout) -> usize {
    item.size.next_multiple_of(4)
}

/// The widest load that divides so many bytes.
pub(super) fn chunk(bytes: usize) -> usize {
    WIDEST_LOAD.min(1 << bytes.trailing_zeros())
}

/// Shared memory through which lanes exchange a run of so many bytes each, as `Exchange` in `templates/core/exchange.cuh` has it:
/// chunks are left out, so that lanes load from banks of their own.
pub(super) fn exchange_bytes(run_bytes: usize) -> usize {
    let chunk = chunk(run_bytes);
    let run = run_bytes / chunk;
    let (all, even) = (32 * run, 1 << run.trailing_zeros().min(3));
    let left_out = if even == 1 || chunk < WIDEST_LOAD { 0 } else { all / (8 * run / even) };
    chunk * (all + left_out)
}
