//! The reader of one array, of several arrays in step, or of the index alone:
//! `templates/read/array.cuh`, `in_step.cuh` and `index.cuh`.
#![allow(unsafe_code)]

use std::marker::PhantomData;

use super::reader::Reader;
use crate::Layout;
use crate::language::{AsTheyAre, Preparation};
use crate::source::program::OperatorType;
use crate::source::templates::Template;

/// The reader of arrays whose elements become items by `P`.
#[derive(Debug)]
pub(crate) struct ArraysOf<P>(PhantomData<fn() -> P>);

/// The reader of one array whose elements are items.
pub(crate) type ArrayOfItems = ArraysOf<AsTheyAre>;

/// A kernel's argument for its arrays.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayInput<First = (), Addresses = [u64; 1]> {
    /// The device address of the first element of each array.
    pub elements: Addresses,
    /// The index of the first element, if items depend on it.
    pub first: First,
}

const TEMPLATES: [Template; 3] = [
    ("read/index.cuh", include_str!("../../../templates/read/index.cuh")),
    ("read/array.cuh", include_str!("../../../templates/read/array.cuh")),
    ("read/in_step.cuh", include_str!("../../../templates/read/in_step.cuh")),
];

// SAFETY: the templates read these arrays, and touch only bytes of elements.
unsafe impl<P: Preparation> Reader for ArraysOf<P> {
    type Input = ArrayInput<P::First, P::Addresses>;

    const READS_ITEMS: bool = P::IS_NOTHING;

    const TEMPLATES: &'static [Template] = match (P::COUNT, &TEMPLATES) {
        (0, [index, ..]) => std::slice::from_ref(index),
        (1, [_, array, _]) => std::slice::from_ref(array),
        (_, [_, in_step @ ..]) => in_step,
    };

    fn cpp(operator: &OperatorType) -> String {
        // A packed form combines items in the words in which they are loaded.
        match (P::IS_NOTHING, operator.packed) {
            (true, Some(_)) => "PackedArrayReader<Item, Operator::Packed>".to_owned(),
            (true, None) => "ArrayReader<Item, ::warpfold::NoPrepare>".to_owned(),
            (false, _) if P::COUNT == 0 => {
                "IndexReader<Operator::Element, ::warpfold::PrepareBy<Item>>".to_owned()
            }
            (false, _) if P::COUNT == 1 => {
                "ArrayReader<Operator::Element, ::warpfold::PrepareBy<Item>>".to_owned()
            }
            (false, _) => {
                "InStepReader<Operator::Element, ::warpfold::PrepareBy<Item>, Operator::Parts>".to_owned()
            }
        }
    }

    fn elements(item: &Layout) -> Vec<Layout> {
        P::elements().unwrap_or_else(|| vec![item.clone()])
    }
}
