//! The plan of a reduction: its policy, and from a length to launches.

use super::data::Data;
use super::kernel::Kernel;
use super::measured::Measured;
use super::memory::{TICKET_BYTES, cell_bytes, most_bytes, partial_bytes};
use super::shape::Shape;
use crate::{Error, Layout};

/// Chunks of a launch, at most: their runs are counted in 32 bits.
const MOST_CHUNKS: u32 = 1 << 26;
/// Tiles of a warp, at most, where that makes one wave of blocks; and where it makes waves that are full, or nearly.
const WAVE_TILES: u32 = 8;
const FULL_WAVE_TILES: u32 = 32;
/// Items that may have a lane each, at most: of larger ones shuffles cost more than to load parts of rows.
const MOST_LANE_BYTES: usize = 8;
/// What one block reduces, at most, if that is more than an item for each of its lanes: of more, several are sooner done.
const ONE_BLOCK_BYTES: u64 = 48 << 10;
/// Of the largest block.
const LANES_OF_BLOCK: u64 = 1024;
/// Warps of a block where a small input has many, but not too many.
const SMALL_WARPS: u32 = 8;
/// Partials of those, and words of them, at most, if they are gathered.
const MOST_SMALL_PARTIALS: u32 = 511;
const MOST_SMALL_WORDS: usize = 1024;
/// Partials that a block more gathers, at most: as many rows of 32 as a warp has lanes.
const MOST_GATHERED: u32 = 1024;

/// How an input is cut into loads, tiles, blocks and launches: the shapes of an operator's kernels, and which inputs each
/// is for.
///
/// The default of an item is [`Policy::for_item`]; [`Reduction::with_policy`](crate::Reduction::with_policy) takes
/// another, for measurements and tests. Results are the same bits under every policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// For small inputs, and for partials: made to be done soon, and without tiles.
    pub small: Shape,
    /// For large inputs: made to keep memory busy.
    pub large: Shape,
    /// For all inputs while the others are compiled: made to be soon compiled. Of one item a lane.
    pub baseline: Shape,
    /// Whether there are others. If not, the baseline reduces everything: slower, and sooner compiled.
    pub tuned: bool,
    /// Inputs, and partials, of at most this many items are reduced by one block of the small kernel, in one launch.
    pub one_block_items: u64,
    /// Of those, at most so many have a lane of the small kernel each, where they are no whole rows and a block can have as many lanes;
    /// items of more than 8 bytes, for which it is not made, never.
    pub lane_each_items: u64,
    /// Inputs of at most so many bytes are reduced without the large kernel.
    pub small_bytes: u64,
    /// Tiles that a warp of the large kernel has of a chunk, where that fills the GPU several times; if 8 or fewer fill it once, a
    /// warp has those. A power of two.
    pub tiles_per_warp: u32,
    /// Where warps have runs side by side, each has up to 32 tiles, if blocks of as many take at least 15/16 of a GPU of 128 multiprocessors
    /// in all of their turns, and the turns are at most so many; 0 for never.
    pub full_turns: u32,
    /// Blocks of 8 warps, at most, that reduce a small input; if it takes more, they have up to 32.
    pub small_blocks: u32,
    /// Partials of those blocks of 8 warps, at most, that one block more gathers.
    pub small_gathered: u32,
    /// Partials of other blocks without tiles, at most, that one block more gathers, up to 1024. All others are reduced as small inputs
    /// are.
    pub gathered_chunks: u32,
    /// The most chunks of a launch, up to 2^26. Short of it, all memory of a reduction is at most 64 KiB, or a thousandth of the
    /// input. The baseline may take more.
    pub max_chunks: u32,
}

/// One launch: every chunk is `rows_per_warp` rows, of one group a lane, for each warp of a block; or, where a block has a lane for
/// each of its few items, those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What is launched.
    pub kernel: Kernel,
    /// What blocks reduce to one partial each.
    pub chunks: u32,
    /// Warps of a block: a power of two.
    pub warps: u32,
    /// A power of two.
    pub rows_per_warp: u64,
    /// Whether one block more gathers the partials, and leaves the value of all.
    pub gathers: bool,
}

/// A launch, as its kernel is told. Rows merge, as a shape may have it, where each chunk is whole rows: then a warp has two, and a block
/// half as many warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Warps of a block.
    pub warps: u32,
    /// Warps, of all blocks, that have any items: a run of 2^`row_level` rows each.
    pub runs: u32,
    /// A warp's rows, as a power of two.
    pub row_level: u32,
    /// Runs of one row, or of those that merge, that have all of it. Where they are, each warp sees whether it may load them by wide loads.
    pub whole: u32,
}

/// The launches of one reduction, first to last.
#[derive(Clone, Debug)]
pub struct Launches {
    /// The policy of the launches after the first one.
    of_partials: Policy,
    next: Option<Launch>,
    /// What partials are reduced by, and into how many at most.
    later: Kernel,
    most: u64,
    gathers: bool,
}

impl Iterator for Launches {
    type Item = Launch;

    fn next(&mut self) -> Option<Launch> {
        let launch = self.next?;
        let left = u64::from(launch.chunks);
        self.next = (!launch.leaves_one()).then(|| self.of_partials.launch(self.later, left, self.most));
        Some(launch)
    }
}

impl Launches {
    /// Device memory that they have, in bytes: for tickets, and then for the partials of each but the last, one after another.
    pub fn memory_bytes(&self, item: &Layout) -> u64 {
        let bytes = if self.gathers() { cell_bytes } else { partial_bytes };
        let chunks = self.clone().map(|launch| u64::from(launch.chunks));
        TICKET_BYTES + chunks.filter(|&chunks| chunks > 1).map(|chunks| bytes(item, chunks)).sum::<u64>()
    }

    /// Whether the first launch gathers its partials.
    pub fn gathers(&self) -> bool {
        self.gathers
    }
}

impl Launch {
    /// Whether it leaves the value of all.
    pub fn leaves_one(&self) -> bool {
        self.chunks == 1 || self.gathers
    }

    /// How it reduces so many items.
    pub fn placed(&self, shape: &Shape, length: u64) -> Placed {
        let (row, merged) = (shape.row_items(), shape.merged_rows());
        let is_wide = shape.rows == 1 && shape.width >= 4;
        // Every chunk.
        let are_whole = is_wide && length > 0 && length.is_multiple_of(row * u64::from(self.warps));
        let merges = are_whole && self.rows_per_warp == 1 && self.warps >= merged;
        let (warps, rows) =
            if merges { (self.warps / merged, merged.into()) } else { (self.warps, self.rows_per_warp) };
        let run = row * rows;
        Placed {
            warps,
            // At most `MOST_CHUNKS` of 32; of the baseline as many for the largest memory that there is.
            runs: length.div_ceil(run) as u32,
            row_level: rows.ilog2(),
            whole: if is_wide && rows <= merged.into() { (length / run) as u32 } else { 0 },
        }
    }
}

impl Policy {
    /// The policy for an array of items of this layout, on every architecture. The kernel for large inputs has the shape that a search
    /// on an NVIDIA H200 found (`docs/PERFORMANCE.md`); no other architecture has been measured.
    pub fn for_item(item: &Layout) -> Self {
        Self::for_data(&Data::of_items(item))
    }

    /// The policy for any elements, of several arrays even, that become items.
    pub fn for_data(data: &Data) -> Self {
        let (small, large, item) = (Shape::small(data), Shape::large(data), &data.item);
        let Measured { tiles, full_turns, small_blocks, .. } = Measured::of(data);
        Self {
            small,
            large,
            baseline: Shape::baseline(item.size),
            tuned: true,
            one_block_items: small.block_items().min(LANES_OF_BLOCK.max(ONE_BLOCK_BYTES / item.size as u64)),
            lane_each_items: if item.size <= MOST_LANE_BYTES { 32 * u64::from(small.warps) } else { 0 },
            // A row a warp, or two.
            small_bytes: small.row_items()
                * u64::from(small.merged_rows())
                * item.size as u64
                * small.wave_warps(),
            tiles_per_warp: tiles,
            full_turns,
            small_blocks,
            small_gathered: MOST_SMALL_PARTIALS.min((MOST_SMALL_WORDS / item.size.div_ceil(4)) as u32),
            // Items of more scalars, or that do not stay in registers, would be gathered by too few registers.
            gathered_chunks: if Measured::has_many_numbers(data) || large.rows == 1 {
                0
            } else {
                MOST_GATHERED
            },
            max_chunks: 16384,
        }
    }

    /// Blocks that reduce the chunks of a launch, on a GPU that holds so many of them at once: one each, and one more that gathers; but where
    /// there are tiles fewer, which take one chunk after another, all as many.
    pub fn blocks(&self, launch: &Launch, resident: u32) -> u32 {
        if self.shape(launch.kernel).rows == 1 {
            return launch.chunks + u32::from(launch.gathers);
        }
        launch.chunks.div_ceil(launch.chunks.div_ceil(resident.max(1)))
    }

    /// The shape of a kernel.
    pub fn shape(&self, kernel: Kernel) -> Shape {
        match kernel {
            Kernel::Small => self.small,
            Kernel::Large => self.large,
            Kernel::Baseline => self.baseline,
        }
    }

    /// The same policy by the baseline alone.
    pub fn untuned(&self) -> Self {
        Self { tuned: false, ..*self }
    }

    /// Those that it has launches of.
    pub(crate) fn kernels(&self) -> &'static [Kernel] {
        if self.tuned { &Kernel::TUNED } else { &[Kernel::Baseline] }
    }

    /// Whether kernels can be made of it for such data.
    pub(crate) fn check(&self, data: &Data) -> Result<(), Error> {
        Kernel::TUNED.into_iter().try_for_each(|kernel| self.shape(kernel).check(data))?;
        self.baseline.check_baseline(data)?;
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        if self.small.rows != 1 {
            return fail("the kernel for small inputs has no tiles");
        }
        if !self.tiles_per_warp.is_power_of_two() {
            return fail("tiles_per_warp is a power of two");
        }
        if self.gathered_chunks > MOST_GATHERED {
            return fail("gathered_chunks is at most 1024");
        }
        if !(1..=MOST_CHUNKS).contains(&self.max_chunks) {
            return fail("max_chunks is 1 to 2^26");
        }
        Ok(())
    }

    /// The launches that reduce `length` items, each of which leaves a partial a chunk to the next one. The last has one
    /// chunk.
    pub fn launches(&self, item: &Layout, length: u64) -> Launches {
        self.launches_before(self, item, length)
    }

    /// The same, where partials are reduced under another policy: one for an array of items.
    pub(crate) fn launches_before(&self, of_partials: &Self, item: &Layout, length: u64) -> Launches {
        let bytes = length.saturating_mul(item.size as u64);
        let (first, later) = match self.tuned {
            true if bytes <= self.small_bytes => (Kernel::Small, Kernel::Small),
            true => (Kernel::Large, Kernel::Small),
            false => (Kernel::Baseline, Kernel::Baseline),
        };
        let room = (most_bytes(item, length) - TICKET_BYTES) / item.size as u64;
        let most = |room: u64| room.min(self.max_chunks.into());
        // Each launch leaves what the next one reads, and beside it there is room for what that leaves.
        let next = self.launch(first, length, most(room - room / 16));
        let gathers = self.gathers(item, length, &next);
        let next = Launch { gathers, ..next };
        Launches { of_partials: *of_partials, next: Some(next), later, most: most(room / 64), gathers }
    }

    /// Whether a block more of the first launch gathers its partials.
    fn gathers(&self, item: &Layout, length: u64, first: &Launch) -> bool {
        let has_room = TICKET_BYTES + cell_bytes(item, first.chunks.into()) <= most_bytes(item, length);
        let most = match first.kernel {
            Kernel::Small if first.warps <= SMALL_WARPS => self.gathered_chunks.min(self.small_gathered),
            Kernel::Small | Kernel::Large if self.shape(first.kernel).rows == 1 => self.gathered_chunks,
            Kernel::Small | Kernel::Large | Kernel::Baseline => 0,
        };
        has_room && (2..=most).contains(&first.chunks)
    }

    fn launch(&self, kernel: Kernel, length: u64, most: u64) -> Launch {
        let fits = length <= self.one_block_items.max(1) || most <= 1;
        match kernel {
            Kernel::Small | Kernel::Large if fits => self.one_block(length),
            _ => self.chunks_of(kernel, length, most),
        }
    }

    /// One block of the small kernel: where few are no whole rows, with a lane an item; or of as many warps as there are rows, and then with
    /// more rows for each.
    pub(crate) fn one_block(&self, length: u64) -> Launch {
        let (row, most) = (self.small.row_items(), u64::from(self.small.warps));
        let has_lanes = length <= self.lane_each_items && !length.is_multiple_of(row);
        let rows = length.div_ceil(row).next_power_of_two();
        let warps = if has_lanes { length.div_ceil(32).next_power_of_two() } else { rows }.min(most);
        let kernel = Kernel::Small;
        Launch { kernel, chunks: 1, warps: warps as u32, rows_per_warp: rows.div_ceil(warps), gathers: false }
    }

    /// Powers of two of rows a warp: as many as it takes for one wave of warps if that is few tiles, or for full waves, else fewer, so that
    /// multiprocessors end at the same time; and as many as it takes for at most `most_chunks`, if a chunk can have so many.
    fn chunks_of(&self, kernel: Kernel, length: u64, most_chunks: u64) -> Launch {
        let shape = &self.shape(kernel);
        let blocks_of = |warps: u32| length.div_ceil(shape.row_items() * u64::from(warps)).max(1);
        let few = kernel == Kernel::Small && blocks_of(SMALL_WARPS) <= self.small_blocks.into();
        let warps = if few { shape.warps.min(SMALL_WARPS) } else { shape.warps };
        let chunks = blocks_of(warps);
        let wave = (chunks * u64::from(warps)).div_ceil(shape.wave_warps()).next_power_of_two();
        let rows_of = |tiles: u32| u64::from(shape.rows) * u64::from(tiles);
        let many = wave.min(rows_of(FULL_WAVE_TILES));
        let (all, turn) = (chunks * u64::from(warps), many * shape.wave_warps());
        let turns = all.div_ceil(turn);
        let is_full = 16 * all >= 15 * turns * turn && turns <= self.full_turns.into();
        let has_many = wave <= rows_of(WAVE_TILES) || is_full && shape.runs > warps;
        let rows_per_warp = if has_many { many } else { rows_of(self.tiles_per_warp) };
        let rows_per_warp = rows_per_warp.max(chunks.div_ceil(most_chunks).next_power_of_two());
        // No less than a tile; and tiles whose values are a tile at most, where there is no counter of them.
        let mut rows_per_warp = rows_per_warp.max(shape.rows.into());
        if kernel == Kernel::Baseline {
            rows_per_warp = rows_per_warp.min(shape.block_items());
        }
        let chunks = chunks.div_ceil(rows_per_warp) as u32;
        Launch { kernel, chunks, warps, rows_per_warp, gathers: false }
    }
}

#[cfg(test)]
pub(super) mod tests;
