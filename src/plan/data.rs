//! What a plan is for: what is read, and what is combined.

use crate::{Kind, Layout};

/// The layouts of a primitive's data.
#[derive(Clone, Debug)]
pub struct Data {
    /// Of the arrays that are read in step, those of their elements.
    pub elements: Vec<Layout>,
    /// Of what is combined.
    pub item: Layout,
}

impl Data {
    /// Of one array of items.
    pub fn of_items(item: &Layout) -> Self {
        Self { elements: vec![item.clone()], item: item.clone() }
    }

    /// The bytes of an element of each array.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> {
        self.elements.iter().map(|element| element.size)
    }

    /// The same, all together.
    pub(super) fn element_bytes(&self) -> usize {
        self.sizes().sum()
    }
}

/// The numbers that an item is made of.
pub(super) fn scalars(item: &Layout) -> usize {
    match &item.kind {
        Kind::Scalar(_) => 1,
        Kind::Array { element, length } => length * scalars(element),
        Kind::Struct { fields } => fields.iter().map(|field| scalars(&field.layout)).sum(),
    }
}
