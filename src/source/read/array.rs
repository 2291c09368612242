//! One array of items: `templates/read/array.cuh`.
#![allow(unsafe_code)]

use super::reader::Reader;
use crate::Layout;
use crate::source::program::OperatorType;
use crate::source::templates::Template;

/// The reader of one array, whose elements are items as they are.
#[derive(Debug)]
pub(crate) struct ItemsAsTheyAre;

/// What a kernel is given of an array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayInput {
    /// The address of its first element.
    pub elements: u64,
}

// SAFETY: `ArrayReader` reads items, and the template touches no byte that is not an element's.
unsafe impl Reader for ItemsAsTheyAre {
    type Input = ArrayInput;

    const READS_ITEMS: bool = true;

    const TEMPLATES: &'static [Template] =
        &[("read/array.cuh", include_str!("../../../templates/read/array.cuh"))];

    fn cpp(operator: &OperatorType) -> String {
        // An operator with a packed form combines items as the words that they are loaded in.
        match operator.packed {
            Some(_) => "PackedArrayReader<Item, Operator::Packed>".to_owned(),
            None => "ArrayReader<Item, ::warpfold::AsIs>".to_owned(),
        }
    }

    fn elements(item: &Layout) -> Vec<Layout> {
        vec![item.clone()]
    }
}
