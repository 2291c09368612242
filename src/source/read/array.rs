//! The reader of one array, of several arrays in step, or of the index alone:
//! `templates/read/array.cuh`, `in_step.cuh` (with `bits.cuh`) and `index.cuh`.
#![allow(unsafe_code)]

use std::any::TypeId;
use std::marker::PhantomData;

use super::reader::{Reader, data_of};
use crate::plan::Data;
use crate::source::program::OperatorType;
use crate::source::templates::Template;
use crate::types::{Arrangement, AsTheyAre, Preparation};
use crate::{DeviceAggregate, Layout};

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

const TEMPLATES: [Template; 4] = [
    ("read/index.cuh", include_str!("../../../templates/read/index.cuh")),
    ("read/array.cuh", include_str!("../../../templates/read/array.cuh")),
    ("read/bits.cuh", include_str!("../../../templates/read/bits.cuh")),
    ("read/in_step.cuh", include_str!("../../../templates/read/in_step.cuh")),
];

// SAFETY: the templates read these arrays, and touch only bytes of elements.
unsafe impl<P: Preparation> Reader for ArraysOf<P> {
    type Input = ArrayInput<P::First, P::Addresses>;

    const READS_ITEMS: bool = P::IS_NOTHING;
    const ACCUMULATES: bool = P::ACCUMULATES;

    const TEMPLATES: &'static [Template] = match (P::COUNT, P::IN_STEP, &TEMPLATES) {
        (0, _, [index, ..]) => std::slice::from_ref(index),
        (_, false, [_, array, ..]) => std::slice::from_ref(array),
        (_, true, [_, in_step @ ..]) => in_step,
    };

    fn cpp(operator: &OperatorType) -> String {
        let prepare =
            if P::ACCUMULATES { "::warpfold::AccumulateBy<Item>" } else { "::warpfold::PrepareBy<Item>" };
        // A packed form combines items in the words in which they are loaded.
        match (P::IS_NOTHING, operator.packed) {
            (true, Some(_)) => "PackedArrayReader<Item, Operator::Packed>".to_owned(),
            (true, None) => "ArrayReader<Item, ::warpfold::NoPrepare>".to_owned(),
            (false, _) if P::COUNT == 0 => format!("IndexReader<Operator::Element, {prepare}>"),
            (false, _) if !P::IN_STEP => format!("ArrayReader<Operator::Element, {prepare}>"),
            (false, _) => format!("InStepReader<Operator::Element, {prepare}, Operator::Parts>"),
        }
    }

    fn elements(item: &Layout) -> Vec<Layout> {
        P::elements().unwrap_or_else(|| vec![item.clone()])
    }
}

/// The reader of an aggregate's elements, which lie like `R`.
pub(crate) type ReaderOf<A, R = <A as DeviceAggregate>::Arrangement> =
    ArraysOf<<A as DeviceAggregate>::Preparation<R>>;

/// Whether an arrangement is the default.
pub(crate) fn is_default<A: DeviceAggregate, R: Arrangement<Element = A::Input>>() -> bool {
    TypeId::of::<R>() == TypeId::of::<A::Arrangement>()
}

/// The layouts of an aggregate's elements and of its item.
pub fn data_of_aggregate<A: DeviceAggregate>() -> Data {
    data_of::<A::Operator, ReaderOf<A>>()
}
