//! The last part of a source: the `extern "C"` kernel that instantiates the templates.

use std::fmt;
use std::mem::{MaybeUninit, offset_of};

use crate::Policy;
use crate::plan::ladder::Rung;
use crate::plan::{Kernel, ScanShape, Shape};

/// The first parameter of a kernel that reduces, as `templates/reduce/arguments.cuh` declares it.
#[repr(C)]
pub(crate) struct Arguments<T> {
    pub(crate) input: u64,
    pub(crate) length: u64,
    pub(crate) output: u64,
    pub(crate) tickets: u64,
    pub(crate) runs: u32,
    pub(crate) row_level: u32,
    pub(crate) serial: u32,
    pub(crate) whole: u32,
    pub(crate) gathers: u32,
    pub(crate) identity: MaybeUninit<T>,
}

/// The first parameter of a kernel that scans, as `templates/scan/scan.cuh` declares it.
#[repr(C)]
pub(crate) struct ScanArguments<T> {
    pub(crate) input: u64,
    pub(crate) length: u64,
    pub(crate) output: u64,
    pub(crate) shared: u64,
    pub(crate) tiles: u64,
    pub(crate) exclusive: u32,
    pub(crate) identity: MaybeUninit<T>,
}

/// The first parameter of a kernel of the ladder, as `templates/ladder/rung.cuh` declares it.
#[repr(C)]
pub(crate) struct RungArguments<T> {
    pub(crate) input: u64,
    pub(crate) length: u64,
    pub(crate) output: u64,
    pub(crate) shared: u64,
    pub(crate) block_level: u64,
    pub(crate) identity: MaybeUninit<T>,
}

/// A kernel: how its template is called, and what both sides assume of its parameters.
pub(super) struct Entry {
    pub(super) name: &'static str,
    template: &'static str,
    arguments: &'static str,
    /// Of the arguments.
    size: usize,
    /// Of the identity among them.
    offset: usize,
    /// The constants of a shape.
    shape: String,
    threads: u32,
    blocks_per_multiprocessor: u32,
    pub(super) is_soon_compiled: bool,
}

impl Entry {
    pub(super) fn of_reduction<T>(policy: &Policy, kernel: Kernel) -> Self {
        let Shape { width, group_items, rows, merged_tiles, runs, warps, blocks_per_multiprocessor } =
            policy.shape(kernel);
        let (name, template) = match kernel {
            Kernel::Row => ("warpfold_row", "row"),
            Kernel::Small | Kernel::Large => ("warpfold_bracket", "bracket"),
            Kernel::Gather => ("warpfold_gather", "gather"),
            Kernel::Baseline => ("warpfold_baseline", "baseline"),
        };
        Self {
            name,
            template,
            arguments: "Arguments",
            size: size_of::<Arguments<T>>(),
            offset: offset_of!(Arguments<T>, identity),
            shape: format!(
                "WIDTH = {width}, GROUP_ITEMS = {group_items}, ROWS = {rows}, MERGED_TILES = {merged_tiles}, RUNS = {runs}, WARPS = {warps}"
            ),
            threads: warps * 32,
            blocks_per_multiprocessor,
            is_soon_compiled: kernel == Kernel::Baseline,
        }
    }

    pub(super) fn of_scan<T>(shape: &ScanShape) -> Self {
        let ScanShape { run_items, rows, unit_items, warps, groups, blocks_per_multiprocessor, places } =
            *shape;
        Self {
            name: "warpfold_scan",
            template: "scan",
            arguments: "ScanArguments",
            size: size_of::<ScanArguments<T>>(),
            offset: offset_of!(ScanArguments<T>, identity),
            shape: format!(
                "RUN_ITEMS = {run_items}, ROWS = {rows}, UNIT_ITEMS = {unit_items}, WARPS = {warps}, GROUPS = {groups}, PLACES = {places}"
            ),
            threads: warps * groups * 32,
            blocks_per_multiprocessor,
            is_soon_compiled: false,
        }
    }

    pub(super) fn of_rung<T>(rung: Rung, threads: u32, adds: bool) -> Self {
        Self {
            name: "warpfold_rung",
            template: super::ladder::function(rung),
            arguments: "RungArguments",
            size: size_of::<RungArguments<T>>(),
            offset: offset_of!(RungArguments<T>, identity),
            shape: format!("THREADS = {threads}, ADDS = {}", u32::from(adds)),
            threads,
            blocks_per_multiprocessor: 1,
            is_soon_compiled: false,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, template, arguments, size, offset, shape, threads, .. } = self;
        let blocks = self.blocks_per_multiprocessor;
        write!(
            f,
            "
namespace program {{

typedef ::warpfold::{arguments}<Item> Arguments;
static_assert(sizeof(Arguments) == {size}, \"kernel arguments\");
static_assert(WARPFOLD_OFFSET(Arguments, identity) == {offset}, \"kernel arguments\");

struct Shape {{
    static constexpr unsigned {shape};
}};
WARPFOLD_KERNEL({threads}, {blocks}) {name}(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {{
    ::warpfold::{template}<Shape>(arguments, op);
}}

}}  // namespace program
"
        )
    }
}
