//! The last part of a source: the `extern "C"` kernel that instantiates the templates.

use std::fmt;

use super::arguments::{Arguments, Fields, RungArguments, ScanArguments};
use super::program::OperatorType;
use super::read::Reader;
use crate::Policy;
use crate::plan::ladder::Rung;
use crate::plan::{Kernel, ScanShape, Shape};

/// A kernel: how its template is called, and what both sides assume of its parameters.
pub(super) struct Entry {
    pub(super) name: &'static str,
    template: &'static str,
    /// The type of its reader in C++, if it has one.
    reader: Option<String>,
    arguments: Fields,
    /// The constants of a shape.
    shape: String,
    threads: u32,
    blocks_per_multiprocessor: u32,
    pub(super) is_soon_compiled: bool,
}

impl Entry {
    pub(super) fn of_reduction<R: Reader, T>(
        policy: &Policy,
        kernel: Kernel,
        operator: &OperatorType,
    ) -> Self {
        let Shape { width, group_items, rows, merged_tiles, runs, warps, blocks_per_multiprocessor } =
            policy.shape(kernel);
        let (name, template) = match kernel {
            Kernel::Small | Kernel::Large => ("warpfold_bracket", "bracket"),
            Kernel::Baseline => ("warpfold_baseline", "baseline"),
        };
        Self {
            name,
            template,
            reader: Some(R::cpp(operator)),
            arguments: Arguments::<R::Input, T>::fields(),
            shape: format!(
                "WIDTH = {width}, GROUP_ITEMS = {group_items}, ROWS = {rows}, MERGED_TILES = {merged_tiles}, RUNS = {runs}, WARPS = {warps}"
            ),
            threads: warps * 32,
            blocks_per_multiprocessor,
            is_soon_compiled: kernel == Kernel::Baseline,
        }
    }

    pub(super) fn of_scan<R: Reader, T>(shape: &ScanShape, operator: &OperatorType) -> Self {
        let ScanShape { run_items, rows, unit_items, warps, groups, blocks_per_multiprocessor, places } =
            *shape;
        Self {
            name: "warpfold_scan",
            template: "scan",
            reader: Some(R::cpp(operator)),
            arguments: ScanArguments::<R::Input, T>::fields(),
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
            reader: None,
            arguments: RungArguments::<T>::fields(),
            shape: format!("THREADS = {threads}, ADDS = {}", u32::from(adds)),
            threads,
            blocks_per_multiprocessor: 1,
            is_soon_compiled: false,
        }
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, template, arguments, reader, shape, threads, .. } = self;
        let blocks = self.blocks_per_multiprocessor;
        let (reader, arguments, of) = match reader {
            Some(reader) => (
                format!("typedef ::warpfold::{reader} Reader;\n"),
                arguments.assertions("Reader::Input, Item"),
                "Shape, Reader",
            ),
            None => (String::new(), arguments.assertions("Item"), "Shape"),
        };
        write!(
            f,
            "
namespace program {{

{reader}{arguments}
struct Shape {{
    static constexpr unsigned {shape};
}};
WARPFOLD_KERNEL({threads}, {blocks}) {name}(WARPFOLD_PARAMETER Arguments arguments, WARPFOLD_PARAMETER Operator op) {{
    ::warpfold::{template}<{of}>(arguments, op);
}}

}}  // namespace program
"
        )
    }
}
