//! The data that a plan depends on: the elements that are read, and the items that are combined.

use crate::{Kind, Layout, Scalar};

/// The layouts of a primitive's data.
#[derive(Clone, Debug)]
pub struct Data {
    /// The layout of an element, for each of the arrays that are read in step.
    pub elements: Vec<Layout>,
    /// The layout of an item.
    pub item: Layout,
    /// Whether an item is combined with elements one by one.
    pub accumulates: bool,
}

impl Data {
    /// One array whose elements are the items.
    pub fn of_items(item: &Layout) -> Self {
        Self { elements: vec![item.clone()], item: item.clone(), accumulates: false }
    }

    /// Bytes of an element, for each array of whole bytes. Without such an array, those of an item:
    /// a lane has as many items as if it read them.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        let whole = || self.array_sizes().flatten();
        let only_items = whole().next().is_none().then_some(self.item.size);
        whole().chain(only_items)
    }

    /// Bytes of an element, for each array. None for the bits of a bitmap.
    pub(super) fn array_sizes(&self) -> impl Iterator<Item = Option<usize>> {
        let size = |element: &Layout| match element.kind {
            Kind::Scalar(Scalar::Bit) => None,
            _ => Some(element.size),
        };
        self.elements.iter().map(size)
    }

    /// Bytes of one element of all arrays together.
    pub(super) fn element_bytes(&self) -> usize {
        self.sizes().sum()
    }
}

/// How many numbers an item consists of.
pub(super) fn scalars(item: &Layout) -> usize {
    match &item.kind {
        Kind::Scalar(_) => 1,
        Kind::Array { element, length } => length * scalars(element),
        Kind::Struct { fields } | Kind::Tuple { fields } => {
            fields.iter().map(|field| scalars(&field.layout)).sum()
        }
    }
}
