//! Launch parameters and tile shapes: what is tuned, and never changes a result.
//!
//! The bracket's shape is a function of the number of items alone, so every power of two below is free. A policy is
//! fixed before compilation, for an item size; how many blocks an input gets is decided at each launch.

use crate::{Error, Layout};

/// The bytes that one GPU lane loads at once at most.
const WIDEST_LOAD: usize = 16;
/// A group larger than this is not made: its items are loaded one by one, in narrower words.
const LARGEST_GROUP: usize = 128;
/// The bytes that a lane has in flight at most, unless one group is larger.
const LANE_BYTES: usize = 192;
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
    /// Blocks that each multiprocessor should hold at once: what bounds the registers of a kernel.
    pub blocks_per_multiprocessor: u32,
    /// Inputs of at most this many items are reduced by one block, in one launch.
    pub one_block_items: u64,
    /// The most blocks of a launch, which is the most partials of a reduction.
    pub max_blocks: u32,
}

/// One launch: every block reduces `tiles_per_warp` tiles with each of its warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// Blocks, each of which writes one partial.
    pub blocks: u32,
    /// A power of two.
    pub tiles_per_warp: u64,
}

impl Policy {
    /// The policy for items of this layout, on every architecture. Chosen by reasoning and a few measurements on one
    /// NVIDIA H200; no search has been run.
    pub fn for_item(item: &Layout) -> Self {
        let size = item.size;
        // The fewest items whose bytes are a multiple of the widest load.
        let whole = WIDEST_LOAD / WIDEST_LOAD.min(1 << size.trailing_zeros());
        let (group_items, width) = match size * whole {
            bytes if bytes <= LARGEST_GROUP => (whole, WIDEST_LOAD),
            _ => (1, WIDEST_LOAD.min(1 << size.trailing_zeros())),
        };
        let rows = match width {
            4.. => (LANE_BYTES / (size * group_items)).clamp(1, 8),
            _ => 1,
        };
        Self {
            width: width as u32,
            group_items: group_items as u32,
            rows: 1 << rows.ilog2(),
            warps: 8,
            blocks_per_multiprocessor: 1,
            one_block_items: (PARTIAL_BYTES / size) as u64,
            max_blocks: (PARTIAL_BYTES / size).min(8192) as u32,
        }
    }

    /// Whether a kernel can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        let Self { width, group_items, rows, warps, .. } = *self;
        if ![width, group_items, rows, warps].into_iter().all(u32::is_power_of_two) {
            return fail("width, group_items, rows and warps are powers of two");
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
        if self.max_blocks == 0 || self.blocks_per_multiprocessor == 0 {
            return fail("max_blocks and blocks_per_multiprocessor are at least 1");
        }
        Ok(())
    }

    /// The launches that reduce `length` items: one, or one that leaves partials and one that finishes them.
    pub fn launches(&self, length: u64) -> (Launch, Option<Launch>) {
        if length <= self.one_block_items {
            return (self.launch(length, 1), None);
        }
        let first = self.launch(length, self.max_blocks);
        let second = (first.blocks > 1).then(|| self.launch(u64::from(first.blocks), 1));
        (first, second)
    }

    /// Items of one tile, which a warp reduces in registers.
    pub fn tile_items(&self) -> u64 {
        u64::from(self.group_items) * 32 * u64::from(self.rows)
    }

    /// The smallest power of two of tiles a warp that at most `max_blocks` blocks reduce `length` items with.
    fn launch(&self, length: u64, max_blocks: u32) -> Launch {
        let block_items = self.tile_items() * u64::from(self.warps);
        let blocks = length.div_ceil(block_items).max(1);
        let tiles_per_warp = blocks.div_ceil(u64::from(max_blocks)).next_power_of_two();
        Launch { blocks: blocks.div_ceil(tiles_per_warp) as u32, tiles_per_warp }
    }
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
        assert_eq!(shape_of::<u8>(), (16, 16, 8));
        assert_eq!(shape_of::<f32>(), (16, 4, 8));
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
            let block_items = policy.tile_items() * u64::from(policy.warps) * first.tiles_per_warp;
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
