//! The plan of a reduction of segments: of many runs of adjacent elements, each by itself.

use super::data::Data;
use super::kernel::Kernel;
use super::memory::partial_bytes;
use super::shape::Shape;
use crate::types::Segments;
use crate::{Error, Layout};

/// Bytes of the elements that a warp has in shared memory at once, of all arrays together. A block
/// has two such windows for each warp.
const WINDOW_BYTES: usize = 4 << 10;
/// Most elements of a window.
const WINDOW_ITEMS: u32 = 4096;
/// Fewest elements of a run that a lane reduces alone, if the segment has as many.
const LEAST_RUN: u32 = 4;
/// Warps of a block that reduces short segments.
const WARPS: u32 = 4;
/// Blocks of short segments that a multiprocessor should hold at once.
const HELD_BLOCKS: u32 = 6;
/// Elements that unrolled code reduces, of items of at most this many bytes. Of larger items there
/// are as few as possible: each copy of their operator takes compile time.
const LONG_UNIT: u32 = 16;
const LARGEST_IN_LONG_UNITS: usize = 24;
/// Most elements of a window for each element of a run.
const WINDOW_OF_RUN: u32 = 16;
/// How long a pass of a warp over segments takes besides the elements of a lane, and how long it
/// takes to combine lanes that are neighbours. In the time of an element of a lane.
const STEPS_OF_PASS: u64 = 4;
const STEPS_OF_LEVEL: u64 = 2;
/// Parts that each warp of a wave should have, where offsets give the segments.
const PARTS_OF_WARP: u64 = 4;
/// Most parts of an input.
const MOST_PARTS: u64 = 1 << 18;
/// The base-2 logarithm of the windows that a part has where there are enough parts.
const PART_WINDOWS_LEVEL: u32 = 2;
/// The base-2 logarithm of the most parts of one segment.
const MOST_PARTS_LEVEL: u32 = 12;
/// Warps of a block that reduces columns, and the lanes that a multiprocessor should have.
const COLUMN_WARPS: u32 = 8;
const COLUMN_LANES: u64 = 2048;
/// Most and fewest elements of a column that a lane reduces, if the column has as many.
const COLUMN_RUN: u32 = 512;
const LEAST_COLUMN_RUN: u64 = 16;
/// Approximate number of multiprocessors of a large GPU.
const MULTIPROCESSORS: u64 = 128;
/// Most tiles of a chunk of a long segment.
const CHUNK_TILES: u64 = 8;
/// A chunk of a shape without tiles has as many rows as this.
const CHUNK_ROWS: u64 = 32;

/// How segments are divided among warps and lanes.
///
/// The default is [`SegmentPolicy::for_data`].
/// [`Reduction::with_segment_policy`](crate::Reduction::with_segment_policy) takes another one, for
/// measurements and tests. Every policy gives the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SegmentPolicy {
    /// The shape of the kernel for short segments: those that fit into a window.
    pub by_lanes: LaneShape,
    /// The shape of the kernel for long segments.
    pub by_warps: Shape,
    /// Most elements of a chunk of a long segment: a power of two of rows of `by_warps`.
    pub chunk_items: u64,
    /// Most elements of a column that a lane reduces: a power of two of at least 16.
    pub column_run: u32,
}

/// The compile-time parameters of the kernel for short segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LaneShape {
    /// Elements that a warp has in shared memory at once, at most.
    pub window_items: u32,
    /// Most elements of a lane: a power of two.
    pub most_run: u32,
    /// Elements of a lane that unrolled code reduces: a power of two from 4 to 16, at most `most_run`.
    pub unit_items: u32,
    /// Warps of a block.
    pub warps: u32,
    /// Blocks that each multiprocessor should hold at once. It limits the registers of a thread.
    pub blocks_per_multiprocessor: u32,
}

/// The plan of a reduction of segments that offsets give. See `templates/segments/by_offsets.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetPlan {
    /// The number of segments.
    pub segments: u64,
    /// The base-2 logarithm of the elements of a part, at least. A segment of more elements is split.
    pub part_level: u32,
    /// The base-2 logarithm of the most parts of a segment.
    pub most_parts_level: u32,
    /// The most parts of all segments. 0 if there are too few elements to split a segment.
    pub most_parts: u64,
}

/// What a launch of an [`OffsetPlan`] reduces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The segments. Those that are split are only listed.
    Segments,
    /// The listed parts.
    Parts,
    /// The partials of each split segment.
    Partials,
}

impl OffsetPlan {
    /// Bytes of the lists before the first part.
    pub(crate) const HEADER_BYTES: u64 = 128;
    /// Bytes of a listed part, and of a split segment.
    const PART_BYTES: u64 = 8;
    const SPLIT_BYTES: u64 = 32;

    /// The launches.
    pub fn stages(&self) -> &'static [Stage] {
        match self.most_parts {
            0 => &[Stage::Segments],
            _ => &[Stage::Segments, Stage::Parts, Stage::Partials],
        }
    }

    /// The number of blocks of a launch, on a GPU that holds `resident` blocks at once.
    pub fn blocks(&self, stage: Stage, policy: &SegmentPolicy, resident: u32) -> u32 {
        let warps = match stage {
            Stage::Segments => self.segments,
            Stage::Parts => self.most_parts,
            Stage::Partials => self.most_parts / 2,
        };
        warps.div_ceil(policy.warps(Kernel::ByOffsets).into()).min(resident.max(1).into()) as u32
    }

    /// Bytes of the lists: of a header, of the parts, and of the split segments.
    pub fn list_bytes(&self) -> u64 {
        Self::HEADER_BYTES + Self::PART_BYTES * self.most_parts + Self::SPLIT_BYTES * (self.most_parts / 2)
    }

    /// Bytes of the partials.
    pub fn partial_bytes(&self, item: &Layout) -> u64 {
        partial_bytes(item, self.most_parts)
    }
}

/// One launch of a reduction of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentLaunch {
    /// The kernel.
    pub kernel: Kernel,
    /// The segments that it reads: of elements, or of partials.
    pub segments: Segments,
    /// By lanes: the segments that a warp has in shared memory at once. Otherwise the chunks of a
    /// segment.
    pub at_once: u64,
    /// By lanes: the base-2 logarithm of the lanes of a segment.
    pub lanes_level: u32,
    /// The base-2 logarithm of the elements of a lane, or by warps of the rows of a chunk.
    pub run_level: u32,
}

impl SegmentLaunch {
    /// The number of values that the launch writes.
    pub fn values(&self) -> u64 {
        match self.kernel {
            Kernel::ByLanes => self.segments.count,
            _ => self.segments.count * self.at_once,
        }
    }

    /// Whether the values are the results.
    pub fn is_final(&self) -> bool {
        self.values() == self.segments.count
    }

    /// The warps that have work.
    fn warps(&self) -> u64 {
        match self.kernel {
            Kernel::ByLanes => self.segments.count.div_ceil(self.at_once),
            Kernel::ByColumns => self.values().div_ceil(32),
            _ => self.values(),
        }
    }

    /// The number of blocks, on a GPU that holds `resident` blocks at once.
    pub fn blocks(&self, policy: &SegmentPolicy, resident: u32) -> u32 {
        let most = u64::from(resident.max(1));
        self.warps().div_ceil(policy.warps(self.kernel).into()).min(most) as u32
    }
}

impl SegmentPolicy {
    /// The policy for any data, on every architecture.
    pub fn for_data(data: &Data) -> Self {
        let by_warps = Shape::large(data);
        let fits = (WINDOW_BYTES / data.element_bytes()).max(1) as u32;
        let window_items = fits.min(WINDOW_ITEMS);
        let chunk_items = match by_warps.rows {
            1 => by_warps.row_items() * CHUNK_ROWS,
            _ => by_warps.tile_items() * CHUNK_TILES,
        };
        let most_run = (window_items / WINDOW_OF_RUN).next_power_of_two().max(LEAST_RUN);
        let unit_items = if data.item.size <= LARGEST_IN_LONG_UNITS { LONG_UNIT } else { LEAST_RUN };
        let unit_items = unit_items.min(most_run);
        let by_lanes = LaneShape {
            window_items,
            most_run,
            unit_items,
            warps: WARPS,
            blocks_per_multiprocessor: HELD_BLOCKS,
        };
        Self { by_lanes, by_warps, chunk_items, column_run: COLUMN_RUN }
    }

    /// The warps of a block.
    pub fn warps(&self, kernel: Kernel) -> u32 {
        match kernel {
            Kernel::ByLanes | Kernel::ByOffsets => self.by_lanes.warps,
            Kernel::ByColumns => COLUMN_WARPS,
            _ => self.by_warps.warps,
        }
    }

    /// The dynamic shared memory of a block, in bytes.
    pub fn shared_bytes(&self, kernel: Kernel, data: &Data) -> usize {
        match kernel {
            Kernel::ByColumns => 0,
            Kernel::ByWarps => self.by_warps.shared_bytes(data),
            _ => {
                let LaneShape { window_items, warps, .. } = self.by_lanes;
                // By lanes, a warp reads one window while it copies another.
                let windows = if kernel == Kernel::ByLanes { 2 } else { 1 };
                windows * warps as usize * window_bytes(data, window_items as usize)
            }
        }
    }

    /// The plan that reduces `segments` segments of `length` elements, which offsets give.
    pub fn by_offsets(&self, segments: u64, length: u64) -> OffsetPlan {
        let LaneShape { warps, blocks_per_multiprocessor, window_items, .. } = self.by_lanes;
        let wave = MULTIPROCESSORS * u64::from(warps * blocks_per_multiprocessor);
        let window_level = window_items.ilog2();
        let mut part_level = window_level;
        while length >> part_level > PARTS_OF_WARP * wave && part_level < window_level + PART_WINDOWS_LEVEL {
            part_level += 1;
        }
        while length >> part_level > MOST_PARTS {
            part_level += 1;
        }
        // A segment of more elements than a part has at most twice as many parts as it fills.
        let most_parts = if length > 1 << part_level { 2 * (length >> part_level) } else { 0 };
        OffsetPlan { segments, part_level, most_parts_level: MOST_PARTS_LEVEL, most_parts }
    }

    /// The launches that reduce segments, where later launches use the policy `of_partials` for an
    /// array of items. Each launch but the last leaves partials, as many for each segment, to the
    /// next.
    pub fn launches(&self, of_partials: &Self, segments: Segments) -> Vec<SegmentLaunch> {
        let mut launches = Vec::new();
        if segments.count == 0 {
            return launches;
        }
        let mut launch = self.launch(segments);
        loop {
            launches.push(launch);
            if launch.is_final() {
                return launches;
            }
            // The partials of a row are adjacent, and those of a column are a column.
            let (length, count) = (launch.at_once, segments.count);
            launch = match launch.kernel {
                Kernel::ByColumns => {
                    of_partials.by_columns(Segments { count, length, pitch: 1, stride: count })
                }
                _ => of_partials.launch(Segments { count, length, pitch: length, stride: 1 }),
            };
        }
    }

    fn launch(&self, segments: Segments) -> SegmentLaunch {
        let Segments { count, length, pitch, stride } = segments;
        if stride != 1 || length == 0 {
            return self.by_columns(segments);
        }
        let window = u64::from(self.by_lanes.window_items);
        let shape = &self.by_warps;
        let warps = MULTIPROCESSORS * u64::from(shape.warps * shape.blocks_per_multiprocessor);
        // A row of whole tiles keeps all lanes busy, however short it is.
        let has_whole_tiles = shape.rows > 1 && length.is_multiple_of(shape.tile_items());
        if length <= window && !has_whole_tiles {
            // Fewer segments for each warp if there are too few for all multiprocessors.
            let fitting = ((window - length) / pitch + 1).min((count / warps).max(1));
            return self.by_lanes(segments, fitting);
        }
        // Chunks of fewer elements if there are too few for all multiprocessors.
        let least = shape.tile_items();
        let mut chunk = self.chunk_items;
        while chunk > least && count.saturating_mul(length.div_ceil(chunk)) < warps {
            chunk /= 2;
        }
        SegmentLaunch {
            kernel: Kernel::ByWarps,
            segments,
            at_once: length.div_ceil(chunk),
            lanes_level: 0,
            run_level: (chunk / shape.row_items()).ilog2(),
        }
    }

    /// A launch in which a window has `fitting` segments. The lanes of a segment are those with which
    /// the warp takes the fewest steps for each segment.
    fn by_lanes(&self, segments: Segments, fitting: u64) -> SegmentLaunch {
        let mut best = (u64::MAX, 1, 0, 0);
        for lanes_level in 0..=5_u32 {
            let lanes = 1 << lanes_level;
            let run = segments.length.div_ceil(lanes).next_power_of_two().max(LEAST_RUN.into());
            if run > u64::from(self.by_lanes.most_run) {
                continue;
            }
            // Whole passes of the warp over a window.
            let of_pass = 32 / lanes;
            let at_once = if fitting > of_pass { fitting / of_pass * of_pass } else { fitting };
            let steps = run.min(segments.length) + STEPS_OF_LEVEL * u64::from(lanes_level) + STEPS_OF_PASS;
            let cost = steps * at_once.div_ceil(of_pass) * 1024 / at_once;
            best = best.min((cost, at_once, lanes_level, run.ilog2()));
        }
        let (_, at_once, lanes_level, run_level) = best;
        SegmentLaunch { kernel: Kernel::ByLanes, segments, at_once, lanes_level, run_level }
    }

    /// A launch whose lanes have enough elements each, and are enough for all multiprocessors.
    fn by_columns(&self, segments: Segments) -> SegmentLaunch {
        let lanes = MULTIPROCESSORS * COLUMN_LANES;
        let mut run = u64::from(self.column_run);
        while run > LEAST_COLUMN_RUN && segments.count.saturating_mul(segments.length.div_ceil(run)) < lanes {
            run /= 2;
        }
        SegmentLaunch {
            kernel: Kernel::ByColumns,
            segments,
            at_once: segments.length.div_ceil(run).max(1),
            lanes_level: 0,
            run_level: run.ilog2(),
        }
    }

    /// Scratch memory of launches, in bytes: the partials of each but the last.
    pub fn memory_bytes(launches: &[SegmentLaunch], item: &Layout) -> u64 {
        let partials = launches.iter().filter(|launch| !launch.is_final());
        partials.map(|launch| partial_bytes(item, launch.values())).sum()
    }

    /// Checks that the kernels of this policy can be compiled for `data`.
    pub(crate) fn check(&self, data: &Data) -> Result<(), Error> {
        self.by_warps.check(data)?;
        let fail = |reason: &str| Err(Error::Policy { reason: reason.to_owned() });
        let LaneShape { window_items, most_run, unit_items, warps, blocks_per_multiprocessor } =
            self.by_lanes;
        if !(1..=1 << 16).contains(&window_items) || !most_run.is_power_of_two() || most_run < LEAST_RUN {
            return fail("a window has 1 to 2^16 elements, and a run a power of two of at least 4");
        }
        if !matches!(unit_items, 4 | 8 | 16) || unit_items > most_run {
            return fail("a unit has 4, 8 or 16 elements, and at most as many as a run");
        }
        if u64::from(window_items) > 32 * u64::from(most_run) {
            return fail("the runs of 32 lanes have the elements of a window");
        }
        if !matches!((warps, blocks_per_multiprocessor), (1..=32, 1..=32)) {
            return fail("warps and blocks_per_multiprocessor are 1 to 32");
        }
        if self.shared_bytes(Kernel::ByLanes, data) > 64 << 10 {
            return fail("the windows of a block have at most 64 KiB");
        }
        if !self.column_run.is_power_of_two() || self.column_run < 16 {
            return fail("column_run is a power of two of at least 16");
        }
        let rows = self.chunk_items / self.by_warps.row_items();
        if !self.chunk_items.is_multiple_of(self.by_warps.tile_items()) || !rows.is_power_of_two() {
            return fail("a chunk is a power of two of rows, and of whole tiles");
        }
        Ok(())
    }
}

/// Bytes of a window in shared memory. The same as `Window::bytes` in `templates/read/window.cuh`.
fn window_bytes(data: &Data, items: usize) -> usize {
    data.array_sizes()
        .map(|size| {
            // A bitmap has its bits, with the bytes in which it begins and ends.
            let bytes = size.map_or(items / 8 + 2, |size| items * size) + 32;
            (bytes + 16 * (bytes / 128)).next_multiple_of(128)
        })
        .sum()
}

#[cfg(test)]
mod tests;
