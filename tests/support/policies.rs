//! The lengths and the policies that kernels are tested with.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::{DeviceType, Policy};

/// Length of the longest input that every operator is tested with, in items.
pub const MOST: usize = 1 << 16;

/// Lengths for a policy: all small ones, and both sides of every edge up to `most`.
pub fn lengths(policy: &Policy, most: usize, seed: u64) -> Vec<usize> {
    let mut lengths: Vec<usize> = (0..=300).collect();
    let shape = match policy.tuned {
        true if policy.small_bytes > 0 => &policy.small,
        true => &policy.large,
        false => &policy.baseline,
    };
    let group = shape.group_items as usize;
    let (row, tile) = (32 * group, shape.tile_items() as usize);
    let block = tile * shape.warps as usize;
    let (lanes, one_block) = (policy.lane_each_items.max(1) as usize, policy.one_block_items as usize);
    for edge in [group, row, tile, block, lanes, one_block, block * policy.max_chunks as usize] {
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

/// The default kernels, with the large kernel for all but the shortest inputs. Its runs are long.
pub fn large_kernels<T: DeviceType>() -> Policy {
    let default = Policy::for_item(&T::layout());
    Policy { one_block_items: 10.min(default.one_block_items), small_bytes: 0, max_chunks: 3, ..default }
}

/// The baseline alone, with at most three chunks.
pub fn baseline<T: DeviceType>() -> Policy {
    Policy { max_chunks: 3, ..Policy::for_item(&T::layout()).baseline_only() }
}

/// Two chunks, each of one warp with one run of small tiles. Four tiles merge wherever there are
/// four.
pub fn merging<T: DeviceType>() -> Policy {
    let mut policy = Policy { max_chunks: 2, ..large_kernels::<T>() };
    let shape = &mut policy.large;
    // One run a warp, so that its counter combines all tiles.
    (shape.runs, shape.warps) = (1, 1);
    if shape.rows > 1 {
        // A lane's part of a tile is a multiple of 16 bytes.
        let group_bytes = shape.group_items as usize * size_of::<T>();
        while shape.rows > 2 && (shape.rows as usize / 2 * group_bytes).is_multiple_of(16) {
            shape.rows /= 2;
        }
        shape.merged_tiles = 4;
    }
    policy
}

/// Lengths at which one or both runs of [`merging`] are full, and lengths next to them.
pub fn full_runs(policy: &Policy) -> Vec<usize> {
    let run = 8 * policy.large.tile_items() as usize;
    [run, 2 * run].into_iter().flat_map(|full| full - 1..full + 4).collect()
}

/// Two warps, with `runs` runs of four small tiles side by side in each chunk, and at most
/// `max_chunks` chunks.
pub fn beside<T: DeviceType>(runs: u32, max_chunks: u32) -> Policy {
    let mut policy = Policy { max_chunks, ..merging::<T>() };
    (policy.large.runs, policy.large.warps) = (runs, 2);
    policy
}

/// The length at which all chunks of [`beside`] are full, and the lengths next to it.
pub fn full_chunks(policy: &Policy) -> std::ops::RangeInclusive<usize> {
    let full = (policy.max_chunks * 4 * policy.large.runs) as usize * policy.large.tile_items() as usize;
    full - 1..=full + 1
}

/// The policies under test: the default, and others that divide the same input differently.
pub fn policies<T: DeviceType>() -> Vec<Policy> {
    let default = Policy::for_item(&T::layout());
    let large = large_kernels::<T>();
    let mut tiny = Policy { tiles_per_warp: 1, max_chunks: 70, lane_each_items: 0, ..large };
    (tiny.large.rows, tiny.large.merged_tiles, tiny.large.warps) = (1, 1, 1);
    (tiny.small.rows, tiny.small.warps) = (1, 1);
    // Many warps of few rows, and few warps of many rows.
    let mut wide = Policy { max_chunks: 11, ..large };
    wide.large.warps = if size_of::<T>() <= 16 { 16 } else { 8 };
    let mut tall = large;
    (tall.large.warps, tall.large.runs) = (2, 1);
    if default.large.rows > 1 {
        wide.large.rows = 2 * default.large.rows.div_ceil(8);
        tall.large.rows = 2 * default.large.rows;
        (wide.large.merged_tiles, tall.large.merged_tiles) = (4, 1);
    }
    wide.large.blocks_per_multiprocessor = 1;
    tall.large.blocks_per_multiprocessor = 1;
    let mut ungrouped = Policy { max_chunks: 64, ..large };
    ungrouped.large.group_items = 1;
    ungrouped.large.width = align_of::<T>().min(16) as u32;
    // Tiles of one row, which merge.
    (ungrouped.large.rows, ungrouped.large.merged_tiles) = (1, 2);
    ungrouped.large.warps *= 2;
    let mut short = default;
    (short.small.rows, short.small.merged_tiles, short.small.warps) = (1, 2, 2);
    short.max_chunks = 64.min(default.max_chunks);
    (short.one_block_items, short.lane_each_items, short.small_gathered) = (5, 3, 0);
    let mut narrow = default.baseline_only();
    (narrow.baseline.warps, narrow.tiles_per_warp) = (1, 1);
    vec![default, large, tiny, wide, tall, ungrouped, short, default.baseline_only(), narrow]
}
