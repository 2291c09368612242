//! The trait of all readers.
#![allow(unsafe_code)]

use crate::plan::Data;
use crate::source::program::OperatorType;
use crate::source::templates::Template;
use crate::{DeviceMonoid, DeviceType, Layout};

/// A reader: the templates that stage elements, and the argument that describes an input to them.
///
/// # Safety
///
/// 1. The templates read only the elements that [`elements`](Self::elements) describes, from the
///    addresses that an `Input` gives.
/// 2. [`READS_ITEMS`](Self::READS_ITEMS) is true only for the reader of one array of items.
pub(crate) unsafe trait Reader: 'static {
    /// The first field of a kernel's arguments, as `Input` of the reader's template declares it.
    type Input: Copy;

    /// Whether it reads one array of items, without `prepare`. If so, the same kernels reduce
    /// partials.
    const READS_ITEMS: bool = false;

    /// Whether an item is combined with elements one by one.
    const ACCUMULATES: bool = false;

    /// Its templates, each after the templates that it uses.
    const TEMPLATES: &'static [Template];

    /// Its C++ type for an operator: a name in the namespace `warpfold`.
    fn cpp(operator: &OperatorType) -> String;

    /// The element layouts, one for each array, that become items of this layout.
    fn elements(item: &Layout) -> Vec<Layout>;
}

/// The layouts of the elements and the item, for an operator and a reader.
pub(crate) fn data_of<M: DeviceMonoid, R: Reader>() -> Data {
    let item = M::Item::layout();
    Data { elements: R::elements(&item), item, accumulates: R::ACCUMULATES }
}

/// The operator of kernels that read with `R`.
pub(crate) fn operator_of<M: DeviceMonoid, R: Reader>() -> OperatorType {
    OperatorType::of::<M>((!R::READS_ITEMS).then(|| R::elements(&M::Item::layout())))
}
