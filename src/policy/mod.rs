//! Launch parameters and tile shapes: what is tuned, and never changes a result.
//!
//! The bracket's shape is a function of the number of items alone, so every power of two below is free. A kernel's shape
//! is fixed before compilation, for an item size; which kernel an input gets, and how many blocks of it, is decided at each
//! launch.

#[doc(hidden)]
pub mod ladder;
mod scan;

pub use self::scan::{Limits, ScanLaunch, ScanPolicy, ScanShape};

use crate::{Error, Kind, Layout};

/// The bytes that one GPU lane loads at once at most.
const WIDEST_LOAD: usize = 16;
/// A group larger than this is not made: its items are loaded one by one, in narrower words.
const LARGEST_GROUP: usize = 128;
/// Of a group each item has a bit.
const MOST_GROUP_ITEMS: u32 = 32;
/// A lane loads at least so much at once, if the items allow it: what it combines itself needs no shuffles.
const LEAST_GROUP: usize = 32;
/// An operator on an item of more scalars than these is written out few times: each takes long to compile.
const FEW_SCALARS: usize = 16;
/// Items larger than this do not stay in registers.
const LARGEST_IN_REGISTERS: usize = 64;
/// Shared memory of a block, at most: what every architecture gives one.
const SHARED_BYTES: usize = 64_000;
/// Multiprocessors of a large GPU, roughly: its blocks are counted by it.
const MULTIPROCESSORS: u64 = 128;
/// Device memory for partials of inputs up to 64 MiB, at most; of larger ones for each KiB a byte.
const PARTIAL_BYTES: u64 = 64 << 10;
/// The bytes of a line of memory.
const LINE: u64 = 128;
/// Blocks of a launch, at most: their warps are counted in 32 bits.
const MOST_BLOCKS: u32 = 1 << 26;
/// A tile of the baseline kernel, at most; a block has two.
const BASELINE_BYTES: usize = 16 << 10;
/// Warps of a block where a small input has many.
const SMALL_WARPS: u32 = 8;

/// How an input is cut into loads, tiles, blocks and launches: the shapes of an operator's kernels, and which inputs each
/// is for.
///
/// The default of an item is [`Policy::for_item`]; [`Reduction::with_policy`](crate::Reduction::with_policy) takes
/// another, for measurements and tests. Results are the same bits under every policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Policy {
    /// For small inputs, and for the partials of all others: made to be done soon.
    pub small: Shape,
    /// For large inputs: made to keep memory busy.
    pub large: Shape,
    /// For all inputs while the others are compiled: made to be soon compiled. Of one item a lane.
    pub baseline: Shape,
    /// Whether there are others. If not, the baseline reduces everything: slower, and sooner compiled.
    pub tuned: bool,
    /// Inputs, and partials, of at most this many items are reduced by one block of the small kernel, in one launch.
    pub one_block_items: u64,
    /// Inputs of at most so many bytes are reduced by the small kernel alone.
    pub small_bytes: u64,
    /// Tiles that a warp of the large kernel reduces, where that fills the GPU several times; if twice as many or fewer
    /// fill it once, a warp reduces those. A power of two.
    pub tiles_per_warp: u32,
    /// The most blocks of a launch, up to 2^26. Short of it, all partials of a reduction have at most 64 KiB, or a thousandth of the
    /// input. The baseline may take more.
    pub max_blocks: u32,
}

/// The shape of a kernel: what is fixed when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bytes of one load of a row, and of one load of a tile from shared memory: a power of two, at most 16, that divides the
    /// bytes of a group. Below 4, and for inputs whose address is not a multiple of it, rows are loaded in words of 4 bytes.
    /// A tile is loaded from the input by 16 bytes, or by 4.
    pub width: u32,
    /// Items that one lane loads at once: a power of two, at most 32.
    pub group_items: u32,
    /// Groups of each lane in a tile, which lanes exchange through shared memory so that each has its own side by side (a
    /// blocked arrangement, not a striped one). A power of two, at most 32; together a multiple of 16 bytes. If 1, there are
    /// no tiles: items go row by row, of one group a lane.
    pub rows: u32,
    /// Neighbouring tiles that merge before a lane's values are combined with those of other lanes: 1 or 4. Four want
    /// registers.
    pub merged_tiles: u32,
    /// Warps of a block, at most: a power of two, at most 32.
    pub warps: u32,
    /// Blocks that each multiprocessor should hold at once: what bounds the registers of a kernel.
    pub blocks_per_multiprocessor: u32,
}

/// Which of an operator's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kernel {
    /// [`Policy::small`].
    Small,
    /// [`Policy::large`]: the same template in another shape.
    Large,
    /// [`Policy::baseline`]: a template of its own. Scans have none.
    Baseline,
}

/// One launch: every block reduces `rows_per_warp` rows, of one group a lane, with each of its warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    /// What is launched.
    pub kernel: Kernel,
    /// Blocks, each of which writes one partial.
    pub blocks: u32,
    /// Warps of a block: a power of two.
    pub warps: u32,
    /// A power of two.
    pub rows_per_warp: u64,
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
        let left = u64::from(launch.blocks);
        self.next = (left > 1).then(|| self.policy.launch(self.later, left, self.most));
        Some(launch)
    }
}

impl Launches {
    /// Device memory that their partials have, in bytes: of each but the last, one after another.
    pub(crate) fn partial_bytes(&self, item: &Layout) -> u64 {
        let blocks = self.clone().map(|launch| u64::from(launch.blocks));
        blocks.filter(|&blocks| blocks > 1).map(|blocks| partial_bytes(item, blocks)).sum()
    }
}

impl Launch {
    /// Warps that have any of `length` items, in blocks of this shape.
    pub fn runs(&self, shape: &Shape, length: u64) -> u32 {
        // At most `MOST_BLOCKS` of 32.
        length.div_ceil(shape.row_items() * self.rows_per_warp) as u32
    }
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Small, Self::Large, Self::Baseline];
    /// Those that are tuned.
    pub const TUNED: [Self; 2] = [Self::Small, Self::Large];
}

impl Policy {
    /// The policy for items of this layout, on every architecture. The kernel for large inputs has the shape that a search
    /// on an NVIDIA H200 found (`docs/PERFORMANCE.md`); no other architecture has been measured.
    pub fn for_item(item: &Layout) -> Self {
        let (small, large) = (Shape::small(item.size), Shape::large(item));
        Self {
            small,
            large,
            baseline: Shape::baseline(item.size),
            tuned: true,
            one_block_items: small.row_items() * u64::from(small.warps),
            // A row a warp.
            small_bytes: small.row_items() * item.size as u64 * small.wave_warps(),
            tiles_per_warp: 4,
            max_blocks: 16384,
        }
    }

    /// The shape of a kernel.
    pub fn shape(&self, kernel: Kernel) -> &Shape {
        match kernel {
            Kernel::Small => &self.small,
            Kernel::Large => &self.large,
            Kernel::Baseline => &self.baseline,
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

    /// Whether kernels can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        Kernel::TUNED.into_iter().try_for_each(|kernel| self.shape(kernel).check(item))?;
        self.baseline.check_baseline(item)?;
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        if !self.tiles_per_warp.is_power_of_two() {
            return fail("tiles_per_warp is a power of two");
        }
        if !(1..=MOST_BLOCKS).contains(&self.max_blocks) {
            return fail("max_blocks is 1 to 2^26");
        }
        Ok(())
    }

    /// The launches that reduce `length` items, each of which leaves a partial a block to the next one. The last has one
    /// block.
    pub fn launches(&self, item: &Layout, length: u64) -> Launches {
        let bytes = length.saturating_mul(item.size as u64);
        let (first, later) = match self.tuned {
            true if bytes <= self.small_bytes => (Kernel::Small, Kernel::Small),
            true => (Kernel::Large, Kernel::Small),
            false => (Kernel::Baseline, Kernel::Baseline),
        };
        let room = bytes.max(PARTIAL_BYTES << 10) / 1024 / item.size as u64;
        let most = |room: u64| room.min(self.max_blocks.into());
        // Each launch leaves what the next one reads, and beside it there is room for what that leaves.
        let next = Some(self.launch(first, length, most(room - room / 16)));
        Launches { policy: *self, next, later, most: most(room / 64) }
    }

    fn launch(&self, kernel: Kernel, length: u64, most: u64) -> Launch {
        let fits = length <= self.one_block_items.max(1) || most <= 1;
        match kernel {
            Kernel::Small | Kernel::Large if fits => self.one_block(length),
            _ => self.blocks_of(kernel, length, most),
        }
    }

    /// One block of the small kernel: more warps first, then more rows for each.
    pub(crate) fn one_block(&self, length: u64) -> Launch {
        let rows = length.div_ceil(self.small.row_items()).next_power_of_two();
        let warps = rows.min(self.small.warps.into()) as u32;
        Launch { kernel: Kernel::Small, blocks: 1, warps, rows_per_warp: rows / u64::from(warps) }
    }

    /// Powers of two of rows a warp: as many as it takes for one wave of warps if that is few tiles, else fewer, so that
    /// multiprocessors end at the same time; and as many as it takes for at most `most` blocks, if a block can have so many.
    fn blocks_of(&self, kernel: Kernel, length: u64, most: u64) -> Launch {
        let shape = self.shape(kernel);
        let warps = if kernel == Kernel::Small { shape.warps.min(SMALL_WARPS) } else { shape.warps };
        let blocks = length.div_ceil(shape.row_items() * u64::from(warps)).max(1);
        let wave = (blocks * u64::from(warps)).div_ceil(shape.wave_warps()).next_power_of_two();
        let few = u64::from(shape.rows) * u64::from(self.tiles_per_warp);
        let rows_per_warp = if wave > 2 * few { few } else { wave };
        let rows_per_warp = rows_per_warp.max(blocks.div_ceil(most).next_power_of_two());
        // No less than a tile; and tiles whose values are a tile at most, where there is no counter of them.
        let mut rows_per_warp = rows_per_warp.max(shape.rows.into());
        if kernel == Kernel::Baseline {
            rows_per_warp = rows_per_warp.min(shape.block_items());
        }
        Launch { kernel, blocks: blocks.div_ceil(rows_per_warp) as u32, warps, rows_per_warp }
    }
}

impl Shape {
    /// A row a warp, of as many warps as a block can have.
    fn small(size: usize) -> Self {
        let mut shape = Self { warps: 32, blocks_per_multiprocessor: 1, ..Self::of_lanes(size, 0) };
        if size == 1 {
            // So many warps have no registers to take more items apart.
            shape.group_items = 16;
        }
        shape
    }

    /// What the search found: few warps of many rows, as far as registers allow.
    fn large(item: &Layout) -> Self {
        let size = item.size;
        let (lane_bytes, merged_tiles, blocks_per_multiprocessor) = match (size, scalars(item)) {
            (2, _) | (4, ..=2) => (128, 4, 4),
            (1 | 20, _) => (256, 4, 4),
            (8, 2) => (128, 4, 3),
            (16, _) => (256, 1, 3),
            (_, scalars) if scalars > FEW_SCALARS => (128, 1, 3),
            _ => (256, 4, 3),
        };
        let lane_bytes = if size <= LARGEST_IN_REGISTERS { lane_bytes } else { 0 };
        let shape = Self { warps: 4, blocks_per_multiprocessor, ..Self::of_lanes(size, lane_bytes) };
        Self { merged_tiles: if shape.rows > 1 { merged_tiles } else { 1 }, ..shape }
    }

    /// As many warps as a block can have, or as leave it two tiles in shared memory.
    fn baseline(size: usize) -> Self {
        let items = (BASELINE_BYTES / size).clamp(32, 1024);
        let warps = 1 << (items as u32 / 32).ilog2();
        Self { width: 1, group_items: 1, rows: 1, merged_tiles: 1, warps, blocks_per_multiprocessor: 1 }
    }

    /// Groups of wide loads, and so many rows of them that a lane has at most `bytes`, unless fewer fill no whole loads.
    fn of_lanes(size: usize, bytes: usize) -> Self {
        // The fewest items whose bytes are a multiple of the widest load, and enough of them.
        let whole = WIDEST_LOAD / chunk(size);
        let (group_items, width) = match size * whole {
            group if group <= LARGEST_GROUP => {
                (whole * LEAST_GROUP.div_ceil(group).next_power_of_two(), WIDEST_LOAD)
            }
            _ => (1, chunk(size)),
        };
        let group = size * group_items;
        // The fewest rows that are whole loads of 16 bytes.
        let least = WIDEST_LOAD / chunk(group);
        let rows = match width {
            4.. if bytes > 0 => (bytes / group).clamp(least, 8.max(least)),
            _ => 1,
        };
        Self {
            width: width as u32,
            group_items: group_items as u32,
            rows: 1 << rows.ilog2(),
            merged_tiles: 1,
            warps: 1,
            blocks_per_multiprocessor: 1,
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
        if group_items > MOST_GROUP_ITEMS || group > 1 << 10 {
            return fail("a group is at most 32 items, and at most 1024 bytes");
        }
        if !matches!(self.merged_tiles, 1 | 4) {
            return fail("merged_tiles is 1 or 4");
        }
        if rows > 1 && (width < 4 || !(group * u64::from(rows)).is_multiple_of(WIDEST_LOAD as u64)) {
            return fail("what a lane has of a tile is a multiple of 16 bytes, in loads of at least 4");
        }
        if self.shared_bytes(item) > SHARED_BYTES {
            return fail("the tiles of a block that its lanes exchange have at most 64,000 bytes");
        }
        if !matches!(self.blocks_per_multiprocessor, 1..=32) {
            return fail("blocks_per_multiprocessor is 1 to 32");
        }
        Ok(())
    }

    /// Whether the baseline kernel can be made of it.
    pub(crate) fn check_baseline(&self, item: &Layout) -> Result<(), Error> {
        self.check(item)?;
        if self.block_items() as usize > BASELINE_BYTES / item.size
            || self.row_items() != 32
            || self.rows != 1
        {
            let reason = "the baseline has one item a lane, and at most 16 KiB a tile".to_owned();
            return Err(Error::Policy { reason });
        }
        Ok(())
    }

    /// Warps that run at once.
    fn wave_warps(&self) -> u64 {
        MULTIPROCESSORS * u64::from(self.warps * self.blocks_per_multiprocessor)
    }

    /// Items of one row: of each lane, a group.
    pub fn row_items(&self) -> u64 {
        u64::from(self.group_items) * 32
    }

    /// Items of a block of which every warp has a row.
    fn block_items(&self) -> u64 {
        self.row_items() * u64::from(self.warps)
    }

    /// Items of one tile, which a warp reduces in registers.
    pub fn tile_items(&self) -> u64 {
        self.row_items() * u64::from(self.rows)
    }

    /// Shared memory that a block needs for what its lanes exchange, in bytes.
    pub fn shared_bytes(&self, item: &Layout) -> usize {
        if self.rows == 1 {
            return 0;
        }
        // With room for the word in which the last item of a warp ends.
        let run = item.size * (self.group_items * self.rows) as usize;
        self.warps as usize * (exchange_bytes(run) + WIDEST_LOAD)
    }
}

/// The widest load that divides so many bytes.
fn chunk(bytes: usize) -> usize {
    WIDEST_LOAD.min(1 << bytes.trailing_zeros())
}

/// Shared memory through which lanes exchange a run of so many bytes each, as `Exchange` in `templates/exchange.cuh` has it:
/// chunks are left out, so that lanes load from banks of their own.
fn exchange_bytes(run_bytes: usize) -> usize {
    let chunk = chunk(run_bytes);
    let run = run_bytes / chunk;
    let (all, even) = (32 * run, 1 << run.trailing_zeros().min(3));
    let left_out = if even == 1 || chunk < WIDEST_LOAD { 0 } else { all / (8 * run / even) };
    chunk * (all + left_out)
}

/// Device memory that the partials of one launch have. They share no line with others: what is read of them may be kept.
pub(crate) fn partial_bytes(item: &Layout, blocks: u64) -> u64 {
    (blocks * item.size as u64).next_multiple_of(LINE)
}

fn scalars(item: &Layout) -> usize {
    match &item.kind {
        Kind::Scalar(_) => 1,
        Kind::Array { element, length } => length * scalars(element),
        Kind::Struct { fields } => fields.iter().map(|field| scalars(&field.layout)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DeviceType;

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
        assert_eq!(shape_of::<u8>(), (16, 32, 8));
        assert_eq!(shape_of::<f32>(), (16, 8, 4));
        assert_eq!(shape_of::<[f32; 3]>(), (16, 4, 4));
        assert_eq!(shape_of::<[f32; 5]>(), (16, 4, 2));
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
            for length in
                [0, 1, 5, 1024, 8192, 8193, 16384, 16385, 1 << 20, (1 << 26) + 1, 1 << 33, (1 << 37) + 17]
            {
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
            let block = shape.row_items() * launch.rows_per_warp * u64::from(launch.warps);
            let name = item.name;
            assert_eq!(u64::from(launch.blocks), left.div_ceil(block).max(1), "{length} items of {name}");
            assert!(launch.warps <= shape.warps && launch.rows_per_warp.is_power_of_two());
            if launch.kernel == Kernel::Baseline {
                // All warps, and no more tiles than a tile has places for their values.
                assert!(launch.warps == shape.warps && launch.rows_per_warp <= shape.block_items());
            } else {
                assert!(launch.blocks <= policy.max_blocks);
            }
            left = launch.blocks.into();
            partials += if left > 1 { left } else { 0 };
        }
        assert_eq!(left, 1);
        let bytes = policy.launches(item, length).partial_bytes(item);
        assert!(bytes >= partials * item.size as u64);
        let most = (64 << 10).max(length * item.size as u64 / 1000);
        assert!(bytes <= most, "{bytes} for {length} items of {} bytes", item.size);
    }

    #[test]
    fn small_inputs_take_one_launch() {
        for item in items() {
            let policy = Policy::for_item(&item);
            for length in [0, 1, policy.one_block_items / 2, policy.one_block_items] {
                assert_eq!(policy.launches(&item, length).count(), 1);
                assert_eq!(policy.launches(&item, length).partial_bytes(&item), 0);
            }
            assert!(policy.one_block_items >= 32 * 32);
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
        assert!(refused(|policy| policy.small.group_items = 4));
        assert!(refused(
            |policy| (policy.small.group_items, policy.small.width, policy.small.rows) = (2, 4, 2)
        ));
        assert!(refused(|policy| policy.small.group_items = 1 << 20));
        assert!(refused(|policy| policy.large.group_items = 4));
        assert!(refused(|policy| policy.large.warps = 32));
        assert!(refused(|policy| policy.large.blocks_per_multiprocessor = 1 << 30));
        assert!(refused(|policy| policy.large.merged_tiles = 2));
        assert!(refused(|policy| policy.baseline.warps = 64));
        assert!(refused(|policy| policy.baseline.group_items = 2));
        assert!(refused(|policy| policy.max_blocks = 0));
        assert!(refused(|policy| policy.max_blocks = u32::MAX));
    }
}
