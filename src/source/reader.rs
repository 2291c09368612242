//! Readers: what stages the elements of an input for a primitive.

use super::Template;
use super::program::OperatorType;

/// What a kernel reads by, and what it is given of an input.
pub(crate) trait Reader: 'static {
    /// The first field of a kernel's arguments, as `Input` of the reader's template declares it.
    type Input: Copy;

    /// Its templates, each after those that it stands on.
    const TEMPLATES: &'static [Template];

    /// Its type in C++, for an operator: a name in the namespace `warpfold`.
    fn cpp(operator: &OperatorType) -> String;
}

/// The reader of one array of items: `templates/read/array.cuh`.
pub(crate) struct Array;

/// What a kernel is given of an array.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ArrayInput {
    /// The address of its first element.
    pub elements: u64,
}

impl Reader for Array {
    type Input = ArrayInput;

    const TEMPLATES: &'static [Template] =
        &[("read/array.cuh", include_str!("../../templates/read/array.cuh"))];

    fn cpp(operator: &OperatorType) -> String {
        // Nothing is prepared, so that items may be combined as the words that they are loaded in.
        match operator.packed {
            Some(_) => "PackedArrayReader<Item, Operator::Packed>".to_owned(),
            None => "ArrayReader<Item, ::warpfold::AsIs>".to_owned(),
        }
    }
}
