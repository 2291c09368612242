//! Functions that are types, and the aggregates that call them.

use std::mem::offset_of;

use super::callee::{Helper, named};
use super::device_aggregate::{DeviceAggregate, PreparedBy, Preparing, bracket_of_array, prepares_itself};
use super::device_monoid::DeviceMonoid;
use super::device_operator::{DeviceOperator, Form};
use super::device_steps::{Called, DeviceSteps, Steps};
use super::part::Part;
use crate::operators::aggregates::{Filtered, Filtering, Kept, Mapped, Mask, Masked};
use crate::operators::{Function, Item, Monoid};
use crate::types::{DeviceType, Element, Value};

/// A [`Function`] that also has a CUDA C++ form. `#[device(type = Name)]` derives it.
///
/// ```
/// use warpfold::{DeviceCall, device};
///
/// #[device(type = Square)]
/// fn square(x: f32) -> f32 { x * x }
///
/// fn is_exact<F: DeviceCall>() -> bool { F::EXACT }
/// assert!(is_exact::<Square>());
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a function that a kernel can call",
    note = "write `#[warpfold::device(type = Name)]` before the function, and `Name` here"
)]
pub trait DeviceCall: Function {
    /// Whether every operation of the function is exact: see
    /// [`DeviceMonoid::EXACT`](crate::DeviceMonoid::EXACT).
    const EXACT: bool;

    /// The function, as `#[device]` translates it.
    #[doc(hidden)]
    type Function: Helper;

    /// The number of parameters.
    #[doc(hidden)]
    const PARAMETERS: usize;
}

fn called<F: DeviceCall>() -> Called {
    let callee = named::<F::Function>();
    Called { callee: callee.expect("a function has a translation"), parameters: F::PARAMETERS }
}

#[diagnostic::do_not_recommend]
impl<F, A> DeviceAggregate for Mapped<F, A>
where
    F: DeviceCall<Input: Element>,
    A: DeviceAggregate<Input = F::Output>,
{
    const EXACT: bool = F::EXACT && A::EXACT;
    const ACCUMULATES: bool = A::ACCUMULATES;
    const HAS_BRACKET: bool = A::HAS_BRACKET;
    prepares_itself!();

    #[inline(always)]
    fn bracket<const COUNT: usize>(
        &self,
        operator: &A::Monoid,
        first: u64,
        elements: [F::Input; COUNT],
    ) -> Item<Self> {
        self.1.bracket(operator, first, elements.map(F::call))
    }
    fn device_steps() -> DeviceSteps {
        let steps = Box::new(Part::of::<A>(A::device_steps(), offset_of!(Self, 1)));
        let (item, output) = (Item::<A>::layout(), <A::Output as Value>::Stored::layout());
        DeviceSteps(Steps::Mapped { function: called::<F>(), steps, item, output })
    }
}

#[diagnostic::do_not_recommend]
impl<F, A> DeviceAggregate for Filtered<F, A>
where
    F: DeviceCall<Output = bool>,
    A: DeviceAggregate<Input = F::Input>,
{
    const EXACT: bool = F::EXACT && A::EXACT;
    const ACCUMULATES: bool = A::ACCUMULATES;
    const HAS_BRACKET: bool = A::HAS_BRACKET;
    prepares_itself!();

    #[inline(always)]
    fn bracket<const COUNT: usize>(
        &self,
        operator: &Filtering<A::Monoid>,
        first: u64,
        elements: [F::Input; COUNT],
    ) -> Item<Self> {
        // Mostly, no element is left out.
        match elements.iter().all(|&element| F::call(element)) {
            true => Kept::of_all(&self.1, operator, first, elements),
            false => bracket_of_array(self, operator, first, elements),
        }
    }
    fn device_steps() -> DeviceSteps {
        let steps = Box::new(Part::of::<A>(A::device_steps(), offset_of!(Self, 1)));
        let (item, output) = (Item::<Self>::layout(), <A::Output as Value>::Stored::layout());
        DeviceSteps(Steps::Filtered { function: Some(called::<F>()), steps, item, output })
    }
}

#[diagnostic::do_not_recommend]
impl<A, M> DeviceAggregate for Masked<A, M>
where
    A: DeviceAggregate<Input: DeviceType>,
    M: Mask,
{
    const EXACT: bool = A::EXACT;
    const ACCUMULATES: bool = A::ACCUMULATES;
    const HAS_BRACKET: bool = A::HAS_BRACKET;
    prepares_itself!();

    #[inline(always)]
    fn bracket<const COUNT: usize>(
        &self,
        operator: &Filtering<A::Monoid>,
        first: u64,
        elements: [(A::Input, M); COUNT],
    ) -> Item<Self> {
        match elements.iter().all(|(_, mark)| mark.is_set()) {
            true => Kept::of_all(&self.0, operator, first, elements.map(|(input, _)| input)),
            false => bracket_of_array(self, operator, first, elements),
        }
    }
    fn device_steps() -> DeviceSteps {
        let steps = Box::new(Part::of::<A>(A::device_steps(), offset_of!(Self, 0)));
        let (item, output) = (Item::<Self>::layout(), <A::Output as Value>::Stored::layout());
        DeviceSteps(Steps::Filtered { function: None, steps, item, output })
    }
}

impl<T: DeviceType> Kept<T> {
    /// The bracket of elements of which none is left out.
    #[inline(always)]
    fn of_all<A: DeviceAggregate<Monoid: Monoid<Item = T>>, const COUNT: usize>(
        aggregate: &A,
        operator: &Filtering<A::Monoid>,
        first: u64,
        elements: [A::Input; COUNT],
    ) -> Self {
        Self { item: aggregate.bracket(&operator.monoid, first, elements), count: COUNT as u64 }
    }
}

#[diagnostic::do_not_recommend]
impl<M: DeviceMonoid> DeviceMonoid for Filtering<M> {
    const EXACT: bool = M::EXACT;
    fn device_operator() -> DeviceOperator {
        let monoid = Box::new(Part::of::<M>(M::device_operator(), offset_of!(Self, monoid)));
        let identity = (M::Item::layout(), offset_of!(Self, identity));
        let item = <Self as Monoid>::Item::layout();
        DeviceOperator::of_form(Form::Filtering { item, monoid, identity })
    }
}
