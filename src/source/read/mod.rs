//! Readers: what stages the elements of an input for a primitive. Each is a file here, a template, and a file of `cuda/read/`.

mod array;

pub use array::ArrayInput;
pub(crate) use array::ItemsAsTheyAre;

use super::Template;
use super::program::OperatorType;
use crate::Layout;

/// What a kernel reads by, and what it is given of an input.
pub(crate) trait Reader: 'static {
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
