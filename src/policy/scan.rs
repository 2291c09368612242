//! The policy of scans.

use std::iter::successors;

use super::{Kernel, MULTIPROCESSORS, chunk, exchange_bytes, scalars};
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
    /// multiprocessors have work then.
    pub few_tiles: u64,
    /// The same where the blocks would make more than one wave, and at most so many, roughly: the last one ends more evenly. With
    /// 1 or 0 never.
    pub few_waves: u64,
}

/// One launch: each of its blocks scans one tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScanLaunch {
    /// What is launched.
    pub kernel: Kernel,
    /// Blocks, and tiles.
    pub tiles: u64,
    /// Warps of a block: as many as the kernel's shape has, or half of them.
    pub warps: u32,
}

/// The shape of a kernel that scans: what is fixed when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScanShape {
    /// Items of a tile that one lane has, side by side: a power of two.
    pub run_items: u32,
    /// Items of those that stay in registers at once, and for which code is written out: a power of two.
    pub unit_items: u32,
    /// Warps of a block, at most: a power of two, at most 32. A block has one tile.
    pub warps: u32,
    /// Blocks that each multiprocessor should hold at once: what bounds the registers of a kernel.
    pub blocks_per_multiprocessor: u32,
    /// Tiles of a window that one lane looks at, side by side: a power of two, at most 8. A window is 32 times as many.
    pub places: u32,
}

/// Shared memory of a block, at most: what every architecture gives one.
const MOST_SHARED_BYTES: usize = 64 << 10;
/// Bytes of a unit, at most, unless that is one item.
const UNIT_BYTES: usize = 64;
/// Bytes that a lane looks at of a window, at most, unless that is one item.
const SEEN_BYTES: usize = 32;
/// Shared memory of a multiprocessor of 9.0, of which a block takes `RESERVED_BYTES` for itself.
const MULTIPROCESSOR_BYTES: usize = 228 << 10;
const RESERVED_BYTES: usize = 1 << 10;
/// Bytes of a line of memory, which the word by which blocks take tiles has for itself.
const LINE: u64 = 128;
/// Bytes of a sector of a line, of which a cell has whole ones.
const SECTOR: u64 = 32;

impl ScanPolicy {
    /// The policy for items of this layout, on every architecture.
    pub fn for_item(item: &Layout) -> Self {
        let (small, large) = (ScanShape::of(item, 128, 8), ScanShape::of(item, 256, 4));
        Self { small, large, small_bytes: 64 << 20, few_tiles: 32, few_waves: 4 }
    }

    /// The shape of a kernel.
    pub fn shape(&self, kernel: Kernel) -> &ScanShape {
        match kernel {
            Kernel::Small => &self.small,
            Kernel::Large => &self.large,
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
    pub fn launch(&self, item: &Layout, length: u64) -> ScanLaunch {
        let kernel = self.kernel(item, length);
        let shape = self.shape(kernel);
        let wave = MULTIPROCESSORS * u64::from(shape.blocks_per_multiprocessor);
        let tiles = length.div_ceil(shape.tile_items(shape.warps));
        let halves = tiles <= self.few_tiles || (wave < tiles && tiles <= self.few_waves * wave);
        let warps = if halves { shape.warps.div_ceil(2) } else { shape.warps };
        ScanLaunch { kernel, tiles: length.div_ceil(shape.tile_items(warps)), warps }
    }

    /// Whether kernels can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        Kernel::ALL.into_iter().try_for_each(|kernel| self.shape(kernel).check(item))
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
        let of_warps = |warps| Self { run_items, unit_items, warps, blocks_per_multiprocessor: 1, places };
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

    /// Whether a kernel can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        let Self { run_items, unit_items, warps, places, .. } = *self;
        if ![run_items, unit_items, warps, places].into_iter().all(u32::is_power_of_two) {
            return fail("run_items, unit_items, warps and places are powers of two");
        }
        if places > 8 {
            return fail("places is at most 8");
        }
        if unit_items > run_items || warps > 32 {
            return fail("unit_items is at most run_items, warps at most 32");
        }
        if u64::from(run_items) * item.size as u64 > 1 << 10 {
            return fail("what a lane has of a tile is at most 1024 bytes");
        }
        let chunk = chunk(run_items as usize * item.size);
        if !(unit_items as usize * item.size).is_multiple_of(chunk) {
            return fail(
                "the bytes of a unit are a multiple of 16, or of what those of a run are a multiple of",
            );
        }
        if self.all_shared_bytes(item) > MOST_SHARED_BYTES {
            return fail(
                "a block has at most 64 KiB of shared memory: its tile, and what stands between runs and beside them",
            );
        }
        if !matches!(self.blocks_per_multiprocessor, 1..=32) {
            return fail("blocks_per_multiprocessor is 1 to 32");
        }
        Ok(())
    }

    /// Items of one tile, which a block of so many warps scans.
    pub fn tile_items(&self, warps: u32) -> u64 {
        u64::from(self.run_items) * 32 * u64::from(warps)
    }

    /// Shared memory of a block of so many warps, in bytes.
    pub fn shared_bytes(&self, item: &Layout, warps: u32) -> usize {
        warps as usize * exchange_bytes(self.run_items as usize * item.size)
    }

    /// With what `templates/scan.cuh` declares beside it: two values a warp, two of the tile, and some words.
    fn all_shared_bytes(&self, item: &Layout) -> usize {
        let value = item.size.next_multiple_of(4);
        self.shared_bytes(item, self.warps).next_multiple_of(128)
            + (2 * self.warps as usize + 2) * value
            + 128
    }

    /// Tiles of a window of tiles, and windows of a window of windows.
    pub fn window(&self) -> u64 {
        32 * u64::from(self.places)
    }

    /// Device memory that the blocks of a scan share, in bytes: a line, and a cell for each place of each window, on all levels.
    pub fn memory_bytes(&self, item: &Layout, tiles: u64) -> u64 {
        let cell = (item.size.div_ceil(4) as u64 * 8).next_multiple_of(SECTOR);
        let window = self.window();
        let values = successors(Some(tiles), |&values| (values >= window).then_some(values / window));
        LINE + values.map(|values| values.next_multiple_of(window) * cell).sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::items;
    use super::*;

    #[test]
    fn kernels_can_be_made_for_items_of_every_size() {
        for item in items() {
            let policy = ScanPolicy::for_item(&item);
            assert!(policy.check(&item).is_ok(), "{policy:?} for {} bytes", item.size);
        }
    }

    #[test]
    fn every_item_is_in_a_tile_and_every_tile_has_a_cell() {
        for item in items() {
            let policy = ScanPolicy::for_item(&item);
            let window = policy.large.window();
            let edges = [1, window, window * window].map(|tiles| tiles * policy.large.tile_items(1));
            let lengths = edges.into_iter().flat_map(|edge| [edge - 1, edge, edge + 1]);
            for length in lengths.chain([31, 1025, 1 << 20, (1 << 33) + 17]) {
                let ScanLaunch { kernel, tiles, warps } = policy.launch(&item, length);
                let shape = policy.shape(kernel);
                let (tile, window) = (shape.tile_items(warps), shape.window());
                assert!((tiles - 1) * tile < length && length <= tiles * tile);
                assert!(warps == shape.warps || 2 * warps == shape.warps || warps == 1);
                // Whoever looks at a window reads no further than it. Each level has its windows after the ones below.
                let (mut cells, mut values) = (0, tiles);
                while values > 0 {
                    cells += values.div_ceil(window) * window;
                    values /= window;
                }
                let cell = (item.size.div_ceil(4) as u64 * 8).div_ceil(32) * 32;
                assert_eq!(shape.memory_bytes(&item, tiles), LINE + cells * cell, "{tiles} tiles");
            }
        }
    }

    #[test]
    fn tiles_are_halved_where_there_are_few_of_them_or_of_waves() {
        let item = <f32 as crate::DeviceType>::layout();
        let policy = ScanPolicy::for_item(&item);
        let launches = [10, 20, 21, 24, 25, 26, 27, 30].map(|level| policy.launch(&item, 1 << (level - 2)));
        let halved = launches.map(|launch| launch.warps < policy.shape(launch.kernel).warps);
        assert_eq!(halved, [true, true, false, false, true, true, false, false]);
    }

    #[test]
    fn shapes_that_no_kernel_can_have_are_refused() {
        let item = <u16 as crate::DeviceType>::layout();
        let good = ScanPolicy::for_item(&item);
        let refused = |change: fn(&mut ScanPolicy)| {
            let mut policy = good;
            change(&mut policy);
            matches!(policy.check(&item), Err(Error::Policy { .. }))
        };
        assert!(refused(|policy| policy.large.run_items = 3));
        assert!(refused(|policy| policy.large.unit_items = 2));
        assert!(refused(|policy| policy.large.run_items = 4096));
        assert!(refused(|policy| policy.small.unit_items = 128));
        assert!(refused(|policy| policy.small.warps = 64));
        assert!(refused(|policy| policy.large.warps = 32));
        assert!(refused(|policy| policy.large.blocks_per_multiprocessor = 0));
        assert!(refused(|policy| policy.large.places = 3));
        assert!(refused(|policy| policy.small.places = 16));
    }
}
