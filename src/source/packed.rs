//! Operators with a packed form: integers of at most 32 bits, where every order gives the same
//! bits.
//!
//! The GPU combines several narrow items in one instruction, and the items of all lanes of a warp
//! at once.

use std::any::TypeId;

use crate::DeviceType;
use crate::operators::{All, Any, BitAnd, BitOr, BitXor, Max, Min, Sum};

/// The name of the operator's form in `templates/core/packed.cuh`, if it has one.
pub(super) fn form(operator: TypeId) -> Option<&'static str> {
    let of_bools = [(TypeId::of::<All>(), "BitAnd"), (TypeId::of::<Any>(), "BitOr")];
    let forms = of_bools
        .into_iter()
        .chain(of::<u8>())
        .chain(of::<i8>())
        .chain(of::<u16>())
        .chain(of::<i16>())
        .chain(of::<u32>())
        .chain(of::<i32>());
    forms.into_iter().find_map(|(of, form)| (of == operator).then_some(form))
}

fn of<T: DeviceType>() -> [(TypeId, &'static str); 6] {
    [
        (TypeId::of::<Sum<T>>(), "Sum"),
        (TypeId::of::<Max<T>>(), "Max"),
        (TypeId::of::<Min<T>>(), "Min"),
        (TypeId::of::<BitAnd<T>>(), "BitAnd"),
        (TypeId::of::<BitOr<T>>(), "BitOr"),
        (TypeId::of::<BitXor<T>>(), "BitXor"),
    ]
}
