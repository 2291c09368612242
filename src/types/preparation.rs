//! How the elements of an input become items.

use super::layout::Layout;

/// How the elements of an input become items.
#[doc(hidden)]
pub trait Preparation: 'static {
    /// The index of the first element, if the preparation uses indices, as a part of a kernel's
    /// arguments.
    type First: Copy;

    /// The device addresses of the arrays, as a part of a kernel's arguments.
    type Addresses: Copy;

    /// Whether elements are the items.
    const IS_NOTHING: bool;

    /// Whether kernels combine an item with elements one by one.
    const ACCUMULATES: bool;

    /// The number of arrays.
    const COUNT: usize;

    /// Whether they are read in step.
    const IN_STEP: bool;

    /// The addresses as such a part.
    fn addresses(list: &[u64]) -> Self::Addresses;

    /// The index as such a part.
    fn first(index: u64) -> Self::First;

    /// The layouts of an element of each array, if elements are not the items.
    fn elements() -> Option<Vec<Layout>>;
}

/// Elements are items.
#[doc(hidden)]
#[derive(Debug)]
pub struct AsTheyAre;

impl Preparation for AsTheyAre {
    type First = ();
    type Addresses = [u64; 1];
    const IS_NOTHING: bool = true;
    const ACCUMULATES: bool = false;
    const COUNT: usize = 1;
    const IN_STEP: bool = false;
    fn addresses(list: &[u64]) -> [u64; 1] {
        [list[0]]
    }
    fn first(_: u64) {}
    fn elements() -> Option<Vec<Layout>> {
        None
    }
}
