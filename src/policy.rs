//! Launch parameters and tile shapes: what is tuned, and never changes a result.
//!
//! The bracket's shape is a function of the number of items alone, so every power of two below is free. A policy is
//! fixed before compilation, for an item size; how many blocks an input gets is decided at each launch.

use crate::{Error, Layout};

/// The bytes that one GPU lane loads at once at most.
const WIDEST_LOAD: usize = 16;
/// A group larger than this is not made: its items are loaded one by one, in narrower words.
const LARGEST_GROUP: usize = 128;
/// A lane loads at least so much at once, if the items allow it: what it combines itself needs no shuffles.
const LEAST_GROUP: usize = 32;
/// The bytes of a tile that a lane holds at most, unless one group is larger.
const LANE_BYTES: usize = 192;
/// Shared memory of a block for tiles on their way: what two blocks of a multiprocessor have room for.
const RING_BYTES: usize = 100_000;
/// The bytes of a line of memory: a tile keeps its place in one.
const LINE: usize = 128;
/// Blocks that one wave should have, before warps get more than a row each.
const WAVE_BLOCKS: u64 = 256;
/// Device memory for partials, whatever the input's size.
const PARTIAL_BYTES: usize = 64 << 10;

/// How an input is cut into loads, tiles, blocks and launches.
///
/// The default of an item is [`Policy::for_item`]; [`Reduction::with_policy`](crate::Reduction::with_policy) takes
/// another, for measurements and tests. Results are the same bits under every policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Bytes of one load: a power of two, at most 16, that divides the bytes of a group. Below 4, and for inputs whose
    /// address is not a multiple of it, groups are loaded in words of 4 bytes, one row at a time.
    pub width: u32,
    /// Items that one lane loads at once: a power of two.
    pub group_items: u32,
    /// Groups that one lane holds at once: a power of two, at most 32.
    pub rows: u32,
    /// Warps of a block: a power of two, at most 32.
    pub warps: u32,
    /// Tiles that a warp has on their way to shared memory, where items come by bulk copies; if 0, none do.
    pub stages: u32,
    /// Inputs of at least so many bytes come by bulk copies, on architectures that have them (9.0 and later), and so do
    /// those of more than one block that wide loads cannot reach. Others are loaded by the lanes.
    pub bulk_bytes: u64,
    /// Tiles that a warp reduces at most, where the input has enough blocks without more: a power of two.
    pub tiles_per_warp: u32,
    /// Blocks that each multiprocessor should hold at once: what bounds the registers of a kernel.
    pub blocks_per_multiprocessor: u32,
    /// Inputs of at most this many items are reduced by one block, in one launch.
    pub one_block_items: u64,
    /// The most blocks of a launch, which is the most partials of a reduction.
    pub max_blocks: u32,
}

/// One launch: every block reduces `rows_per_warp` rows, of one group a lane, with each of its warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks, each of which writes one partial.
    pub blocks: u32,
    /// A power of two.
    pub rows_per_warp: u64,
}

impl Policy {
    /// The policy for items of this layout, on every architecture. Chosen by reasoning and a few measurements on one
    /// NVIDIA H200; no search has been run.
    pub fn for_item(item: &Layout) -> Self {
        let size = item.size;
        // The fewest items whose bytes are a multiple of the widest load, and enough of them.
        let whole = WIDEST_LOAD / WIDEST_LOAD.min(1 << size.trailing_zeros());
        let (group_items, width) = match size * whole {
            bytes if bytes <= LARGEST_GROUP => {
                (whole * LEAST_GROUP.div_ceil(bytes).next_power_of_two(), WIDEST_LOAD)
            }
            _ => (1, WIDEST_LOAD.min(1 << size.trailing_zeros())),
        };
        let rows = match width {
            4.. => (LANE_BYTES / (size * group_items)).clamp(1, 8),
            _ => 1,
        };
        let rows = 1_usize << rows.ilog2();
        let warps = 8;
        let tile = 32 * rows * size * group_items;
        Self {
            width: width as u32,
            group_items: group_items as u32,
            rows: rows as u32,
            warps: warps as u32,
            stages: (RING_BYTES / (warps * slot_bytes(tile))).clamp(1, 4) as u32,
            bulk_bytes: u64::MAX,
            tiles_per_warp: 4,
            blocks_per_multiprocessor: if size < 24 { 3 } else { 2 },
            one_block_items: (PARTIAL_BYTES / size) as u64,
            max_blocks: (PARTIAL_BYTES / size).min(8192) as u32,
        }
    }

    /// Whether a kernel can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        let Self { width, group_items, rows, warps, tiles_per_warp, .. } = *self;
        if ![width, group_items, rows, warps, tiles_per_warp].into_iter().all(u32::is_power_of_two) {
            return fail("width, group_items, rows, warps and tiles_per_warp are powers of two");
        }
        if width > 16 || rows > 32 || warps > 32 {
            return fail("width is at most 16, rows and warps at most 32");
        }
        let group = item.size as u64 * u64::from(group_items);
        if !group.is_multiple_of(u64::from(width)) {
            return fail("the bytes of a group are a multiple of width");
        }
        if group > 1 << 10 {
            return fail("a group is at most 1024 bytes");
        }
        if self.shared_bytes(item) > RING_BYTES {
            return fail("the tiles on their way have at most 100,000 bytes");
        }
        if self.max_blocks == 0 || self.blocks_per_multiprocessor == 0 {
            return fail("max_blocks and blocks_per_multiprocessor are at least 1");
        }
        Ok(())
    }

    /// The launches that reduce `length` items: one, or one that leaves partials and one that finishes them.
    pub fn launches(&self, length: u64) -> (Launch, Option<Launch>) {
        if length <= self.one_block_items {
            return (self.one_block(length), None);
        }
        let first = self.launch(length, self.max_blocks);
        let second = (first.blocks > 1).then(|| self.one_block(first.blocks.into()));
        (first, second)
    }

    /// The launch of one block that reduces `length` items.
    pub(crate) fn one_block(&self, length: u64) -> Launch {
        self.launch(length, 1)
    }

    /// Items of one tile, which a warp reduces in registers.
    pub fn tile_items(&self) -> u64 {
        u64::from(self.group_items) * 32 * u64::from(self.rows)
    }

    /// The same for the kernel whose lanes load.
    pub fn direct(self) -> Self {
        Self { stages: 0, ..self }
    }

    /// The same for the kernel whose items come by bulk copies. Its tiles leave room for two blocks of a multiprocessor, and
    /// four of half the warps are faster: they wait for one another less.
    pub fn bulk(self) -> Self {
        let half = self.warps.div_ceil(2);
        // A lane that takes many items apart needs more registers than four blocks leave it.
        let blocks = match self.group_items {
            ..16 => 4,
            16..32 => 3,
            _ => 2,
        };
        Self { warps: half, blocks_per_multiprocessor: blocks, ..self }
    }

    /// Whether an input at an address comes by bulk copies, where there are such.
    pub(crate) fn in_bulk(&self, item: &Layout, address: u64, length: u64) -> bool {
        let bytes = length.saturating_mul(item.size as u64);
        let aligned = address.is_multiple_of(u64::from(self.width));
        self.stages > 0 && (bytes >= self.bulk_bytes || !(aligned || length <= self.one_block_items))
    }

    /// Shared memory that a block needs for tiles on their way, in bytes.
    pub fn shared_bytes(&self, item: &Layout) -> usize {
        let tile = item.size * self.tile_items() as usize;
        self.warps as usize * self.stages as usize * slot_bytes(tile)
    }

    /// Powers of two of rows a warp: one for small inputs, up to a few tiles once a wave of blocks is full, and then as
    /// many as it takes for at most `max_blocks` blocks.
    fn launch(&self, length: u64, max_blocks: u32) -> Launch {
        let row_items = u64::from(self.group_items) * 32;
        let blocks = length.div_ceil(row_items * u64::from(self.warps)).max(1);
        let few = u64::from(self.rows) * u64::from(self.tiles_per_warp);
        let rows_per_warp = blocks.div_ceil(WAVE_BLOCKS).next_power_of_two().min(few);
        let rows_per_warp = rows_per_warp.max(blocks.div_ceil(u64::from(max_blocks)).next_power_of_two());
        // A few rows, one after another, take longer than a whole tile.
        let rows_per_warp = if rows_per_warp > 1 { rows_per_warp.max(self.rows.into()) } else { 1 };
        Launch { blocks: blocks.div_ceil(rows_per_warp) as u32, rows_per_warp }
    }
}

/// A tile's place in shared memory, with that of its barrier.
fn slot_bytes(tile: usize) -> usize {
    (tile + LINE - 1).next_multiple_of(LINE) + size_of::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceType;

    fn shape_of<T: DeviceType>() -> (u32, u32, u32) {
        let policy = Policy::for_item(&T::layout());
        (policy.width, policy.group_items, policy.rows)
    }

    #[test]
    fn groups_are_the_fewest_items_that_fill_whole_loads() {
        assert_eq!(shape_of::<u8>(), (16, 32, 4));
        assert_eq!(shape_of::<f32>(), (16, 8, 4));
        assert_eq!(shape_of::<[f32; 3]>(), (16, 4, 4));
        assert_eq!(shape_of::<[f32; 5]>(), (16, 4, 2));
        assert_eq!(shape_of::<[f64; 3]>(), (16, 2, 4));
        assert_eq!(shape_of::<[f32; 25]>(), (4, 1, 1));
        assert_eq!(shape_of::<[u8; 255]>(), (1, 1, 1));
        assert_eq!(shape_of::<[u8; 256]>(), (16, 1, 1));
    }

    #[test]
    fn every_item_is_in_one_block() {
        let policy = Policy::for_item(&f32::layout());
        for length in [1, 5, 1024, 8192, 8193, 16384, 16385, 1 << 20, (1 << 26) + 1, 1 << 33, (1 << 37) + 17]
        {
            let (first, second) = policy.launches(length);
            let row_items = u64::from(policy.group_items) * 32;
            let block_items = row_items * u64::from(policy.warps) * first.rows_per_warp;
            assert_eq!(u64::from(first.blocks), length.div_ceil(block_items));
            assert!(first.blocks <= policy.max_blocks);
            assert_eq!(second.is_some(), first.blocks > 1);
        }
    }

    #[test]
    fn small_inputs_take_one_launch() {
        for item in [u8::layout(), f32::layout(), <[f32; 3]>::layout(), <[u8; 256]>::layout()] {
            let policy = Policy::for_item(&item);
            for length in [0, 1, policy.one_block_items / 2, policy.one_block_items] {
                let (first, second) = policy.launches(length);
                assert_eq!((first.blocks, second), (1, None));
            }
            assert_eq!(policy.one_block_items, (64 << 10) / item.size as u64);
        }
    }

    #[test]
    fn policies_that_no_kernel_can_have_are_refused() {
        let item = u16::layout();
        let good = Policy::for_item(&item);
        assert!(good.check(&item).is_ok());
        let refused = |change: fn(&mut Policy)| {
            let mut policy = good;
            change(&mut policy);
            matches!(policy.check(&item), Err(Error::Policy { .. }))
        };
        assert!(refused(|policy| policy.rows = 3));
        assert!(refused(|policy| policy.rows = 64));
        assert!(refused(|policy| policy.warps = 0));
        assert!(refused(|policy| policy.group_items = 4));
        assert!(refused(|policy| policy.group_items = 1 << 20));
        assert!(refused(|policy| policy.max_blocks = 0));
    }
}
