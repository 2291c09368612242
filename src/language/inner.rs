//! Inner operators and fields of `self`, from the slots of a probe.

use std::any::TypeId;

use super::device_monoid::DeviceMonoid;
use super::device_operator::{Inner, StateField};
use super::probe::Slot;
use crate::types::DeviceType;

/// The operator of a slot.
pub const fn inner<M: DeviceMonoid>(_: &Slot<M>, offset: Option<usize>) -> Inner {
    Inner {
        operator: M::device_operator,
        item: M::Item::layout,
        id: TypeId::of::<M>,
        name: std::any::type_name::<M>,
        size: size_of::<M>(),
        offset,
        exact: M::EXACT,
    }
}

/// Passes an operator whose `combine` is called.
pub fn inner_of<'a, M>(_: &Slot<M>, operator: &'a M) -> &'a M {
    operator
}

/// The field of a slot.
pub const fn state_field<T: DeviceType>(_: &Slot<T>, offset: usize) -> StateField {
    StateField { layout: T::layout, offset }
}
