//! The policy of scans.

use std::iter::successors;

use super::data::scalars;
use super::kernel::Kernel;
use super::memory::LINE;
use super::shape::{WIDEST_LOAD, chunk, exchange_bytes};
use crate::{Error, Layout};

/// How a scan cuts its input into tiles: the shapes of an operator's kernels, and the inputs that
/// each kernel is for.
///
/// The default for an item type is [`ScanPolicy::for_item`].
/// [`Scan::with_policy`](crate::Scan::with_policy) takes another one, for measurements and tests.
/// Every policy gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanPolicy {
    /// Shape of the kernel for small inputs: short runs, many warps.
    pub small: ScanShape,
    /// Shape of the kernel for large inputs: long runs, few warps.
    pub large: ScanShape,
    /// Largest input, in bytes, that the small kernel scans.
    pub small_bytes: u64,
    /// Inputs of at most this many tiles have half the warps in each tile, so that more
    /// multiprocessors have work. Ignored if a block has several tiles at once.
    pub few_tiles: u64,
    /// Inputs of more than one wave of blocks, and of about this many at most, have half the warps
    /// in each tile, too. Then the last wave ends more evenly. 0 or 1 for never.
    pub few_waves: u64,
}

/// The limits of a device that a launch depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Number of multiprocessors.
    pub multiprocessors: u32,
    /// Most shared memory of a block, in bytes.
    pub shared_bytes: usize,
}

impl Limits {
    /// The limits of an H200.
    pub const H200: Self = Self { multiprocessors: 132, shared_bytes: 227 << 10 };
}

/// One launch of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLaunch {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of tiles of the input.
    pub tiles: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Tiles that a block has at once. Each has a group of the block's warps.
    pub groups: u32,
    /// Warps of a tile: the warps of the kernel's shape, or half of them.
    pub warps: u32,
}

/// The compile-time parameters of a scan kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanShape {
    /// Adjacent items of a row that one lane has: a power of two. At most 1024 bytes.
    pub run_items: u32,
    /// Rows of a warp: 1, or a power of two from 4 to 32.
    ///
    /// - With 1, a lane has one long run, and lanes exchange the items that they load.
    /// - With 4 to 32, a lane keeps the items that it loads in each row. Then the bytes of a run
    ///   are a power of two of at most 16.
    pub rows: u32,
    /// Items of a run that a lane holds in registers at once, combined by unrolled code. A power of
    /// two, at most `run_items`.
    pub unit_items: u32,
    /// Most warps of a tile: a power of two from 1 to 32.
    pub warps: u32,
    /// Tiles that a block has at once: 1 to 15. Each has a group of `warps` warps.
    ///
    /// With 1, a block has one tile and ends. With more, the groups take turns to load, and take
    /// tiles until none is left.
    pub groups: u32,
    /// Blocks that each multiprocessor should hold at once: 1 to 32. It limits the registers of a
    /// thread. If `groups` is more than 1, it also limits the blocks of a launch.
    pub blocks_per_multiprocessor: u32,
    /// Adjacent tiles of a window that one lane reads in the look-back: a power of two from 1 to 8.
    /// A window has 32 times as many tiles.
    pub places: u32,
}

/// Most shared memory of a block with one tile, in bytes. Every architecture allows it.
const MAX_SHARED_BYTES: usize = 64 << 10;
/// Most warps of a block.
const MAX_WARPS: u32 = 32;
/// Most groups of a block. A block has 16 barriers: one for each group, and one for all warps.
const MAX_GROUPS: u32 = 15;
/// Rows that a warp moves up or down the bracket at once.
const ROWS_AT_ONCE: u32 = 4;
/// Most bytes of a unit, unless one item is larger.
const UNIT_BYTES: usize = 64;
/// Most bytes of a window that a lane reads, unless one item is larger.
const WINDOW_BYTES: usize = 32;
/// Shared memory of a multiprocessor of compute capability 9.0, in bytes.
const MULTIPROCESSOR_BYTES: usize = 228 << 10;
/// Shared memory that CUDA reserves for each block, in bytes.
const RESERVED_BYTES: usize = 1 << 10;
/// Bytes of a pair of words, which the look-back reads at once. A cell consists of whole pairs.
const PAIR: u64 = 16;

impl ScanPolicy {
    /// The policy for items of this layout, on every architecture.
    pub fn for_item(item: &Layout) -> Self {
        let small = |run_bytes| ScanShape::of(item, run_bytes, 8);
        // Large inputs: several rows for items of one or two words, except one 64-bit number, for
        // which rows were no faster. Few instructions combine such items across lanes, and
        // nothing is exchanged.
        // Small inputs: short runs end sooner if there are few tiles. From some MiB on they are
        // slower. There the large kernel begins to be faster.
        let (small, large, small_bytes) = match (item.size, scalars(item)) {
            (4, ..=2) => (small(64), ScanShape::of_rows(item), 16 << 20),
            (8, 2) => (small(128), ScanShape::of_rows(item), 32 << 20),
            _ => (small(128), ScanShape::of(item, 256, 4), 64 << 20),
        };
        Self { small, large, small_bytes, few_tiles: 32, few_waves: 4 }
    }

    /// The kernels of a scan.
    pub const KERNELS: [Kernel; 2] = [Kernel::Small, Kernel::Large];

    /// The shape of a kernel. A scan has no other kernels, for which this returns the small shape.
    pub fn shape(&self, kernel: Kernel) -> &ScanShape {
        match kernel {
            Kernel::Large => &self.large,
            _ => &self.small,
        }
    }

    /// The kernel that scans `length` items.
    fn kernel(&self, item: &Layout, length: u64) -> Kernel {
        match length.saturating_mul(item.size as u64) <= self.small_bytes {
            true => Kernel::Small,
            false => Kernel::Large,
        }
    }

    /// The launch that scans `length` items.
    pub fn launch(&self, item: &Layout, length: u64, limits: Limits) -> ScanLaunch {
        let kernel = self.kernel(item, length);
        let shape = self.shape(kernel);
        let tiles = length.div_ceil(shape.tile_items(shape.warps));
        let wave = u64::from(limits.multiprocessors * shape.blocks_per_multiprocessor);
        if shape.groups > 1 {
            let groups = shape.most_groups(item, limits);
            let blocks = tiles.div_ceil(groups.into()).min(wave);
            return ScanLaunch { kernel, tiles, blocks, groups, warps: shape.warps };
        }
        let halves = tiles <= self.few_tiles || (wave < tiles && tiles <= self.few_waves * wave);
        let warps = if halves { shape.warps.div_ceil(2) } else { shape.warps };
        let tiles = length.div_ceil(shape.tile_items(warps));
        ScanLaunch { kernel, tiles, blocks: tiles, groups: 1, warps }
    }

    /// Checks that the kernels of this policy can be compiled for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        Self::KERNELS.into_iter().try_for_each(|kernel| self.shape(kernel).check(item))
    }
}

impl ScanShape {
    /// Runs of at most `run_bytes`, or of one item. There are `warps` warps, or fewer if shared
    /// memory has no room for them.
    fn of(item: &Layout, run_bytes: usize, warps: u32) -> Self {
        let run_items = 1 << (run_bytes / item.size).max(1).ilog2();
        // A unit is whole chunks. It has more items only if registers hold them, and if the code
        // compiles fast.
        let least = chunk(run_items as usize * item.size) / chunk(item.size);
        let written_out = match scalars(item) {
            _ if item.size == 1 => 32,
            ..=2 => 16,
            _ => 4,
        };
        let most = 1 << (UNIT_BYTES / item.size).clamp(1, written_out).ilog2();
        let unit_items = (least.max(most) as u32).min(run_items);
        // The values that a lane reads stay in registers, and unrolled code combines them.
        let places = 1 << (WINDOW_BYTES / item.size).clamp(1, 4).ilog2();
        let of_warps = |warps| Self {
            run_items,
            rows: 1,
            unit_items,
            warps,
            groups: 1,
            blocks_per_multiprocessor: 1,
            places,
        };
        let has_room = |&warps: &u32| of_warps(warps).all_shared_bytes(item) <= MAX_SHARED_BYTES;
        let warps = successors(Some(warps), |warps| Some(warps / 2)).find(has_room).unwrap_or(1);
        // Most warps of a multiprocessor that leave each thread enough registers. Items of single
        // bytes need more registers when they are unpacked.
        let most_warps = match unit_items as usize * scalars(item) {
            ..=16 if item.size <= 4 => 40,
            ..=16 if item.size < 16 => 32,
            ..=16 if item.size <= 32 => 24,
            _ => 16,
        };
        let shape = of_warps(warps);
        let held = MULTIPROCESSOR_BYTES / (shape.all_shared_bytes(item) + RESERVED_BYTES);
        Self { blocks_per_multiprocessor: (most_warps / warps).min(held as u32), ..shape }
    }

    /// Sixteen rows a warp, four warps a tile, three tiles a block. Two such blocks fit into the
    /// shared memory of a multiprocessor of compute capability 9.0, and leave each thread 80
    /// registers.
    fn of_rows(item: &Layout) -> Self {
        let run_items = (WIDEST_LOAD / item.size) as u32;
        // In a window a lane reads 16 bytes of values, too. Items of 8 bytes are slower with
        // windows of 128 tiles.
        let places = run_items;
        Self {
            run_items,
            rows: 16,
            unit_items: run_items,
            warps: 4,
            groups: 3,
            blocks_per_multiprocessor: 2,
            places,
        }
    }

    /// Checks that a kernel of this shape can be compiled for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        let Self { run_items, rows, unit_items, warps, groups, places, .. } = *self;
        if ![run_items, rows, unit_items, warps, places].into_iter().all(u32::is_power_of_two) {
            return fail("run_items, rows, unit_items, warps and places are powers of two");
        }
        if places > 8 {
            return fail("places is at most 8");
        }
        if unit_items > run_items {
            return fail("unit_items is at most run_items");
        }
        if !(1..=MAX_GROUPS).contains(&groups) || warps > MAX_WARPS || warps * groups > MAX_WARPS {
            return fail("groups is 1 to 15, and a block has at most 32 warps");
        }
        if u64::from(run_items) * item.size as u64 > 1 << 10 {
            return fail("what a lane has of a tile is at most 1024 bytes");
        }
        let run_bytes = run_items as usize * item.size;
        let chunk = chunk(run_bytes);
        let are_chunks = run_bytes == chunk && unit_items == run_items;
        if rows > 1 && !(are_chunks && (ROWS_AT_ONCE..=32).contains(&rows)) {
            return fail("rows is 1, or 4 to 32 where a run is one unit and one chunk");
        }
        if !(unit_items as usize * item.size).is_multiple_of(chunk) {
            return fail(
                "the bytes of a unit are a multiple of 16, or of what those of a run are a multiple of",
            );
        }
        if self.all_shared_bytes(item) > MAX_SHARED_BYTES {
            return fail(
                "a block with one tile has at most 64 KiB of shared memory: its items, and what stands between runs and beside them",
            );
        }
        if !matches!(self.blocks_per_multiprocessor, 1..=32) {
            return fail("blocks_per_multiprocessor is 1 to 32");
        }
        Ok(())
    }

    /// Items of one tile of `warps` warps.
    pub fn tile_items(&self, warps: u32) -> u64 {
        u64::from(self.run_items) * u64::from(self.rows) * 32 * u64::from(warps)
    }

    /// Most tiles that a block has at once, given the shared memory of the device.
    pub fn most_groups(&self, item: &Layout, limits: Limits) -> u32 {
        let fits = |&groups: &u32| {
            self.shared_bytes(item, groups * self.warps) + self.static_shared_bytes(item)
                <= limits.shared_bytes
        };
        (1..=self.groups).rev().find(fits).unwrap_or(1)
    }

    /// Shared memory of the items of `warps` warps, in bytes.
    pub fn shared_bytes(&self, item: &Layout, warps: u32) -> usize {
        (warps * self.rows) as usize * exchange_bytes(self.run_items as usize * item.size)
    }

    /// Shared memory of a block with one tile, in bytes.
    fn all_shared_bytes(&self, item: &Layout) -> usize {
        self.shared_bytes(item, self.warps).next_multiple_of(128) + self.static_shared_bytes(item)
    }

    /// Shared memory that `templates/scan/scan.cuh` declares besides the tiles, in bytes. For each
    /// group: two values for each warp, two of the tile, and some words.
    fn static_shared_bytes(&self, item: &Layout) -> usize {
        let value = item.size.next_multiple_of(4);
        self.groups as usize * ((2 * self.warps as usize + 2) * value + 32) + 128
    }

    /// Tiles of a window, and windows of a window of windows.
    pub fn window(&self) -> u64 {
        32 * u64::from(self.places)
    }

    /// Device memory that the blocks of a scan share, in bytes. It has a line for the ticket, then
    /// a cell for each place of each window, at all levels.
    pub fn memory_bytes(&self, item: &Layout, tiles: u64) -> u64 {
        let cell = (item.size.div_ceil(4) as u64 * 8).next_multiple_of(PAIR);
        let window = self.window();
        let values = successors(Some(tiles), |&values| (values >= window).then_some(values / window));
        LINE + values.map(|values| values.next_multiple_of(window) * cell).sum::<u64>()
    }
}

#[cfg(test)]
mod tests;
