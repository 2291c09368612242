//! The sources of kernels that reduce: `templates/reduce/`.

use std::mem::MaybeUninit;

use super::arguments::arguments;
use super::entry::Entry;
use super::program::OperatorType;
use super::read::{ArrayOfItems, Reader, ReaderOf, data_of, operator_of};
use super::rendered::Source;
use super::templates::{LANES, Template};
use crate::plan::{Kernel, Policy, Shape};
use crate::{DeviceAggregate, DeviceMonoid, Error};

arguments! {
    /// The arguments of a kernel that reduces: see `templates/reduce/arguments.cuh`.
    Arguments<I, T> {
        input: I,
        length: u64,
        output: u64,
        tickets: u64,
        runs: u32,
        row_level: u32,
        epoch: u32,
        whole: u32,
        gathers: u32,
        identity: MaybeUninit<T>,
    }
}

/// The template of the arguments.
const ARGUMENTS: Template = ("reduce/arguments.cuh", include_str!("../../templates/reduce/arguments.cuh"));
/// The template of a counter of a warp's values.
pub(super) const COUNTER: Template =
    ("reduce/counter.cuh", include_str!("../../templates/reduce/counter.cuh"));
/// The templates of a run of one warp.
pub(super) const RUNS: [Template; 3] = [
    COUNTER,
    ("reduce/run.cuh", include_str!("../../templates/reduce/run.cuh")),
    ("reduce/tiles.cuh", include_str!("../../templates/reduce/tiles.cuh")),
];
/// The templates of the tuned kernels, after those of runs.
const REDUCTION: [Template; 4] = [
    ("reduce/partials.cuh", include_str!("../../templates/reduce/partials.cuh")),
    ("reduce/rows.cuh", include_str!("../../templates/reduce/rows.cuh")),
    ("reduce/chunks.cuh", include_str!("../../templates/reduce/chunks.cuh")),
    ("reduce/bracket.cuh", include_str!("../../templates/reduce/bracket.cuh")),
];
/// The template of the baseline kernel. It needs no other template, and parsing takes time.
const BASELINE: Template = ("reduce/baseline.cuh", include_str!("../../templates/reduce/baseline.cuh"));

impl Source {
    /// Renders a kernel that reduces the elements of an array with `A`.
    ///
    /// # Errors
    ///
    /// - [`Error::Policy`] if no kernel can follow the policy.
    /// - The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    pub fn of_reduction<A: DeviceAggregate>(policy: &Policy, kernel: Kernel) -> Result<Self, Error> {
        Self::of_reduction_by::<A::Operator, ReaderOf<A>>(policy, kernel)
    }

    /// Renders a kernel that reduces items with the operator of an aggregate's kernels.
    ///
    /// # Errors
    ///
    /// The errors of [`of_reduction`](Self::of_reduction).
    pub fn of_partials<M: DeviceMonoid>(policy: &Policy, kernel: Kernel) -> Result<Self, Error> {
        Self::of_reduction_by::<M, ArrayOfItems>(policy, kernel)
    }

    /// Renders a kernel that reduces the elements of a reader with `M`.
    pub(crate) fn of_reduction_by<M: DeviceMonoid, R: Reader>(
        policy: &Policy,
        kernel: Kernel,
    ) -> Result<Self, Error> {
        policy.check(&data_of::<M, R>())?;
        let operator = operator_of::<M, R>();
        let primitive = match kernel {
            Kernel::Baseline => vec![BASELINE],
            _ => [&RUNS[..], &REDUCTION].concat(),
        };
        let templates = [&LANES[..], R::TEMPLATES, &[ARGUMENTS], &primitive].concat();
        let entry = entry::<R, M::Item>(policy, kernel, &operator);
        Self::render::<M>(&operator, &templates, &entry)
    }
}

fn entry<R: Reader, T>(policy: &Policy, kernel: Kernel, operator: &OperatorType) -> Entry {
    let Shape { width, group_items, rows, merged_tiles, runs, warps, blocks_per_multiprocessor } =
        policy.shape(kernel);
    let (name, template) = match kernel {
        Kernel::Baseline => ("warpfold_baseline", "baseline"),
        _ => ("warpfold_bracket", "bracket"),
    };
    Entry {
        name,
        template,
        reader: Some(R::cpp(operator)),
        arguments: Arguments::<R::Input, T>::fields(),
        shape: format!(
            "WIDTH = {width}, GROUP_ITEMS = {group_items}, ROWS = {rows}, MERGED_TILES = {merged_tiles}, RUNS = {runs}, WARPS = {warps}"
        ),
        threads: warps * 32,
        blocks_per_multiprocessor,
        compiles_fast: kernel == Kernel::Baseline,
    }
}
