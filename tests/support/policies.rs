//! The lengths and the policies that a kernel is tested with.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::{DeviceType, Policy};

/// The longest input of the tests that every operator goes through.
pub const MOST: usize = 1 << 16;

/// Lengths that matter to a policy: all small ones, and each side of every edge up to `most`.
pub fn lengths(policy: &Policy, most: usize, seed: u64) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=300).collect();
    let group = policy.group_items as usize;
    let (row, tile) = (32 * group, policy.tile_items() as usize);
    let block = tile * policy.warps as usize;
    for edge in [group, row, tile, block, policy.one_block_items as usize, block * policy.max_blocks as usize]
    {
        for multiple in [1, 2, 3, 4, 7, 8] {
            lengths.extend([edge * multiple - 1, edge * multiple, edge * multiple + 1]);
        }
    }
    let mut random = SmallRng::seed_from_u64(seed);
    lengths.extend((0..8).map(|_| random.random_range(0..=most)));
    lengths.retain(|&length| length <= most);
    lengths.sort();
    lengths.dedup();
    lengths
}

/// The policies that a test goes through: the default, and others that cut the same input elsewhere.
pub fn policies<T: DeviceType>() -> Vec<Policy> {
    let default = Policy::for_item(&T::layout());
    let mut tiny = default;
    tiny.rows = 1;
    tiny.warps = 1;
    tiny.stages = 2;
    tiny.tiles_per_warp = 1;
    tiny.max_blocks = 7;
    tiny.one_block_items = 10;
    let mut large = default;
    large.rows = (2 * default.rows).min(32);
    large.warps = 32;
    // There is no shared memory for the tiles of so many warps: lanes load for themselves, as before bulk copies.
    large.stages = 0;
    large.max_blocks = 3;
    large.one_block_items = 1 << 20;
    // A wide item with many warps has no registers for them.
    if size_of::<T>() > 16 {
        large.warps = 4;
        large.rows = default.rows;
        large.stages = 1;
    }
    let mut ungrouped = default;
    ungrouped.group_items = 1;
    ungrouped.width = align_of::<T>().min(16) as u32;
    ungrouped.rows = 2.min(default.rows);
    ungrouped.max_blocks = 64;
    ungrouped.warps = 16.min(default.warps);
    vec![default, tiny, large, ungrouped]
}
