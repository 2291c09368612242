//! Launch parameters and tile shapes: what is tuned, and never changes a result.
//!
//! The bracket's shape is a function of the number of items alone, so every power of two below is free. A kernel's shape
//! is fixed before compilation, for an item size; which kernel an input gets, and how many blocks of it, is decided at each
//! launch.

#[doc(hidden)]
pub mod ladder;
pub(crate) mod memory;
mod scan;
mod shape;

pub use self::scan::{Limits, ScanLaunch, ScanPolicy, ScanShape};
pub use self::shape::Shape;

use self::memory::{TICKET_BYTES, cell_bytes, most_bytes, partial_bytes};
use self::shape::{FEW_SCALARS, scalars};
use crate::{Error, Layout};

/// Chunks of a launch, at most: their runs are counted in 32 bits.
const MOST_CHUNKS: u32 = 1 << 26;
/// Of tiles of which a warp may have many.
const SMALL_TILE_BYTES: u64 = 4 << 10;
/// Tiles of a warp, at most, where that makes one wave of blocks; and where it makes waves that are full, or nearly.
const WAVE_TILES: u32 = 8;
const FULL_WAVE_TILES: u32 = 32;
/// Items that may have a lane each, at most: of larger ones shuffles cost more than to load parts of rows.
const MOST_LANE_BYTES: usize = 8;
/// What one block reduces, at most, if that is more than an item for each of its lanes: of more, several are sooner done.
const ONE_BLOCK_BYTES: u64 = 48 << 10;
/// Of the largest block.
const LANES_OF_BLOCK: u64 = 1024;
/// Partials that are gathered, at most: as many as `templates/gather.cuh` has room for.
const MOST_GATHERED: u32 = 4096;
/// Warps of a block where a small input has many, but not too many.
const SMALL_WARPS: u32 = 8;
/// Partials of those, and words of them, at most, if they are gathered.
const MOST_SMALL_PARTIALS: u32 = 511;
const MOST_SMALL_WORDS: usize = 1024;
/// Partials that a block more gathers, at most: as many rows of 32 as a warp has lanes.
const MOST_OF_BLOCKS: u32 = 1024;

/// How an input is cut into loads, tiles, blocks and launches: the shapes of an operator's kernels, and which inputs each
/// is for.
///
/// The default of an item is [`Policy::for_item`]; [`Reduction::with_policy`](crate::Reduction::with_policy) takes
/// another, for measurements and tests. Results are the same bits under every policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// For small inputs, and for what the large kernel leaves of others and is not gathered: made to be done soon, and without tiles. What
    /// is a row of it, or less, is left to a kernel for that ([`Kernel::Row`]).
    pub small: Shape,
    /// For large inputs: made to keep memory busy.
    pub large: Shape,
    /// For all inputs while the others are compiled: made to be soon compiled. Of one item a lane.
    pub baseline: Shape,
    /// Whether there are others. If not, the baseline reduces everything: slower, and sooner compiled.
    pub tuned: bool,
    /// Inputs, and partials, of at most this many items are reduced by one block, in one launch: of the small kernel, or, of a row or less
    /// of that, one warp of a kernel that does nothing else.
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
    /// Partials, at most, that one block gathers while others still leave them, if there is room for them with a mark at each word: of the large
    /// kernel up to 4096, by a launch of its own, and of larger blocks of the small one up to 1024. More are reduced as small inputs are.
    pub gathered_chunks: u32,
    /// The most chunks of a launch, up to 2^26. Short of it, all memory of a reduction is at most 64 KiB, or a thousandth of the
    /// input. The baseline may take more.
    pub max_chunks: u32,
}

/// Which of an operator's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// Of one row of [`Policy::small`], or less, by one warp; but not of what has a lane each ([`Policy::lane_each_items`]).
    Row,
    /// [`Policy::small`].
    Small,
    /// [`Policy::large`]: the same template in another shape.
    Large,
    /// What gathers the partials of the large one, from 9.0 on while they are left: one block, of a shape that is always the same. Those of the
    /// small one are gathered by a block of its own launch.
    Gather,
    /// [`Policy::baseline`]: a template of its own. Scans have none.
    Baseline,
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

/// A launch, when it is known where the items are. Rows merge, as a shape may have it, where each chunk is whole rows at an address for
/// wide loads: then a warp has two, and a block half as many warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed {
    /// Warps of a block.
    pub warps: u32,
    /// Warps, of all blocks, that have any items: a run of 2^`row_level` rows each.
    pub runs: u32,
    /// A warp's rows, as a power of two.
    pub row_level: u32,
    /// Runs of one row, or of those that merge, that have all of it, at an address for wide loads.
    pub whole: u32,
}

/// The launches of one reduction, first to last.
#[derive(Clone, Debug)]
pub struct Launches {
    policy: Policy,
    next: Option<Launch>,
    /// What the partials are reduced by, and into how many at most.
    later: Kernel,
    most: u64,
}

impl Iterator for Launches {
    type Item = Launch;

    fn next(&mut self) -> Option<Launch> {
        let launch = self.next?;
        let left = u64::from(launch.chunks);
        self.next = (!launch.leaves_one()).then(|| self.policy.launch(self.later, left, self.most));
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

    /// Whether partials are gathered.
    pub fn gathers(&self) -> bool {
        self.later == Kernel::Gather
    }
}

impl Launch {
    /// Whether it leaves the value of all.
    pub fn leaves_one(&self) -> bool {
        self.chunks == 1 || self.gathers
    }

    /// How it reduces so many items at an address.
    pub fn placed(&self, shape: &Shape, address: u64, length: u64) -> Placed {
        let (row, merged) = (shape.row_items(), shape.merged_rows());
        let is_wide = shape.rows == 1 && shape.width >= 4 && address.is_multiple_of(shape.width.into());
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

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Row, Self::Small, Self::Large, Self::Gather, Self::Baseline];
    /// Those that are not the baseline.
    pub const TUNED: [Self; 4] = [Self::Row, Self::Small, Self::Large, Self::Gather];
}

impl Policy {
    /// The policy for items of this layout, on every architecture. The kernel for large inputs has the shape that a search
    /// on an NVIDIA H200 found (`docs/PERFORMANCE.md`); no other architecture has been measured.
    pub fn for_item(item: &Layout) -> Self {
        let (small, large) = (Shape::small(item.size), Shape::large(item));
        let has_small_tiles = large.tile_items() * item.size as u64 <= SMALL_TILE_BYTES;
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
            // Of 20 bytes more partials would be too many for one launch to reduce soon.
            tiles_per_warp: if has_small_tiles || item.size == 20 { 8 } else { 4 },
            full_turns: if has_small_tiles { u32::MAX } else { 2 },
            small_blocks: if item.size <= 4 { 384 } else { 768 },
            small_gathered: MOST_SMALL_PARTIALS.min((MOST_SMALL_WORDS / item.size.div_ceil(4)) as u32),
            // Of more, or of items that have no tiles since they do not stay in registers, what gathers has too few of those.
            gathered_chunks: if scalars(item) > FEW_SCALARS || large.rows == 1 { 0 } else { MOST_GATHERED },
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
            Kernel::Row => Shape { warps: 1, merged_tiles: 1, ..self.small },
            Kernel::Small => self.small,
            Kernel::Large => self.large,
            Kernel::Gather => Shape::GATHER,
            Kernel::Baseline => self.baseline,
        }
    }

    /// The same policy by the baseline alone.
    pub fn untuned(&self) -> Self {
        Self { tuned: false, ..*self }
    }

    /// Those that it has launches of.
    pub(crate) fn kernels(&self) -> &'static [Kernel] {
        match (self.tuned, self.gathered_chunks > 1) {
            (true, true) => &Kernel::TUNED,
            (true, false) => &[Kernel::Row, Kernel::Small, Kernel::Large],
            (false, _) => &[Kernel::Baseline],
        }
    }

    /// Whether kernels can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        Kernel::TUNED.into_iter().try_for_each(|kernel| self.shape(kernel).check(item))?;
        self.baseline.check_baseline(item)?;
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        if self.small.rows != 1 {
            return fail("the kernel for small inputs has no tiles");
        }
        if !self.tiles_per_warp.is_power_of_two() {
            return fail("tiles_per_warp is a power of two");
        }
        if self.gathered_chunks > MOST_GATHERED {
            return fail("gathered_chunks is at most 4096");
        }
        if !(1..=MOST_CHUNKS).contains(&self.max_chunks) {
            return fail("max_chunks is 1 to 2^26");
        }
        Ok(())
    }

    /// The launches that reduce `length` items, each of which leaves a partial a chunk to the next one. The last has one
    /// chunk.
    pub fn launches(&self, item: &Layout, length: u64) -> Launches {
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
        let later = if gathers { Kernel::Gather } else { later };
        // Blocks of rows are gathered by one more of them, those of tiles by a launch of another shape.
        let next = Launch { gathers: gathers && self.shape(first).rows == 1, ..next };
        Launches { policy: *self, next: Some(next), later, most: most(room / 64) }
    }

    /// Whether the partials that the first launch leaves are gathered.
    fn gathers(&self, item: &Layout, length: u64, first: &Launch) -> bool {
        let has_room = TICKET_BYTES + cell_bytes(item, first.chunks.into()) <= most_bytes(item, length);
        let most = match first.kernel {
            Kernel::Baseline => 0,
            Kernel::Small if first.warps <= SMALL_WARPS => self.gathered_chunks.min(self.small_gathered),
            _ => self.gathered_chunks,
        };
        let most = if self.shape(first.kernel).rows == 1 { most.min(MOST_OF_BLOCKS) } else { most };
        has_room && (2..=most).contains(&first.chunks)
    }

    fn launch(&self, kernel: Kernel, length: u64, most: u64) -> Launch {
        let fits = length <= self.one_block_items.max(1) || most <= 1;
        match kernel {
            Kernel::Gather => {
                let (shape, rows) = (Shape::GATHER, length.div_ceil(Shape::GATHER.block_items()));
                let rows_per_warp = rows.next_power_of_two();
                Launch { kernel, chunks: 1, warps: shape.warps, rows_per_warp, gathers: false }
            }
            Kernel::Small | Kernel::Large if fits => self.one_block(length),
            _ => self.chunks_of(kernel, length, most),
        }
    }

    /// One block: of the small kernel, where few are no whole rows, with a lane an item; or one warp, of a row or less; or as many warps as
    /// there are rows, and then more rows for each.
    pub(crate) fn one_block(&self, length: u64) -> Launch {
        let (row, most) = (self.small.row_items(), u64::from(self.small.warps));
        let has_lanes = length <= self.lane_each_items && !length.is_multiple_of(row);
        let rows = length.div_ceil(row).next_power_of_two();
        let warps = if has_lanes { length.div_ceil(32).next_power_of_two() } else { rows }.min(most);
        let kernel = if has_lanes || rows > 1 { Kernel::Small } else { Kernel::Row };
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
mod tests {
    use super::*;
    use crate::{DeviceType, Kind};

    fn shape_of<T: DeviceType>() -> (u32, u32, u32) {
        let shape = Policy::for_item(&T::layout()).large;
        (shape.width, shape.group_items, shape.rows)
    }

    /// Items of every size.
    pub(super) fn items() -> impl Iterator<Item = Layout> {
        let lanes = |element: Layout, length: usize| Layout {
            size: element.size * length,
            align: element.align,
            kind: Kind::Array { element: Box::new(element), length },
            ..u8::layout()
        };
        let bytes = (1..=256).map(move |length| lanes(u8::layout(), length));
        let words = (1..=64).map(move |length| lanes(u32::layout(), length));
        bytes.chain(words).chain([f32::layout(), f64::layout()])
    }

    #[test]
    fn groups_are_the_fewest_items_that_fill_whole_loads() {
        assert_eq!(shape_of::<u8>(), (16, 32, 4));
        assert_eq!(shape_of::<f32>(), (16, 8, 4));
        assert_eq!(shape_of::<[f32; 3]>(), (16, 4, 4));
        assert_eq!(shape_of::<[f32; 5]>(), (16, 4, 4));
        assert_eq!(shape_of::<[f64; 3]>(), (16, 2, 4));
        assert_eq!(shape_of::<[f32; 9]>(), (4, 1, 4));
        assert_eq!(shape_of::<[f32; 12]>(), (16, 1, 4));
        assert_eq!(shape_of::<[u8; 48]>(), (16, 1, 2));
        assert_eq!(shape_of::<[f32; 25]>(), (4, 1, 1));
        assert_eq!(shape_of::<[u8; 255]>(), (1, 1, 1));
        assert_eq!(shape_of::<[u8; 256]>(), (16, 1, 1));
    }

    #[test]
    fn every_item_is_in_one_block_of_each_launch() {
        for item in items() {
            let policy = Policy::for_item(&item);
            assert!(policy.check(&item).is_ok());
            for length in [
                0,
                1,
                5,
                33,
                1000,
                1023,
                1024,
                8192,
                8193,
                16384,
                16385,
                1 << 20,
                (1 << 26) + 1,
                1 << 33,
                (1 << 37) + 17,
            ] {
                every_item_is_in_one_block(&policy, &item, length);
                every_item_is_in_one_block(&policy.untuned(), &item, length);
            }
        }
    }

    fn every_item_is_in_one_block(policy: &Policy, item: &Layout, length: u64) {
        let (mut left, mut partials) = (length, 0);
        for launch in policy.launches(item, length) {
            let shape = policy.shape(launch.kernel);
            assert!(policy.kernels().contains(&launch.kernel));
            // Others look for a first item.
            assert!(left > 0 || matches!(launch.kernel, Kernel::Row | Kernel::Baseline));
            let block = shape.row_items() * launch.rows_per_warp * u64::from(launch.warps);
            let name = item.name;
            assert_eq!(u64::from(launch.chunks), left.div_ceil(block).max(1), "{length} items of {name}");
            assert!(launch.warps <= shape.warps && launch.rows_per_warp.is_power_of_two());
            if launch.kernel == Kernel::Baseline {
                // All warps, and no more tiles than a tile has places for their values.
                assert!(launch.warps == shape.warps && launch.rows_per_warp <= shape.block_items());
            } else {
                assert!(launch.chunks <= policy.max_chunks);
            }
            left = launch.chunks.into();
            partials += if left > 1 { left } else { 0 };
            // So many rows of them are a row.
            assert!(!launch.gathers || shape.rows == 1 && (2..=1024).contains(&left));
            left = if launch.leaves_one() { 1 } else { left };
        }
        assert_eq!(left, 1);
        let bytes = policy.launches(item, length).memory_bytes(item);
        assert!(bytes >= partials * item.size as u64);
        let most = (64 << 10).max(length * item.size as u64 / 1000);
        assert!(bytes <= most, "{bytes} for {length} items of {} bytes", item.size);
    }

    #[test]
    fn few_small_items_that_are_no_whole_rows_have_a_lane_each() {
        let warps = |policy: &Policy, length| policy.one_block(length).warps;
        let floats = Policy::for_item(&f32::layout());
        // Rows of 256.
        let lengths = [1, 31, 32, 33, 255, 256, 257, 1000, 1023, 1024, 1025];
        assert_eq!(lengths.map(|length| warps(&floats, length)), [1, 1, 1, 2, 8, 1, 16, 32, 32, 4, 8]);
        let kernel = |policy: &Policy, length| policy.one_block(length).kernel;
        use Kernel::{Row, Small};
        assert_eq!(
            [0, 1, 255, 256, 257].map(|length| kernel(&floats, length)),
            [Row, Small, Small, Row, Small]
        );
        let without = Policy { lane_each_items: 0, ..floats };
        assert_eq!([33, 255, 1023].map(|length| warps(&without, length)), [1, 1, 4]);
        assert_eq!([1, 255, 257].map(|length| kernel(&without, length)), [Row, Row, Small]);
        // Rows of 128.
        let points = Policy::for_item(&<[f32; 3]>::layout());
        assert_eq!([33, 127, 1023].map(|length| warps(&points, length)), [1, 1, 8]);
    }

    #[test]
    fn small_inputs_take_one_launch() {
        for item in items() {
            let policy = Policy::for_item(&item);
            for length in [0, 1, policy.one_block_items / 2, policy.one_block_items] {
                assert_eq!(policy.launches(&item, length).count(), 1);
                assert_eq!(policy.launches(&item, length).memory_bytes(&item), TICKET_BYTES);
            }
            assert!(policy.one_block_items >= 32 * 32);
        }
        let in_one_block = |item: Layout| Policy::for_item(&item).one_block_items;
        assert_eq!(
            [in_one_block(f32::layout()), in_one_block(<[f32; 5]>::layout())],
            [8192, (48 << 10) / 20]
        );
    }

    #[test]
    fn small_inputs_have_larger_blocks_where_there_would_be_many() {
        /// The first launch, and what takes its partials.
        fn first_and_next<T: DeviceType>(kibibytes: u64) -> (Launch, Option<Kernel>) {
            let item = T::layout();
            let length = (kibibytes << 10) / item.size as u64;
            let mut launches = Policy::for_item(&item).launches(&item, length);
            (launches.next().expect("one"), launches.next().map(|launch| launch.kernel))
        }
        let of = |(first, next): (Launch, Option<Kernel>)| {
            assert_eq!(first.gathers, next.is_none());
            (first.kernel, first.warps, first.chunks, next)
        };
        use Kernel::{Gather, Large, Small};
        assert_eq!(of(first_and_next::<f32>(64)), (Small, 8, 8, None));
        assert_eq!(of(first_and_next::<f32>(2048)), (Small, 8, 256, None));
        assert_eq!(of(first_and_next::<f32>(4096)), (Small, 32, 128, None));
        assert_eq!(of(first_and_next::<u8>(4096)), (Large, 4, 256, Some(Gather)));
        // Of few words.
        assert_eq!(of(first_and_next::<f64>(2048)), (Small, 8, 256, None));
        assert_eq!(of(first_and_next::<f64>(4096)), (Small, 8, 512, Some(Small)));
        assert_eq!(of(first_and_next::<[u32; 4]>(1024)), (Small, 8, 128, None));
        assert_eq!(of(first_and_next::<[u32; 4]>(2048)), (Small, 8, 256, None));
        assert_eq!(of(first_and_next::<[u32; 4]>(4096)), (Small, 8, 512, Some(Small)));
        assert_eq!(of(first_and_next::<[u32; 4]>(8192)), (Small, 32, 128, None));
        assert_eq!(of(first_and_next::<[f32; 12]>(512)), (Small, 8, 43, None));
        assert_eq!(of(first_and_next::<[f32; 12]>(1024)), (Small, 8, 86, Some(Small)));
        // One block more.
        let policy = Policy::for_item(&f32::layout());
        let blocks = |kibibytes| policy.blocks(&first_and_next::<f32>(kibibytes).0, 1);
        assert_eq!([16, 64, 4096].map(blocks), [1, 9, 129]);
    }

    #[test]
    fn blocks_that_stay_have_as_many_chunks_as_each_other() {
        let item = f32::layout();
        let policy = Policy::for_item(&item);
        for length in [1, 1 << 22, 1 << 26, (1 << 28) + 1, 1 << 32] {
            for resident in [0, 1, 7, 528, 1 << 20] {
                let launch = policy.launches(&item, length).next().expect("one");
                let blocks = policy.blocks(&launch, resident);
                if launch.kernel != Kernel::Large {
                    assert_eq!(blocks, launch.chunks);
                    continue;
                }
                assert!((1..=launch.chunks.min(resident.max(1))).contains(&blocks));
                // One block less, and some would have one chunk more.
                let turns = launch.chunks.div_ceil(blocks);
                assert_eq!(turns, launch.chunks.div_ceil(resident.max(1)));
                assert!(blocks == 1 || launch.chunks.div_ceil(blocks - 1) > turns);
            }
        }
    }

    #[test]
    fn warps_have_many_tiles_where_those_fill_the_gpu() {
        fn tiles_at<T: DeviceType>(mebibytes: u64) -> (u64, u32) {
            let policy = Policy::for_item(&T::layout());
            let length = (mebibytes << 20) / size_of::<T>() as u64;
            let launch = policy.launches(&T::layout(), length).next().expect("one");
            (launch.rows_per_warp / u64::from(policy.large.rows), launch.chunks)
        }
        // One wave of as few chunks as it takes; one that is full; and whole turns, or many of fewer tiles.
        assert_eq!([8, 40, 64].map(tiles_at::<f32>), [(1, 512), (8, 320), (8, 512)]);
        assert_eq!([128, 250, 256].map(tiles_at::<f32>), [(16, 512), (32, 500), (32, 512)]);
        assert_eq!([300, 512, 1024].map(tiles_at::<f32>), [(8, 2400), (32, 1024), (32, 2048)]);
        assert_eq!([256, 512, 1024].map(tiles_at::<[f32; 8]>), [(32, 256), (32, 512), (4, 8192)]);
        // To one part in sixteen; and where chunks are three times a power of two, few fill no wave, and many have one run of each warp.
        assert_eq!([239, 240, 272].map(tiles_at::<f32>), [(8, 1912), (32, 480), (8, 2176)]);
        assert_eq!([144, 288].map(tiles_at::<[f32; 3]>), [(4, 1536), (4, 3072)]);
        assert_eq!([64, 256].map(tiles_at::<[f32; 3]>), [(8, 342), (4, 2731)]);
    }

    #[test]
    fn rows_are_whole_where_wide_loads_reach_them() {
        let item = f32::layout();
        let policy = Policy::for_item(&item);
        let whole = |address, length| {
            let launch = policy.launches(&item, length).next().expect("one");
            launch.placed(&policy.shape(launch.kernel), address, length).whole
        };
        let row = policy.small.row_items();
        assert_eq!(
            [whole(256, 0), whole(256, row - 1), whole(256, row), whole(256, 5 * row + 1)],
            [0, 0, 1, 5]
        );
        assert_eq!(whole(256 + 4, 5 * row), 0);
        // More than a row a warp; and tiles.
        assert_eq!([whole(256, 2 * policy.one_block_items), whole(256, 1 << 28)], [2 * 32, 0]);
    }

    #[test]
    fn rows_merge_where_every_chunk_is_whole() {
        let item = <[f32; 4]>::layout();
        let policy = Policy::for_item(&item);
        let row = policy.small.row_items();
        let placed = |address, length| {
            let launch = policy.launches(&item, length).next().expect("one");
            let shape = policy.shape(launch.kernel);
            let Placed { warps, runs, row_level, whole } = launch.placed(&shape, address, length);
            (warps, runs, row_level, whole)
        };
        let whole = [0, 1, 2, 7, 8, 128, 129].map(|rows| placed(256, rows * row));
        let merged = [(1, 1, 1, 1), (4, 4, 1, 4), (4, 64, 1, 64)];
        let [none, one, two, seven, eight, many, odd] = whole;
        assert_eq!([two, eight, many], merged);
        assert_eq!([none, one, seven, odd], [(1, 0, 0, 0), (1, 1, 0, 1), (8, 7, 0, 7), (8, 129, 0, 129)]);
        assert_eq!([placed(256 + 4, 8 * row), placed(256, 8 * row - 1)], [(8, 8, 0, 0), (8, 8, 0, 7)]);
        // Two rows a warp wherever there are so many; of more there are tiles.
        let most = policy.small_bytes / 16;
        assert_eq!((most * 16, placed(256, most)), (8 << 20, (32, 4096, 1, 4096)));
        assert_eq!(policy.launches(&item, most + 1).next().expect("one").kernel, Kernel::Large);
        // And since a block has no more warps.
        let one_block = Policy { one_block_items: 64 * row, ..policy }.one_block(63 * row);
        assert_eq!(
            one_block.placed(&policy.small, 256, 63 * row),
            Placed { warps: 32, runs: 32, row_level: 1, whole: 31 }
        );
    }

    #[test]
    fn partials_are_gathered_where_they_are_few_and_have_room() {
        let chain = |item: &Layout, policy: &Policy, length| {
            policy.launches(item, length).map(|launch| launch.kernel).collect::<Vec<_>>()
        };
        use Kernel::{Gather, Large, Row, Small};
        let floats = f32::layout();
        let policy = Policy::for_item(&floats);
        assert_eq!(chain(&floats, &policy, 1 << 26), [Large, Gather]);
        assert_eq!(chain(&floats, &Policy { gathered_chunks: 0, ..policy }, 1 << 26), [Large, Small]);
        assert_eq!(chain(&floats, &policy, 1 << 20), [Small]);
        // 64 KiB each: 4096 of them, and one more.
        let fine = Policy { full_turns: 0, tiles_per_warp: 4, ..policy };
        assert_eq!(chain(&floats, &fine, 1 << 26), [Large, Gather]);
        assert_eq!(chain(&floats, &fine, (1 << 26) + 1), [Large, Small]);
        // 1366 and 2731 of 96 KiB, of 48 bytes: a thousandth of the input has room for twice the latter, but not the former, with tickets.
        let large = <[f32; 12]>::layout();
        assert_eq!(chain(&large, &Policy::for_item(&large), (1 << 27) / 48), [Large, Small, Row]);
        assert_eq!(chain(&large, &Policy::for_item(&large), (1 << 28) / 48), [Large, Gather]);
        let triples = <[f64; 3]>::layout();
        assert_eq!(chain(&triples, &Policy::for_item(&triples), (1 << 28) / 24), [Large, Gather]);
        // More than 64 bytes, which do not stay in registers.
        assert_eq!(Policy::for_item(&<[u64; 9]>::layout()).gathered_chunks, 0);
        // More than 16 numbers; and no tiles.
        assert_eq!(Policy::for_item(&<[u8; 48]>::layout()).gathered_chunks, 0);
        let huge = <[u64; 32]>::layout();
        let policy = Policy::for_item(&huge);
        assert_eq!(policy.kernels(), [Row, Small, Large]);
        assert_eq!(chain(&huge, &policy, 1 << 20)[..2], [Large, Small]);
    }

    #[test]
    fn templates_know_where_partials_are_gathered() {
        let bracket = include_str!("../../templates/bracket.cuh");
        assert!(bracket.contains(&format!("TICKETS = {};", TICKET_BYTES / 8)));
        assert!(include_str!("../../templates/gather.cuh").contains(&format!("MOST = {MOST_GATHERED},")));
        for item in items() {
            // Of 32 partials whole pairs of words.
            let words = (item.size as u64).div_ceil(4);
            assert_eq!(cell_bytes(&item, 33), 64 * 8 * words.next_multiple_of(2));
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
        assert!(refused(|policy| policy.large.rows = 3));
        assert!(refused(|policy| policy.large.rows = 64));
        assert!(refused(|policy| policy.small.warps = 0));
        assert!(refused(|policy| policy.small.rows = 8));
        assert!(refused(|policy| policy.small.group_items = 4));
        assert!(refused(
            |policy| (policy.small.group_items, policy.small.width, policy.small.rows) = (2, 4, 2)
        ));
        assert!(refused(|policy| policy.small.group_items = 1 << 20));
        assert!(refused(|policy| policy.large.group_items = 4));
        assert!(refused(|policy| policy.large.warps = 32));
        assert!(refused(|policy| policy.large.blocks_per_multiprocessor = 1 << 30));
        assert!(refused(|policy| policy.large.merged_tiles = 2));
        assert!(refused(|policy| policy.large.runs = 3));
        assert!(refused(|policy| policy.large.runs = 64));
        assert!(refused(|policy| policy.small.merged_tiles = 4));
        assert!(refused(|policy| policy.baseline.warps = 64));
        assert!(refused(|policy| policy.baseline.group_items = 2));
        assert!(refused(|policy| policy.gathered_chunks = 4097));
        assert!(refused(|policy| policy.max_chunks = 0));
        // Tiles that leave too little of 64 KiB for the values of runs.
        let item = <[u64; 21]>::layout();
        let mut tiles = Policy::for_item(&item);
        assert!(tiles.check(&item).is_ok());
        (tiles.large.width, tiles.large.group_items, tiles.large.rows, tiles.large.warps) = (8, 1, 2, 4);
        assert!(tiles.large.shared_bytes(&item) < 65_000 && tiles.check(&item).is_err());
        assert!(refused(|policy| policy.max_chunks = u32::MAX));
    }
}
