//! The sources of kernels that reduce segments: `templates/segments/`.

use std::mem::MaybeUninit;

use super::arguments::arguments;
use super::entry::Entry;
use super::program::OperatorType;
use super::read::{ArrayOfItems, Reader, ReaderOf, data_of, operator_of};
use super::reduce::{COUNTER, RUNS};
use super::rendered::Source;
use super::templates::{LANES, Template};
use crate::plan::{Kernel, LaneShape, SegmentPolicy, Shape};
use crate::{DeviceAggregate, DeviceMonoid, Error};

arguments! {
    /// The arguments of a kernel that reduces segments: see `templates/segments/arguments.cuh`.
    SegmentArguments<I, T> {
        input: I,
        segments: u64,
        length: u64,
        pitch: u64,
        stride: u64,
        output: u64,
        at_once: u64,
        lanes_level: u32,
        run_level: u32,
        identity: MaybeUninit<T>,
    }
}

arguments! {
    /// The arguments of a kernel that reduces segments by offsets: see
    /// `templates/segments/by_offsets.cuh`.
    OffsetArguments<I, T> {
        input: I,
        length: u64,
        segments: u64,
        begins: u64,
        ends: u64,
        output: u64,
        wrong: u64,
        lists: u64,
        most_parts: u64,
        width: u32,
        is_signed: u32,
        stage: u32,
        part_level: u32,
        most_parts_level: u32,
        identity: MaybeUninit<T>,
    }
}

const WINDOW: Template = ("read/window.cuh", include_str!("../../templates/read/window.cuh"));
const ARGUMENTS: Template =
    ("segments/arguments.cuh", include_str!("../../templates/segments/arguments.cuh"));
const LANE_RUN: Template = ("segments/lane_run.cuh", include_str!("../../templates/segments/lane_run.cuh"));
const BY_COLUMNS: Template =
    ("segments/by_columns.cuh", include_str!("../../templates/segments/by_columns.cuh"));
const BY_OFFSETS: Template =
    ("segments/by_offsets.cuh", include_str!("../../templates/segments/by_offsets.cuh"));
const BY_LANES: Template = ("segments/by_lanes.cuh", include_str!("../../templates/segments/by_lanes.cuh"));
const BY_WARPS: Template = ("segments/by_warps.cuh", include_str!("../../templates/segments/by_warps.cuh"));

/// Blocks of the kernel for columns that a multiprocessor should hold at once.
const COLUMN_BLOCKS: u32 = 4;
/// The most for segments by offsets.
const OFFSET_BLOCKS: u32 = 8;

impl Source {
    /// Renders a kernel that reduces the segments of an array with `A`.
    ///
    /// # Errors
    ///
    /// - [`Error::Policy`] if no kernel can follow the policy.
    /// - The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    pub fn of_segments<A: DeviceAggregate>(policy: &SegmentPolicy, kernel: Kernel) -> Result<Self, Error> {
        Self::of_segments_by::<A::Operator, ReaderOf<A>>(policy, kernel)
    }

    /// Renders a kernel that reduces segments of items with the operator of an aggregate's kernels.
    ///
    /// # Errors
    ///
    /// The errors of [`of_segments`](Self::of_segments).
    pub fn of_segments_of_partials<M: DeviceMonoid>(
        policy: &SegmentPolicy,
        kernel: Kernel,
    ) -> Result<Self, Error> {
        Self::of_segments_by::<M, ArrayOfItems>(policy, kernel)
    }

    /// Renders a kernel that reduces the segments of a reader with `M`.
    pub(crate) fn of_segments_by<M: DeviceMonoid, R: Reader>(
        policy: &SegmentPolicy,
        kernel: Kernel,
    ) -> Result<Self, Error> {
        policy.check(&data_of::<M, R>())?;
        let operator = operator_of::<M, R>();
        let primitive = match kernel {
            Kernel::ByWarps => [&RUNS[..], &[ARGUMENTS, BY_WARPS]].concat(),
            Kernel::ByColumns => vec![ARGUMENTS, LANE_RUN, BY_COLUMNS],
            Kernel::ByOffsets => vec![COUNTER, WINDOW, ARGUMENTS, LANE_RUN, BY_OFFSETS],
            _ => vec![WINDOW, ARGUMENTS, LANE_RUN, BY_LANES],
        };
        let templates = [&LANES[..], R::TEMPLATES, &primitive].concat();
        Self::render::<M>(&operator, &templates, &entry::<R, M::Item>(policy, kernel, &operator))
    }
}

fn entry<R: Reader, T>(policy: &SegmentPolicy, kernel: Kernel, operator: &OperatorType) -> Entry {
    let (template, shape, warps, blocks_per_multiprocessor) = match kernel {
        Kernel::ByWarps => {
            let Shape { width, group_items, rows, merged_tiles, warps, blocks_per_multiprocessor, .. } =
                policy.by_warps;
            let shape = format!(
                "WIDTH = {width}, GROUP_ITEMS = {group_items}, ROWS = {rows}, MERGED_TILES = {merged_tiles}"
            );
            ("reduce_by_warps", shape, warps, blocks_per_multiprocessor)
        }
        Kernel::ByColumns => {
            let LaneShape { unit_items, .. } = policy.by_lanes;
            let shape = format!("MOST_RUN = {}, UNIT_ITEMS = {unit_items}", policy.column_run);
            ("reduce_by_columns", shape, policy.warps(kernel), COLUMN_BLOCKS)
        }
        _ => {
            let LaneShape { window_items, most_run, unit_items, warps, blocks_per_multiprocessor } =
                policy.by_lanes;
            let shape =
                format!("WINDOW_ITEMS = {window_items}, MOST_RUN = {most_run}, UNIT_ITEMS = {unit_items}");
            match kernel {
                // One window for each warp, so twice as many blocks.
                Kernel::ByOffsets => {
                    ("reduce_by_offsets", shape, warps, (2 * blocks_per_multiprocessor).min(OFFSET_BLOCKS))
                }
                _ => ("reduce_by_lanes", shape, warps, blocks_per_multiprocessor),
            }
        }
    };
    Entry {
        name: "warpfold_segments",
        template,
        reader: Some(R::cpp(operator)),
        arguments: match kernel {
            Kernel::ByOffsets => OffsetArguments::<R::Input, T>::fields(),
            _ => SegmentArguments::<R::Input, T>::fields(),
        },
        shape,
        threads: warps * 32,
        blocks_per_multiprocessor,
        compiles_fast: false,
    }
}
