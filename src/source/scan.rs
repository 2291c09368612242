//! The sources of kernels that scan: `templates/scan/`.

use std::mem::MaybeUninit;

use super::arguments::arguments;
use super::entry::Entry;
use super::program::OperatorType;
use super::read::{Reader, ReaderOf, operator_of};
use super::rendered::Source;
use super::templates::{LANES, Template};
use crate::plan::{Kernel, ScanPolicy, ScanShape};
use crate::{DeviceAggregate, DeviceMonoid, DeviceType, Error};

arguments! {
    /// The arguments of a kernel that scans: see `templates/scan/scan.cuh`.
    ScanArguments<I, T> {
        input: I,
        length: u64,
        output: u64,
        shared: u64,
        tiles: u64,
        exclusive: u32,
        identity: MaybeUninit<T>,
    }
}

/// The templates of the kernels.
const SCAN: [Template; 5] = [
    ("scan/prefixes.cuh", include_str!("../../templates/scan/prefixes.cuh")),
    ("scan/look_back.cuh", include_str!("../../templates/scan/look_back.cuh")),
    ("scan/staging.cuh", include_str!("../../templates/scan/staging.cuh")),
    ("scan/runs.cuh", include_str!("../../templates/scan/runs.cuh")),
    ("scan/scan.cuh", include_str!("../../templates/scan/scan.cuh")),
];

impl Source {
    /// Renders a kernel that scans the elements of an array with `A`.
    ///
    /// # Errors
    ///
    /// - [`Error::Policy`] if no kernel can follow the policy.
    /// - The errors of an operator that has no CUDA C++ form, such as [`Error::Untranslatable`].
    pub fn of_scan<A: DeviceAggregate>(policy: &ScanPolicy, kernel: Kernel) -> Result<Self, Error> {
        Self::of_scan_by::<A::Operator, ReaderOf<A>>(policy, kernel)
    }

    /// Renders a kernel that scans the elements of a reader with `M`.
    pub(crate) fn of_scan_by<M: DeviceMonoid, R: Reader>(
        policy: &ScanPolicy,
        kernel: Kernel,
    ) -> Result<Self, Error> {
        policy.check(&M::Item::layout())?;
        let operator = operator_of::<M, R>();
        let templates = [&LANES[..], R::TEMPLATES, &SCAN].concat();
        let entry = entry::<R, M::Item>(policy.shape(kernel), &operator);
        Self::render::<M>(&operator, &templates, &entry)
    }
}

fn entry<R: Reader, T>(shape: &ScanShape, operator: &OperatorType) -> Entry {
    let ScanShape { run_items, rows, unit_items, warps, groups, blocks_per_multiprocessor, places } = *shape;
    Entry {
        name: "warpfold_scan",
        template: "scan",
        reader: Some(R::cpp(operator)),
        arguments: ScanArguments::<R::Input, T>::fields(),
        shape: format!(
            "RUN_ITEMS = {run_items}, ROWS = {rows}, UNIT_ITEMS = {unit_items}, WARPS = {warps}, GROUPS = {groups}, PLACES = {places}"
        ),
        threads: warps * groups * 32,
        blocks_per_multiprocessor,
        compiles_fast: false,
    }
}
