//! The input, the output and the operator of a reduction and of its launches.

use std::mem::MaybeUninit;

use super::kernels::identity_if;
use super::result_slot::Output;
use super::slices::Addresses;
use crate::DeviceMonoid;

/// The input of a launch.
#[derive(Clone, Copy)]
pub(super) struct Span<I> {
    pub(super) input: I,
    pub(super) length: u64,
}

/// An operator, and its identity if the result needs it. User code runs before the first launch.
#[derive(Clone, Copy)]
pub(super) struct Operator<'a, M: DeviceMonoid> {
    pub(super) value: &'a M,
    pub(super) identity: MaybeUninit<M::Item>,
}

impl<'a, M: DeviceMonoid> Operator<'a, M> {
    /// The operator for a reduction of `length` items. Only an empty input needs the identity.
    pub(super) fn of(value: &'a M, length: u64) -> Self {
        Self { value, identity: identity_if(length == 0, value) }
    }
}

/// The output of a launch, its ticket counter, and its position in the call.
#[derive(Clone, Copy)]
pub(super) struct LaunchIo {
    pub(super) output: Output,
    pub(super) tickets: u64,
    /// Whether the previous launch belongs to the same call. If so, this one may begin before that
    /// one has ended.
    pub(super) follows: bool,
}

/// The arguments of a reduction.
#[derive(Clone, Copy)]
pub(super) struct ReduceArguments<I> {
    pub(super) elements: Span<I>,
    pub(super) output: Output,
    /// The device address of the scratch memory.
    pub(super) memory: u64,
}

impl<I> ReduceArguments<I> {
    /// The arguments of a reduction that writes to device memory.
    pub(super) fn of(addresses: Addresses<I>, length: u64) -> Self {
        let Addresses { input, output, memory } = addresses;
        let Some(input) = input else { unreachable!("a reduction has no place of its own to read") };
        Self { elements: Span { input, length }, output: Output::plain(output), memory }
    }
}
