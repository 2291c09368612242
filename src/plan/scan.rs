//! The policy of scans.

use std::iter::successors;

use super::data::scalars;
use super::kernel::Kernel;
use super::memory::LINE;
use super::shape::{WIDEST_LOAD, chunk, exchange_bytes};
use crate::{Error, Layout};

/// How a scan cuts its input into tiles: the shapes of an operator's kernels, and which inputs each is for.
///
/// The default of an item is [`ScanPolicy::for_item`]; [`Scan::with_policy`](crate::Scan::with_policy) takes another, for
/// measurements and tests. Results are the same bits under every policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanPolicy {
    /// For small inputs: short runs, of many warps.
    pub small: ScanShape,
    /// For large inputs: long runs, of few warps.
    pub large: ScanShape,
    /// Inputs of at most so many bytes are scanned by the small kernel.
    pub small_bytes: u64,
    /// Where there would be at most so many tiles, of all warps of a shape, each is made two, of half of them: more
    /// multiprocessors have work then. Not where blocks have more than one tile at once.
    pub few_tiles: u64,
    /// The same where the blocks would make more than one wave, and at most so many, roughly: the last one ends more evenly. With
    /// 1 or 0 never.
    pub few_waves: u64,
}

/// What a launch may have of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Shared memory of a block, at most, in bytes.
    pub shared_bytes: usize,
}

impl Limits {
    /// Those of an H200.
    pub const H200: Self = Self { multiprocessors: 132, shared_bytes: 227 << 10 };
}

/// One launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLaunch {
    /// What is launched.
    pub kernel: Kernel,
    /// Tiles.
    pub tiles: u64,
    /// Blocks.
    pub blocks: u64,
    /// Tiles that a block has at once, each a group of its warps.
    pub groups: u32,
    /// Warps of a tile: as many as the kernel's shape has, or half of them.
    pub warps: u32,
}

/// The shape of a kernel that scans: what is fixed when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanShape {
    /// Items of a row that one lane has, side by side: a power of two.
    pub run_items: u32,
    /// Rows of a warp: 1, where lanes exchange what they load for a long run each; or a power of two from 4 to 32, where they
    /// keep it: then a run has 16 bytes, or another power of two below.
    pub rows: u32,
    /// Items of those that stay in registers at once, and for which code is written out: a power of two.
    pub unit_items: u32,
    /// Warps of a tile, at most: a power of two, at most 32.
    pub warps: u32,
    /// Tiles that a block has at once, at most 15, each a group of warps. One block a tile, if it is 1; more than one take
    /// turns to load, and take tiles until there is none.
    pub groups: u32,
    /// Blocks that each multiprocessor should hold at once: what bounds the registers of a kernel, and, if groups take tile after
    /// tile, the blocks of a launch.
    pub blocks_per_multiprocessor: u32,
    /// Tiles of a window that one lane looks at, side by side: a power of two, at most 8. A window is 32 times as many.
    pub places: u32,
}

/// Shared memory of a block with one tile, at most: what every architecture gives one.
const MOST_SHARED_BYTES: usize = 64 << 10;
/// Warps of a block, at most.
const MOST_WARPS: u32 = 32;
/// Groups of a block, at most: each has a barrier, of which there are 16.
const MOST_GROUPS: u32 = 15;
/// Rows that go up or down at once.
const ROWS_AT_ONCE: u32 = 4;
/// Bytes of a unit, at most, unless that is one item.
const UNIT_BYTES: usize = 64;
/// Bytes that a lane looks at of a window, at most, unless that is one item.
const SEEN_BYTES: usize = 32;
/// Shared memory of a multiprocessor of 9.0, of which a block takes `RESERVED_BYTES` for itself.
const MULTIPROCESSOR_BYTES: usize = 228 << 10;
const RESERVED_BYTES: usize = 1 << 10;
/// Bytes of what is looked at together, of which a cell has whole ones.
const PAIR: u64 = 16;

impl ScanPolicy {
    /// The policy for items of this layout, on every architecture.
    pub fn for_item(item: &Layout) -> Self {
        let small = |run_bytes| ScanShape::of(item, run_bytes, 8);
        // Of one or two words the levels of lanes are few instructions, and there is nothing to exchange. Not for
        // one 64-bit number, for which rows were no faster. Short runs are sooner done where there are few tiles; they take longer
        // from some MiB on, where rows begin to be faster.
        let (small, large, small_bytes) = match (item.size, scalars(item)) {
            (4, ..=2) => (small(64), ScanShape::of_rows(item), 16 << 20),
            (8, 2) => (small(128), ScanShape::of_rows(item), 32 << 20),
            _ => (small(128), ScanShape::of(item, 256, 4), 64 << 20),
        };
        Self { small, large, small_bytes, few_tiles: 32, few_waves: 4 }
    }

    /// Those that scans have.
    pub const KERNELS: [Kernel; 2] = [Kernel::Small, Kernel::Large];

    /// The shape of a kernel. Instead of those that scans do not have it is the small one.
    pub fn shape(&self, kernel: Kernel) -> &ScanShape {
        match kernel {
            Kernel::Large => &self.large,
            Kernel::Small | Kernel::Baseline => &self.small,
        }
    }

    /// Which kernel scans `length` items.
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

    /// Whether kernels can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        Self::KERNELS.into_iter().try_for_each(|kernel| self.shape(kernel).check(item))
    }
}

impl ScanShape {
    /// Runs of at most so many bytes, or one item, of as many warps as have room.
    fn of(item: &Layout, run_bytes: usize, warps: u32) -> Self {
        let run_items = 1 << (run_bytes / item.size).max(1).ilog2();
        // Whole chunks, and beyond that what registers hold, and code is soon compiled for.
        let least = chunk(run_items as usize * item.size) / chunk(item.size);
        let written_out = match scalars(item) {
            _ if item.size == 1 => 32,
            ..=2 => 16,
            _ => 4,
        };
        let most = 1 << (UNIT_BYTES / item.size).clamp(1, written_out).ilog2();
        let unit_items = (least.max(most) as u32).min(run_items);
        // What a lane looks at stays in registers, and is combined by code that is written out.
        let places = 1 << (SEEN_BYTES / item.size).clamp(1, 4).ilog2();
        let of_warps = |warps| Self {
            run_items,
            rows: 1,
            unit_items,
            warps,
            groups: 1,
            blocks_per_multiprocessor: 1,
            places,
        };
        let has_room = |&warps: &u32| of_warps(warps).all_shared_bytes(item) <= MOST_SHARED_BYTES;
        let warps = successors(Some(warps), |warps| Some(warps / 2)).find(has_room).unwrap_or(1);
        // Warps that leave each other so many registers, of which bytes that are taken apart want more.
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

    /// Sixteen rows of chunks a warp, four warps a tile, three tiles a block: two such blocks have the shared memory of a
    /// multiprocessor of 9.0, and leave each thread 80 registers.
    fn of_rows(item: &Layout) -> Self {
        let run_items = (WIDEST_LOAD / item.size) as u32;
        // A lane looks at 16 bytes of values, too: with windows of 128 tiles, items of 8 bytes took longer.
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

    /// Whether a kernel can be made of it for items of this layout.
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
        if !(1..=MOST_GROUPS).contains(&groups) || warps > MOST_WARPS || warps * groups > MOST_WARPS {
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
        if self.all_shared_bytes(item) > MOST_SHARED_BYTES {
            return fail(
                "a block with one tile has at most 64 KiB of shared memory: its items, and what stands between runs and beside them",
            );
        }
        if !matches!(self.blocks_per_multiprocessor, 1..=32) {
            return fail("blocks_per_multiprocessor is 1 to 32");
        }
        Ok(())
    }

    /// Items of one tile, of so many warps.
    pub fn tile_items(&self, warps: u32) -> u64 {
        u64::from(self.run_items) * u64::from(self.rows) * 32 * u64::from(warps)
    }

    /// Tiles that a block has at once, at most, where its shared memory is limited.
    pub fn most_groups(&self, item: &Layout, limits: Limits) -> u32 {
        let fits = |&groups: &u32| {
            self.shared_bytes(item, groups * self.warps) + self.static_shared_bytes(item)
                <= limits.shared_bytes
        };
        (1..=self.groups).rev().find(fits).unwrap_or(1)
    }

    /// Shared memory of so many warps, in bytes.
    pub fn shared_bytes(&self, item: &Layout, warps: u32) -> usize {
        (warps * self.rows) as usize * exchange_bytes(self.run_items as usize * item.size)
    }

    /// Shared memory of a block with one tile.
    fn all_shared_bytes(&self, item: &Layout) -> usize {
        self.shared_bytes(item, self.warps).next_multiple_of(128) + self.static_shared_bytes(item)
    }

    /// What `templates/scan/scan.cuh` declares beside the tiles, for all groups: two values a warp, two of the tile, and some words.
    fn static_shared_bytes(&self, item: &Layout) -> usize {
        let value = item.size.next_multiple_of(4);
        self.groups as usize * ((2 * self.warps as usize + 2) * value + 32) + 128
    }

    /// Tiles of a window of tiles, and windows of a window of windows.
    pub fn window(&self) -> u64 {
        32 * u64::from(self.places)
    }

    /// Device memory that the blocks of a scan share, in bytes: a line, and a cell for each place of each window, on all levels.
    pub fn memory_bytes(&self, item: &Layout, tiles: u64) -> u64 {
        let cell = (item.size.div_ceil(4) as u64 * 8).next_multiple_of(PAIR);
        let window = self.window();
        let values = successors(Some(tiles), |&values| (values >= window).then_some(values / window));
        LINE + values.map(|values| values.next_multiple_of(window) * cell).sum::<u64>()
    }
}

#[cfg(test)]
mod tests;
