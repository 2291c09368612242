//! What every reader is.
#![allow(unsafe_code)]

use crate::plan::Data;
use crate::source::program::OperatorType;
use crate::source::templates::Template;
use crate::{DeviceMonoid, DeviceType, Layout};

/// What a kernel reads by, and what it is given of an input.
///
/// # Safety
///
/// 1. The templates read what [`elements`](Self::elements) describes, from where an `Input` says that it is, and nothing else.
/// 2. [`READS_ITEMS`](Self::READS_ITEMS) is true only of the reader of one array of items.
pub(crate) unsafe trait Reader: 'static {
    /// The first field of a kernel's arguments, as `Input` of the reader's template declares it.
    type Input: Copy;

    /// Whether it reads one array of items, which nothing prepares: then partials are read by the same kernels.
    const READS_ITEMS: bool = false;

    /// Its templates, each after those that it stands on.
    const TEMPLATES: &'static [Template];

    /// Its type in C++, for an operator: a name in the namespace `warpfold`.
    fn cpp(operator: &OperatorType) -> String;

    /// The elements that become items of this layout, one of each array.
    fn elements(item: &Layout) -> Vec<Layout>;
}

/// What is read and combined by an operator and a reader.
pub(crate) fn data_of<M: DeviceMonoid, R: Reader>() -> Data {
    let item = M::Item::layout();
    Data { elements: R::elements(&item), item }
}
