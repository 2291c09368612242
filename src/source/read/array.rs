//! The reader of one array of items: `templates/read/array.cuh`.
#![allow(unsafe_code)]

use super::reader::Reader;
use crate::Layout;
use crate::source::program::OperatorType;
use crate::source::templates::Template;

/// The reader of one array whose elements are items: no `prepare` changes them.
#[derive(Debug)]
pub(crate) struct ArrayOfItems;

/// A kernel's argument for one array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayInput {
    /// The device address of the first element.
    pub elements: u64,
}

// SAFETY: `ArrayReader` reads one array of items, and the template touches only bytes of elements.
unsafe impl Reader for ArrayOfItems {
    type Input = ArrayInput;

    const READS_ITEMS: bool = true;

    const TEMPLATES: &'static [Template] =
        &[("read/array.cuh", include_str!("../../../templates/read/array.cuh"))];

    fn cpp(operator: &OperatorType) -> String {
        // A packed form combines items in the words in which they are loaded.
        match operator.packed {
            Some(_) => "PackedArrayReader<Item, Operator::Packed>".to_owned(),
            None => "ArrayReader<Item, ::warpfold::NoPrepare>".to_owned(),
        }
    }

    fn elements(item: &Layout) -> Vec<Layout> {
        vec![item.clone()]
    }
}
