//! The plan of a reduction: the policy, and the launches that it gives an input of some length.

use super::data::Data;
use super::kernel::Kernel;
use super::measured::Measured;
use super::memory::{TICKET_BYTES, cell_bytes, most_bytes, partial_bytes};
use super::shape::Shape;
use crate::{Error, Layout};

/// Most chunks of a launch. At 32 runs a chunk, the number of runs fits into 32 bits.
const MAX_CHUNKS: u32 = 1 << 26;
/// Most tiles of a warp if this makes one wave of blocks.
const WAVE_TILES: u32 = 8;
/// Most tiles of a warp if all waves are full, or nearly full.
const FULL_WAVE_TILES: u32 = 32;
/// Largest item, in bytes, that the small kernel reduces with one item per lane. For larger items
/// the shuffles cost more than loads of incomplete rows.
const MAX_LANE_BYTES: usize = 8;
/// Most bytes that one block reduces, if they are more than one item per lane. Above that, several
/// blocks are faster.
const ONE_BLOCK_BYTES: u64 = 48 << 10;
/// Lanes of the largest block.
const LANES_OF_BLOCK: u64 = 1024;
/// Warps of a block for a small input that makes many blocks, but not too many.
const SMALL_WARPS: u32 = 8;
/// Most partials of blocks of `SMALL_WARPS` warps that are gathered.
const MAX_SMALL_PARTIALS: u32 = 511;
/// Most 32-bit words of these partials.
const MAX_SMALL_WORDS: usize = 1024;
/// Most partials that the extra block gathers: 32 rows of 32, one row for each lane of a warp.
const MAX_GATHERED: u32 = 1024;

/// How an input is cut into loads, tiles, blocks and launches: the shapes of an operator's
/// kernels, and the inputs that each kernel is for.
///
/// The default for an item type is [`Policy::for_item`].
/// [`Reduction::with_policy`](crate::Reduction::with_policy) takes another one, for measurements
/// and tests. Every policy gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// Shape of the kernel for small inputs and for partials. It has no tiles, and minimises
    /// latency.
    pub small: Shape,
    /// Shape of the kernel for large inputs. It keeps memory busy.
    pub large: Shape,
    /// Shape of the kernel for all inputs until the tuned kernels are compiled. It has one item per
    /// lane, and compiles fast.
    pub baseline: Shape,
    /// Whether the policy uses the small and the large kernel. If not, the baseline reduces every
    /// input. It is slower, but compiles sooner.
    pub tuned: bool,
    /// Longest input, in items, that one block of the small kernel reduces, in one launch. Also
    /// applies to partials.
    pub one_block_items: u64,
    /// Longest input, in items, that one block of the small kernel reduces with one item per lane.
    /// Two conditions apply: the input is not whole rows, and a block can have enough lanes. The
    /// kernel never does this for items of more than 8 bytes, for which the default is zero.
    pub lane_each_items: u64,
    /// Largest input, in bytes, that is reduced without the large kernel.
    pub small_bytes: u64,
    /// Tiles of a warp of the large kernel in a chunk, if the input takes several waves of blocks.
    /// If at most 8 tiles a warp make one wave, a warp has those. A power of two.
    pub tiles_per_warp: u32,
    /// Most waves of blocks in which a warp of the large kernel has up to 32 tiles. 0 for never.
    /// Two conditions apply:
    ///
    /// - `large` has more runs than warps.
    /// - The waves are at least 15/16 full on a GPU of 128 multiprocessors.
    pub max_full_waves: u32,
    /// Most blocks of 8 warps that reduce a small input. If the input needs more, blocks have the
    /// warps of `small`.
    pub small_blocks: u32,
    /// Most partials of blocks of up to 8 warps that the extra block gathers.
    pub small_gathered: u32,
    /// Most partials of larger blocks without tiles that the extra block gathers: 0 to 1024. All
    /// other partials are reduced by further launches, like a small input.
    pub gathered_chunks: u32,
    /// Most chunks of a launch: 1 to 2^26. A launch has fewer if the memory of the reduction would
    /// exceed both 64 KiB and a thousandth of the input. The baseline may exceed these limits.
    pub max_chunks: u32,
}

/// One launch.
///
/// A chunk has `rows_per_warp` rows for each warp of a block. A row has one group for each lane.
/// A block that has one item per lane has only these items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel.
    pub kernel: Kernel,
    /// Number of chunks. Each is reduced to one partial.
    pub chunks: u32,
    /// Warps of a block. A power of two.
    pub warps: u32,
    /// Rows of a warp in a chunk. A power of two.
    pub rows_per_warp: u64,
    /// Whether an extra block gathers the partials, and writes the result.
    pub gathers: bool,
}

/// The arguments of a launch that describe how a block divides its items.
///
/// If all chunks are whole rows, a warp may have two rows that merge
/// ([`Shape::merged_tiles`]). Then a block has half as many warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Warps of a block.
    pub warps: u32,
    /// Number of warps, of all blocks, that have items. Each has one run of 2^`row_level` rows.
    pub runs: u32,
    /// Base-2 logarithm of the rows of a warp.
    pub row_level: u32,
    /// Number of complete runs, in a kernel without tiles whose runs are one row, or the rows that
    /// merge. Otherwise 0. The warp of a complete run checks whether the address allows wide loads.
    pub whole: u32,
}

/// The launches of one reduction, from first to last.
#[derive(Clone, Debug)]
pub struct Launches {
    /// The policy of the launches after the first one.
    of_partials: Policy,
    next: Option<Launch>,
    /// The kernel that reduces partials.
    later: Kernel,
    /// Most chunks of its launches.
    most: u64,
    gathers: bool,
}

impl Iterator for Launches {
    type Item = Launch;

    fn next(&mut self) -> Option<Launch> {
        let launch = self.next?;
        let left = u64::from(launch.chunks);
        self.next = (!launch.is_final()).then(|| self.of_partials.launch(self.later, left, self.most));
        Some(launch)
    }
}

impl Launches {
    /// Scratch memory of the launches, in bytes: tickets, then the partials of each launch but the
    /// last.
    pub fn memory_bytes(&self, item: &Layout) -> u64 {
        let bytes = if self.gathers() { cell_bytes } else { partial_bytes };
        let chunks = self.clone().map(|launch| u64::from(launch.chunks));
        TICKET_BYTES + chunks.filter(|&chunks| chunks > 1).map(|chunks| bytes(item, chunks)).sum::<u64>()
    }

    /// Whether the extra block of the first launch gathers its partials.
    pub fn gathers(&self) -> bool {
        self.gathers
    }
}

impl Launch {
    /// Whether this launch writes the result.
    pub fn is_final(&self) -> bool {
        self.chunks == 1 || self.gathers
    }

    /// How the launch reduces `length` items with `shape`.
    pub fn partition(&self, shape: &Shape, length: u64) -> Partition {
        let (row, merged) = (shape.row_items(), shape.merged_rows());
        let is_wide = shape.rows == 1 && shape.width >= 4;
        // Whether every chunk is complete.
        let are_whole = is_wide && length > 0 && length.is_multiple_of(row * u64::from(self.warps));
        let merges = are_whole && self.rows_per_warp == 1 && self.warps >= merged;
        let (warps, rows) =
            if merges { (self.warps / merged, merged.into()) } else { (self.warps, self.rows_per_warp) };
        let run = row * rows;
        Partition {
            warps,
            // Fits: at most `MAX_CHUNKS` chunks of 32 runs. The runs of the baseline fit even if
            // the input is as large as the largest memory.
            runs: length.div_ceil(run) as u32,
            row_level: rows.ilog2(),
            whole: if is_wide && rows <= merged.into() { (length / run) as u32 } else { 0 },
        }
    }
}

impl Policy {
    /// The policy for an array of items of this layout, on every architecture.
    ///
    /// The shape of the large kernel comes from a search on an NVIDIA H200
    /// (`docs/PERFORMANCE.md`). No other architecture has been measured.
    pub fn for_item(item: &Layout) -> Self {
        Self::for_data(&Data::of_items(item))
    }

    /// The policy for any data: the elements of one or several arrays, and the items that they
    /// become.
    pub fn for_data(data: &Data) -> Self {
        let (small, large, item) = (Shape::small(data), Shape::large(data), &data.item);
        let Measured { tiles, max_full_waves, small_blocks, .. } = Measured::of(data);
        Self {
            small,
            large,
            baseline: Shape::baseline(item.size),
            tuned: true,
            one_block_items: small.block_items().min(LANES_OF_BLOCK.max(ONE_BLOCK_BYTES / item.size as u64)),
            lane_each_items: if item.size <= MAX_LANE_BYTES { 32 * u64::from(small.warps) } else { 0 },
            // One row a warp, or the rows that merge.
            small_bytes: small.row_items()
                * u64::from(small.merged_rows())
                * item.size as u64
                * small.wave_warps(),
            tiles_per_warp: tiles,
            max_full_waves,
            small_blocks,
            small_gathered: MAX_SMALL_PARTIALS.min((MAX_SMALL_WORDS / item.size.div_ceil(4)) as u32),
            // Items of many numbers, or in local memory, need more registers to be gathered.
            gathered_chunks: if Measured::has_many_scalars(data) || large.rows == 1 {
                0
            } else {
                MAX_GATHERED
            },
            max_chunks: 16384,
        }
    }

    /// Number of blocks for a launch, on a GPU that holds `resident` blocks at once.
    ///
    /// - Without tiles: one block for each chunk, and one that gathers.
    /// - With tiles: each block takes several chunks. These are the fewest blocks that need no more
    ///   waves than `resident` blocks.
    pub fn blocks(&self, launch: &Launch, resident: u32) -> u32 {
        if self.shape(launch.kernel).rows == 1 {
            return launch.chunks + u32::from(launch.gathers);
        }
        launch.chunks.div_ceil(launch.chunks.div_ceil(resident.max(1)))
    }

    /// The shape of a kernel of reductions.
    pub fn shape(&self, kernel: Kernel) -> Shape {
        match kernel {
            Kernel::Large => self.large,
            Kernel::Baseline => self.baseline,
            _ => self.small,
        }
    }

    /// The same policy with the baseline kernel alone.
    pub fn baseline_only(&self) -> Self {
        Self { tuned: false, ..*self }
    }

    /// The kernels that its launches use.
    pub(crate) fn kernels(&self) -> &'static [Kernel] {
        if self.tuned { &Kernel::TUNED } else { &[Kernel::Baseline] }
    }

    /// Checks that the kernels of this policy can be compiled for `data`.
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
        if self.gathered_chunks > MAX_GATHERED {
            return fail("gathered_chunks is at most 1024");
        }
        if !(1..=MAX_CHUNKS).contains(&self.max_chunks) {
            return fail("max_chunks is 1 to 2^26");
        }
        Ok(())
    }

    /// The launches that reduce `length` items. Each leaves one partial per chunk to the next
    /// launch. The last one writes the result.
    pub fn launches(&self, item: &Layout, length: u64) -> Launches {
        self.launches_before(self, item, length)
    }

    /// The launches that reduce `length` items, where later launches use the policy `of_partials`
    /// for an array of items.
    pub fn launches_before(&self, of_partials: &Self, item: &Layout, length: u64) -> Launches {
        let bytes = length.saturating_mul(item.size as u64);
        let (first, later) = match self.tuned {
            true if bytes <= self.small_bytes => (Kernel::Small, Kernel::Small),
            true => (Kernel::Large, Kernel::Small),
            false => (Kernel::Baseline, Kernel::Baseline),
        };
        let room = (most_bytes(item, length) - TICKET_BYTES) / item.size as u64;
        let most = |room: u64| room.min(self.max_chunks.into());
        // A launch reads the partials of the previous one and writes its own. Both need room.
        let next = self.launch(first, length, most(room - room / 16));
        let gathers = self.gathers(item, length, &next);
        let next = Launch { gathers, ..next };
        Launches { of_partials: *of_partials, next: Some(next), later, most: most(room / 64), gathers }
    }

    /// Whether the extra block of the first launch gathers its partials.
    fn gathers(&self, item: &Layout, length: u64, first: &Launch) -> bool {
        let has_room = TICKET_BYTES + cell_bytes(item, first.chunks.into()) <= most_bytes(item, length);
        let most = match first.kernel {
            Kernel::Small if first.warps <= SMALL_WARPS => self.gathered_chunks.min(self.small_gathered),
            Kernel::Small | Kernel::Large if self.shape(first.kernel).rows == 1 => self.gathered_chunks,
            _ => 0,
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

    /// One block of the small kernel. With few items that are not whole rows, each lane has one
    /// item. Otherwise the block has one warp per row, or several rows for each of its warps.
    pub(crate) fn one_block(&self, length: u64) -> Launch {
        let (row, most) = (self.small.row_items(), u64::from(self.small.warps));
        let has_lanes = length <= self.lane_each_items && !length.is_multiple_of(row);
        let rows = length.div_ceil(row).next_power_of_two();
        let warps = if has_lanes { length.div_ceil(32).next_power_of_two() } else { rows }.min(most);
        let kernel = Kernel::Small;
        Launch { kernel, chunks: 1, warps: warps as u32, rows_per_warp: rows.div_ceil(warps), gathers: false }
    }

    /// Divides the input into chunks. The rows of a warp are a power of two:
    ///
    /// - The rows that make one wave of warps, if these are few tiles.
    /// - The rows that make full waves, up to 32 tiles.
    /// - Otherwise `tiles_per_warp`, so that multiprocessors end at about the same time.
    ///
    /// A warp has more rows if the launch would have more than `most_chunks` chunks. The chunks of
    /// the baseline are limited in size, so it may exceed `most_chunks`.
    fn chunks_of(&self, kernel: Kernel, length: u64, most_chunks: u64) -> Launch {
        let shape = &self.shape(kernel);
        let blocks_of = |warps: u32| length.div_ceil(shape.row_items() * u64::from(warps)).max(1);
        let few = kernel == Kernel::Small && blocks_of(SMALL_WARPS) <= self.small_blocks.into();
        let warps = if few { shape.warps.min(SMALL_WARPS) } else { shape.warps };
        let chunks = blocks_of(warps);
        let wave = (chunks * u64::from(warps)).div_ceil(shape.wave_warps()).next_power_of_two();
        let rows_of = |tiles: u32| u64::from(shape.rows) * u64::from(tiles);
        let many = wave.min(rows_of(FULL_WAVE_TILES));
        let (all, full_wave) = (chunks * u64::from(warps), many * shape.wave_warps());
        let waves = all.div_ceil(full_wave);
        let is_full = 16 * all >= 15 * waves * full_wave && waves <= self.max_full_waves.into();
        let has_many = wave <= rows_of(WAVE_TILES) || is_full && shape.runs > warps;
        let rows_per_warp = if has_many { many } else { rows_of(self.tiles_per_warp) };
        let rows_per_warp = rows_per_warp.max(chunks.div_ceil(most_chunks).next_power_of_two());
        // At least a tile. A chunk of the baseline has at most as many tiles as a tile has items,
        // because their values are reduced as one tile.
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
