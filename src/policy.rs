//! Launch parameters and tile shapes: what is tuned, and never changes a result.
//!
//! The bracket's shape is a function of the number of items alone, so every power of two below is free. A kernel's shape
//! is fixed before compilation, for an item size; which kernel an input gets, and how many blocks of it, is decided at each
//! launch.

use crate::{Error, Kind, Layout};

/// The bytes that one GPU lane loads at once at most.
const WIDEST_LOAD: usize = 16;
/// A group larger than this is not made: its items are loaded one by one, in narrower words.
const LARGEST_GROUP: usize = 128;
/// A lane loads at least so much at once, if the items allow it: what it combines itself needs no shuffles.
const LEAST_GROUP: usize = 32;
/// Shared memory of a block for tiles on their way: what two blocks of a multiprocessor of 9.0 have room for.
const RING_BYTES: usize = 100_000;
/// The bytes of a line of memory: a tile keeps its place in one.
const LINE: usize = 128;
/// Warps that a launch should have, before any gets more than a row.
const WAVE_WARPS: u64 = 2048;
/// An operator on an item of more scalars than these is written out few times: each takes long to compile.
const FEW_SCALARS: usize = 16;
/// Device memory for partials, whatever the input's size; inputs of so much are reduced by one block.
const PARTIAL_BYTES: usize = 64 << 10;
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
    /// For large inputs that wide loads reach, and for all others where there are no bulk copies: lanes load for themselves.
    pub direct: Shape,
    /// For all but the shortest inputs that wide loads do not reach, on architectures that have bulk copies (9.0 and later).
    pub bulk: Shape,
    /// Inputs of at most this many items are reduced by one block of the small kernel, in one launch.
    pub one_block_items: u64,
    /// Inputs of at most so many bytes are reduced by the small kernel, in two launches, unless the bulk kernel is theirs.
    pub small_bytes: u64,
    /// Tiles that a warp of the large kernels reduces at most, where the input has enough blocks without more: a power
    /// of two.
    pub tiles_per_warp: u32,
    /// The most blocks of a launch, which is the most partials of a reduction.
    pub max_blocks: u32,
}

/// The shape of a kernel: what is fixed when it is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bytes of one load: a power of two, at most 16, that divides the bytes of a group. Below 4, and for inputs whose
    /// address is not a multiple of it, groups are loaded in words of 4 bytes.
    pub width: u32,
    /// Items that one lane loads at once: a power of two.
    pub group_items: u32,
    /// Groups that one lane holds at once: a power of two, at most 32.
    pub rows: u32,
    /// Neighbouring tiles that merge before a lane's values are combined with those of other lanes: 1 or 4. Four want
    /// registers, and at most 32 rows together.
    pub merged_tiles: u32,
    /// Warps of a block, at most: a power of two, at most 32.
    pub warps: u32,
    /// Blocks that each multiprocessor should hold at once: what bounds the registers of a kernel.
    pub blocks_per_multiprocessor: u32,
    /// Tiles that a warp has on their way to shared memory, where items come by bulk copies; if 0, none do.
    pub stages: u32,
}

/// Which of an operator's kernels. They are one template, in different shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// [`Policy::small`].
    Small,
    /// [`Policy::direct`].
    Direct,
    /// [`Policy::bulk`].
    Bulk,
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

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Small, Self::Direct, Self::Bulk];
}

impl Policy {
    /// The policy for items of this layout, on every architecture. The kernel for large inputs has the shape that a search
    /// on an NVIDIA H200 found (`docs/PERFORMANCE.md`); no other architecture has been measured.
    pub fn for_item(item: &Layout) -> Self {
        let size = item.size;
        Self {
            small: Shape::small(size),
            direct: Shape::direct(item),
            bulk: Shape::bulk(item),
            one_block_items: (PARTIAL_BYTES / size) as u64,
            small_bytes: 4 << 20,
            tiles_per_warp: 4,
            max_blocks: (PARTIAL_BYTES / size).min(8192) as u32,
        }
    }

    /// The shape of a kernel.
    pub fn shape(&self, kernel: Kernel) -> &Shape {
        match kernel {
            Kernel::Small => &self.small,
            Kernel::Direct => &self.direct,
            Kernel::Bulk => &self.bulk,
        }
    }

    /// Whether kernels can be made of it for items of this layout.
    pub(crate) fn check(&self, item: &Layout) -> Result<(), Error> {
        Kernel::ALL.into_iter().try_for_each(|kernel| self.shape(kernel).check(item))?;
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        if self.small.stages.max(self.direct.stages) > 0 {
            return fail("the lanes of the small and the direct kernel load for themselves");
        }
        if !self.tiles_per_warp.is_power_of_two() {
            return fail("tiles_per_warp is a power of two");
        }
        if self.max_blocks == 0 {
            return fail("max_blocks is at least 1");
        }
        Ok(())
    }

    /// The launches that reduce `length` items: one, or one that leaves partials and one that finishes them. Wide loads
    /// reach the items if they are `aligned`.
    pub fn launches(
        &self,
        item: &Layout,
        length: u64,
        aligned: bool,
        bulk_copies: bool,
    ) -> (Launch, Option<Launch>) {
        if length <= self.one_block_items {
            return (self.one_block(length), None);
        }
        let small = length.saturating_mul(item.size as u64) <= self.small_bytes;
        let bulk = bulk_copies && self.bulk.stages > 0 && !aligned;
        let first = match (bulk, small) {
            (true, _) => self.blocks_of(Kernel::Bulk, length),
            (_, true) => self.blocks_of(Kernel::Small, length),
            (_, false) => self.blocks_of(Kernel::Direct, length),
        };
        (first, (first.blocks > 1).then(|| self.one_block(first.blocks.into())))
    }

    /// One block of the small kernel: more warps first, then more rows for each.
    pub(crate) fn one_block(&self, length: u64) -> Launch {
        let rows = length.div_ceil(self.small.row_items()).next_power_of_two();
        let warps = rows.min(self.small.warps.into()) as u32;
        Launch { kernel: Kernel::Small, blocks: 1, warps, rows_per_warp: rows / u64::from(warps) }
    }

    /// Powers of two of rows a warp: one for small inputs, up to a few tiles once a wave of blocks is full, and then as
    /// many as it takes for at most `max_blocks` blocks.
    fn blocks_of(&self, kernel: Kernel, length: u64) -> Launch {
        let shape = self.shape(kernel);
        let warps = if kernel == Kernel::Small { shape.warps.min(SMALL_WARPS) } else { shape.warps };
        let blocks = length.div_ceil(shape.row_items() * u64::from(warps)).max(1);
        let few = u64::from(shape.rows) * u64::from(self.tiles_per_warp);
        let wave = (blocks * u64::from(warps)).div_ceil(WAVE_WARPS);
        let rows_per_warp = wave.next_power_of_two().min(few);
        let rows_per_warp = rows_per_warp.max(blocks.div_ceil(self.max_blocks.into()).next_power_of_two());
        // A few rows, one after another, take longer than a whole tile.
        let rows_per_warp = if rows_per_warp > 1 { rows_per_warp.max(shape.rows.into()) } else { 1 };
        Launch { kernel, blocks: blocks.div_ceil(rows_per_warp) as u32, warps, rows_per_warp }
    }
}

impl Shape {
    /// So many warps that one block has all of a small input on its way at once.
    fn small(size: usize) -> Self {
        let warps = if size <= 16 { 32 } else { 16 };
        let mut shape = Self { warps, blocks_per_multiprocessor: 1, ..Self::of_lanes(size, 128) };
        if size == 1 {
            // So many warps have no registers to take more items apart.
            (shape.group_items, shape.rows) = (16, 2 * shape.rows);
        }
        let row = size * shape.row_items() as usize;
        let rows = PARTIAL_BYTES.div_ceil(warps as usize * row).next_power_of_two() as u32;
        Self { rows: rows.min(shape.rows), ..shape }
    }

    /// As many bytes on their way as registers allow: few warps of many rows are faster than many of few.
    fn direct(item: &Layout) -> Self {
        let few_scalars = scalars(item) <= FEW_SCALARS;
        let bytes = if few_scalars { 384 } else { 192 };
        let shape = Self { warps: 4, blocks_per_multiprocessor: 3, ..Self::of_lanes(item.size, bytes) };
        // What is combined across lanes is much of the work of small items, and their values fit in registers.
        shape.merging(few_scalars && item.size <= 24)
    }

    fn merging(self, merges: bool) -> Self {
        Self { merged_tiles: if merges && self.rows <= 8 { 4 } else { 1 }, ..self }
    }

    /// Few warps a block: they wait for one another less.
    fn bulk(item: &Layout) -> Self {
        let size = item.size;
        let (lane_bytes, blocks) = match size {
            // It takes many items apart, and has no registers for more.
            1 => (64, 4),
            ..24 => (160, 4),
            _ => (192, 3),
        };
        let shape = Self::of_lanes(size, lane_bytes);
        let slot = slot_bytes(size * shape.tile_items() as usize);
        let stages = (RING_BYTES / (8 * slot)).clamp(1, 4) as u32;
        let shape = shape.merging(scalars(item) <= FEW_SCALARS && shape.group_items <= 4);
        Self { warps: 4, blocks_per_multiprocessor: blocks, stages, ..shape }
    }

    /// Groups of wide loads, and so many rows of them that a lane has at most `bytes`, unless one group is larger.
    fn of_lanes(size: usize, bytes: usize) -> Self {
        // The fewest items whose bytes are a multiple of the widest load, and enough of them.
        let whole = WIDEST_LOAD / WIDEST_LOAD.min(1 << size.trailing_zeros());
        let (group_items, width) = match size * whole {
            group if group <= LARGEST_GROUP => {
                (whole * LEAST_GROUP.div_ceil(group).next_power_of_two(), WIDEST_LOAD)
            }
            _ => (1, WIDEST_LOAD.min(1 << size.trailing_zeros())),
        };
        let rows = match width {
            4.. => (bytes / (size * group_items)).clamp(1, 8),
            _ => 1,
        };
        Self {
            width: width as u32,
            group_items: group_items as u32,
            rows: 1 << rows.ilog2(),
            merged_tiles: 1,
            warps: 1,
            blocks_per_multiprocessor: 1,
            stages: 0,
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
        if !matches!((self.merged_tiles, rows), (1, _) | (4, ..=8)) {
            return fail("merged_tiles is 1, or 4 of at most 8 rows");
        }
        if self.shared_bytes(item) > RING_BYTES {
            return fail("the tiles on their way have at most 100,000 bytes");
        }
        if self.blocks_per_multiprocessor == 0 {
            return fail("blocks_per_multiprocessor is at least 1");
        }
        Ok(())
    }

    /// Items of one row: of each lane, a group.
    pub fn row_items(&self) -> u64 {
        u64::from(self.group_items) * 32
    }

    /// The power of two of items that each warp of a launch has.
    pub fn run_level(&self, launch: &Launch) -> u64 {
        (self.row_items() * launch.rows_per_warp).ilog2().into()
    }

    /// Items of one tile, which a warp reduces in registers.
    pub fn tile_items(&self) -> u64 {
        self.row_items() * u64::from(self.rows)
    }

    /// Shared memory that a block needs for tiles on their way, in bytes.
    pub fn shared_bytes(&self, item: &Layout) -> usize {
        let tile = item.size * self.tile_items() as usize;
        self.warps as usize * self.stages as usize * slot_bytes(tile)
    }
}

fn scalars(item: &Layout) -> usize {
    match &item.kind {
        Kind::Scalar(_) => 1,
        Kind::Array { element, length } => length * scalars(element),
        Kind::Struct { fields } => fields.iter().map(|field| scalars(&field.layout)).sum(),
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
        let shape = Policy::for_item(&T::layout()).direct;
        (shape.width, shape.group_items, shape.rows)
    }

    fn items() -> [Layout; 7] {
        [
            u8::layout(),
            <[u8; 3]>::layout(),
            f32::layout(),
            <[f32; 3]>::layout(),
            <[f64; 3]>::layout(),
            <[f32; 12]>::layout(),
            <[u8; 256]>::layout(),
        ]
    }

    #[test]
    fn groups_are_the_fewest_items_that_fill_whole_loads() {
        assert_eq!(shape_of::<u8>(), (16, 32, 8));
        assert_eq!(shape_of::<f32>(), (16, 8, 8));
        assert_eq!(shape_of::<[f32; 3]>(), (16, 4, 8));
        assert_eq!(shape_of::<[f32; 5]>(), (16, 4, 4));
        assert_eq!(shape_of::<[f64; 3]>(), (16, 2, 8));
        assert_eq!(shape_of::<[f32; 12]>(), (16, 1, 8));
        assert_eq!(shape_of::<[u8; 48]>(), (16, 1, 4));
        assert_eq!(shape_of::<[f32; 25]>(), (4, 1, 1));
        assert_eq!(shape_of::<[u8; 255]>(), (1, 1, 1));
        assert_eq!(shape_of::<[u8; 256]>(), (16, 1, 1));
    }

    #[test]
    fn every_item_is_in_one_block_and_every_partial_in_the_last() {
        for item in items() {
            let policy = Policy::for_item(&item);
            assert!(policy.check(&item).is_ok());
            let lengths =
                [1, 5, 1024, 8192, 8193, 16384, 16385, 1 << 20, (1 << 26) + 1, 1 << 33, (1 << 37) + 17];
            for (length, aligned) in lengths.into_iter().flat_map(|length| [(length, true), (length, false)])
            {
                let (first, second) = policy.launches(&item, length, aligned, true);
                for (launch, length) in
                    std::iter::once((first, length)).chain(second.map(|second| (second, first.blocks.into())))
                {
                    let shape = policy.shape(launch.kernel);
                    let block = shape.row_items() * launch.rows_per_warp * u64::from(launch.warps);
                    assert_eq!(
                        u64::from(launch.blocks),
                        length.div_ceil(block),
                        "{length} items of {}",
                        item.name
                    );
                    assert!(launch.blocks <= policy.max_blocks && launch.warps <= shape.warps);
                    assert!(launch.rows_per_warp.is_power_of_two());
                }
                assert_eq!(second.is_some(), first.blocks > 1);
                assert!(second.is_none_or(|second| second.blocks == 1));
            }
        }
    }

    #[test]
    fn small_inputs_take_one_launch() {
        for item in items() {
            let policy = Policy::for_item(&item);
            for length in [0, 1, policy.one_block_items / 2, policy.one_block_items] {
                let (first, second) = policy.launches(&item, length, false, true);
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
        assert!(refused(|policy| policy.direct.rows = 3));
        assert!(refused(|policy| policy.bulk.rows = 64));
        assert!(refused(|policy| policy.small.warps = 0));
        assert!(refused(|policy| policy.direct.group_items = 4));
        assert!(refused(|policy| policy.direct.group_items = 1 << 20));
        assert!(refused(|policy| policy.direct.stages = 1));
        assert!(refused(|policy| policy.direct.merged_tiles = 2));
        assert!(refused(|policy| (policy.direct.merged_tiles, policy.direct.rows) = (4, 16)));
        assert!(refused(|policy| policy.small.stages = 1));
        assert!(refused(|policy| policy.max_blocks = 0));
    }
}
