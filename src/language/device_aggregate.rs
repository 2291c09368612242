//! Aggregates that have a CUDA C++ form.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};

use super::device_monoid::{DeviceMonoid, RustType};
use super::device_operator::{DeviceOperator, Form, Prepared};
use super::device_steps::{DeviceSteps, Steps, TranslatedAggregate};
use super::part::Part;
use crate::operators::{Aggregate, Item, Monoid, Together};
use crate::types::{
    Arrangement, Array, DeviceType, Element, Held, InMemory, Layout, Preparation, Tuple2, Tuple3, Tuple4,
    Tuple5, Tuple6, Tuple7, Tuple8, Value,
};

/// An [`Aggregate`] that also has a CUDA C++ form.
///
/// [`#[aggregate]`](macro@crate::aggregate) derives it from `prepare` and `present`. Each
/// [`DeviceMonoid`], and each tuple of 2 to 8 aggregates, is one as well.
///
/// ```
/// use warpfold::operators::{Max, Min, Sum};
/// use warpfold::{Device, DeviceAggregate, Error, Reduction};
///
/// /// The result of any aggregate of `f32`.
/// fn of_three<A: DeviceAggregate<Input = f32> + Default>() -> Result<A::Output, Error> {
///     Reduction::<A>::new(Device::auto()).run(&[1.0, 4.0, 2.0])
/// }
///
/// assert_eq!(of_three::<Sum<f32>>()?, 7.0);
/// assert_eq!(of_three::<(Min<f32>, Max<f32>)>()?, (1.0, 4.0));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no CUDA C++ form",
    note = "write `#[warpfold::monoid]` before its `impl Monoid`, or `#[warpfold::aggregate]` before its `impl Aggregate`"
)]
pub trait DeviceAggregate: Aggregate<Input: Element, Monoid: DeviceMonoid, Output: Value> {
    /// Whether every operation of `prepare`, `combine` and `present` is exact, so that the CPU and
    /// every GPU return the same bits: see [`DeviceMonoid::EXACT`].
    const EXACT: bool;

    /// Whether `accumulate` is written out. Then `combine` is associative bit for bit.
    #[doc(hidden)]
    const ACCUMULATES: bool = false;

    /// Whether [`bracket`](Self::bracket) takes less time than the tree of all items: the aggregate, or
    /// one inside, accumulates.
    #[doc(hidden)]
    const HAS_BRACKET: bool = Self::ACCUMULATES;

    /// The operator of the kernels: that of a monoid, or of an aggregate, which prepares items.
    #[doc(hidden)]
    type Operator: DeviceMonoid<Item = Item<Self>>;

    /// The default arrangement of elements, for calls without an input.
    #[doc(hidden)]
    type Arrangement: Arrangement<Element = Self::Input>;

    /// How elements that lie like this become items.
    #[doc(hidden)]
    type Preparation<R: Arrangement<Element = Self::Input>>: Preparation;

    /// The operator's value.
    #[doc(hidden)]
    fn operator(&self) -> Self::Operator;

    /// `prepare` and `present` as CUDA C++.
    #[doc(hidden)]
    fn device_steps() -> DeviceSteps;

    /// The bracket of the items of a power of two of neighbouring elements, on the CPU. The first has
    /// the index `first`.
    #[doc(hidden)]
    #[inline(always)]
    fn bracket<const COUNT: usize>(
        &self,
        operator: &Self::Monoid,
        first: u64,
        elements: [Self::Input; COUNT],
    ) -> Item<Self> {
        bracket_of_array(self, operator, first, elements)
    }

    /// The elements, if they are the items.
    #[doc(hidden)]
    fn as_items<'a, R: Arrangement<Element = Self::Input>>(_: R::Slices<'a>) -> Option<&'a [Item<Self>]> {
        None
    }

    /// The places of results, if these are the items.
    #[doc(hidden)]
    fn as_places_of_items(_: &mut [MaybeUninit<Self::Output>]) -> Option<&mut [MaybeUninit<Item<Self>>]> {
        None
    }
}

/// Most elements that count as few.
const FEW: usize = 16;
/// Largest small item, in bytes.
const SMALL_ITEM: usize = 16;
/// Elements of a run. The bracket of more elements is that of the values of their runs.
const RUN: usize = 8;

/// The bracket of the items of a power of two of neighbouring elements, of which the first has the
/// index `first`.
#[inline(always)]
pub(super) fn bracket_of_array<A: DeviceAggregate, const COUNT: usize>(
    aggregate: &A,
    operator: &A::Monoid,
    first: u64,
    elements: [A::Input; COUNT],
) -> Item<A> {
    if const { accumulates::<A>(COUNT) } {
        let accumulate =
            |item, index: usize| aggregate.accumulate(item, first + index as u64, elements[index]);
        return (1..COUNT).fold(aggregate.prepare(first, elements[0]), accumulate);
    }
    let item = |index: usize| aggregate.prepare(first + index as u64, elements[index]);
    let (mut items, mut count) = ([item(0); COUNT], COUNT);
    if COUNT > FEW {
        // The runs are independent, so the compiler may vectorise the loop over them.
        count /= RUN;
        for run in 0..count {
            let run_of: [A::Input; RUN] = std::array::from_fn(|index| elements[run * RUN + index]);
            items[run] = aggregate.bracket(operator, first + (run * RUN) as u64, run_of);
        }
    } else {
        items = std::array::from_fn(item);
    }
    while count > 1 {
        count /= 2;
        for index in 0..count {
            items[index] = operator.combine(items[2 * index], items[2 * index + 1]);
        }
    }
    items[0]
}

/// Whether so many elements are accumulated. A bracket of few small items has no branches, and takes
/// less time.
pub(crate) const fn accumulates<A: DeviceAggregate>(count: usize) -> bool {
    A::ACCUMULATES && (count > FEW || size_of::<Item<A>>() > SMALL_ITEM)
}

/// Elements that lie like `R` are prepared by the aggregate `A`.
#[doc(hidden)]
#[derive(Debug)]
pub struct PreparedBy<A, R>(PhantomData<fn() -> (A, R)>);

impl<A: DeviceAggregate, R: Arrangement<Element = A::Input>> Preparation for PreparedBy<A, R> {
    type First = u64;
    type Addresses = R::Addresses;
    const IS_NOTHING: bool = false;
    const ACCUMULATES: bool = accumulates_on_gpu::<A>();
    const COUNT: usize = R::COUNT;
    const IN_STEP: bool = R::IN_STEP;
    fn addresses(list: &[u64]) -> Self::Addresses {
        R::addresses(list)
    }
    fn first(index: u64) -> u64 {
        index
    }
    fn elements() -> Option<Vec<Layout>> {
        Some(R::layouts())
    }
}

/// Whether kernels combine an item with elements one by one.
const fn accumulates_on_gpu<A: DeviceAggregate>() -> bool {
    A::ACCUMULATES && !A::COMBINES_ON_GPU
}

/// What tells how memory holds the items of a monoid.
type Holder<M> = <<M as Monoid>::Item as InMemory>::Holder;

impl<M: DeviceMonoid> DeviceAggregate for M {
    const EXACT: bool = <M as DeviceMonoid>::EXACT;
    type Operator = OfItems<M>;
    type Arrangement = Array<M::Item>;
    type Preparation<R: Arrangement<Element = M::Item>> =
        <Holder<M> as Held<M::Item>>::Preparation<PreparedBy<M, R>>;

    fn operator(&self) -> OfItems<M> {
        OfItems(Holder::<M>::choice(|| *self, || Preparing::new(self)))
    }
    fn device_steps() -> DeviceSteps {
        DeviceSteps(Steps::Nothing)
    }
    fn as_items<'a, R: Arrangement<Element = M::Item>>(slices: R::Slices<'a>) -> Option<&'a [M::Item]> {
        R::in_one_array(slices)
    }
    fn as_places_of_items(places: &mut [MaybeUninit<M::Item>]) -> Option<&mut [MaybeUninit<M::Item>]> {
        Some(places)
    }
}

/// The operator of a monoid's kernels: the monoid. If its items are tuples, the last kernel converts the result to
/// `TupleN`, as it presents that of an aggregate.
#[doc(hidden)]
#[repr(transparent)]
pub struct OfItems<M: DeviceMonoid>(<Holder<M> as Held<M::Item>>::Choice<M, Preparing<M>>);

impl<M: DeviceMonoid> Clone for OfItems<M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: DeviceMonoid> Copy for OfItems<M> {}

impl<M: DeviceMonoid> OfItems<M> {
    #[inline]
    fn monoid(&self) -> M {
        Holder::<M>::by_choice(self.0, |monoid| monoid, |preparing: Preparing<M>| preparing.monoid)
    }
}

impl<M: DeviceMonoid> Monoid for OfItems<M> {
    type Item = M::Item;
    fn identity(&self) -> M::Item {
        self.monoid().identity()
    }
    #[inline]
    fn combine(&self, left: M::Item, right: M::Item) -> M::Item {
        self.monoid().combine(left, right)
    }
}

#[diagnostic::do_not_recommend]
impl<M: DeviceMonoid> DeviceMonoid for OfItems<M> {
    const EXACT: bool = <M as DeviceMonoid>::EXACT;
    fn device_operator() -> DeviceOperator {
        Holder::<M>::choose(M::device_operator, Preparing::<M>::device_operator)
    }
    fn rust_type() -> RustType {
        Holder::<M>::choose(M::rust_type, Preparing::<M>::rust_type)
    }
    fn presenting(self, count: Option<u64>) -> Self {
        Self(Holder::<M>::map_choice(
            self.0,
            |monoid| monoid.presenting(count),
            |preparing: Preparing<M>| preparing.presenting(count),
        ))
    }
}

/// The operator of an aggregate's kernels: its monoid, and the aggregate, which prepares the items.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Preparing<A: Aggregate> {
    monoid: A::Monoid,
    aggregate: A,
    /// The number of elements, and 1 more, if the last kernel writes the result. 0 if it writes the
    /// item.
    presented: u64,
}

impl<A: Aggregate> Preparing<A> {
    /// The operator of an aggregate.
    pub fn new(aggregate: &A) -> Self {
        Self { monoid: aggregate.monoid(), aggregate: *aggregate, presented: 0 }
    }
}

impl<A: Aggregate> Monoid for Preparing<A> {
    type Item = Item<A>;
    fn identity(&self) -> Item<A> {
        self.monoid.identity()
    }
    #[inline]
    fn combine(&self, left: Item<A>, right: Item<A>) -> Item<A> {
        self.monoid.combine(left, right)
    }
}

#[diagnostic::do_not_recommend]
impl<A: DeviceAggregate> DeviceMonoid for Preparing<A> {
    const EXACT: bool = A::EXACT;
    fn device_operator() -> DeviceOperator {
        let monoid = Part::of::<A::Monoid>(A::Monoid::device_operator(), offset_of!(Self, monoid));
        let steps = match const { accumulates_on_gpu::<A>() } {
            true => A::device_steps(),
            false => A::device_steps().without_accumulate(),
        };
        let steps = Part::of::<A>(steps, offset_of!(Self, aggregate));
        let (item, output) = (Item::<A>::layout(), <A::Output as Value>::Stored::layout());
        let (elements, presented) = (A::Arrangement::layouts(), offset_of!(Self, presented));
        let prepared = Prepared { elements, monoid, steps, item, output, presented };
        DeviceOperator::of_form(Form::Prepared(Box::new(prepared)))
    }
    fn presenting(self, count: Option<u64>) -> Self {
        Self { presented: count.map_or(0, |count| count + 1), ..self }
    }
}

/// The operator of an aggregate that is no monoid.
macro_rules! prepares_itself {
    () => {
        type Operator = Preparing<Self>;
        type Arrangement = <Self::Input as $crate::Element>::Arrangement;
        type Preparation<R: $crate::types::Arrangement<Element = Self::Input>> = PreparedBy<Self, R>;

        fn operator(&self) -> Self::Operator {
            Preparing::new(self)
        }
    };
}
pub(super) use prepares_itself;

macro_rules! tuples {
    ($($tuple:ident $all:ty: $first:ident $zero:tt, $($part:ident $index:tt),*;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$first: DeviceMonoid, $($part: DeviceMonoid),*> DeviceMonoid for Together<($first, $($part),*)> {
            const EXACT: bool = $first::EXACT $(&& $part::EXACT)*;
            fn device_operator() -> DeviceOperator {
                let inner = offset_of!(Self, 0);
                let parts = vec![
                    Part::of::<$first>($first::device_operator(), inner + offset_of!($all, $zero)),
                    $(Part::of::<$part>($part::device_operator(), inner + offset_of!($all, $index))),*
                ];
                DeviceOperator::of_form(Form::Together { item: Self::Item::layout(), parts })
            }
        }

        #[diagnostic::do_not_recommend]
        impl<$first: DeviceAggregate, $($part: DeviceAggregate<Input = $first::Input>),*> DeviceAggregate
            for ($first, $($part),*)
        {
            const EXACT: bool = $first::EXACT $(&& $part::EXACT)*;
            const HAS_BRACKET: bool = $first::HAS_BRACKET $(|| $part::HAS_BRACKET)*;
            prepares_itself!();

            #[inline(always)]
            fn bracket<const COUNT: usize>(
                &self,
                operator: &Self::Monoid,
                first: u64,
                elements: [Self::Input; COUNT],
            ) -> Item<Self> {
                $tuple(
                    self.$zero.bracket(&operator.0.$zero, first, elements),
                    $(self.$index.bracket(&operator.0.$index, first, elements)),*
                )
            }
            fn device_steps() -> DeviceSteps {
                DeviceSteps(Steps::Tuple {
                    parts: vec![
                        Part::of::<$first>($first::device_steps(), offset_of!(Self, $zero)),
                        $(Part::of::<$part>($part::device_steps(), offset_of!(Self, $index))),*
                    ],
                    item: Item::<Self>::layout(),
                    output: <Self::Output as Value>::Stored::layout(),
                })
            }
        }
    )*};
}
tuples! {
    Tuple2 (A, B): A 0, B 1;
    Tuple3 (A, B, C): A 0, B 1, C 2;
    Tuple4 (A, B, C, D): A 0, B 1, C 2, D 3;
    Tuple5 (A, B, C, D, E): A 0, B 1, C 2, D 3, E 4;
    Tuple6 (A, B, C, D, E, F): A 0, B 1, C 2, D 3, E 4, F 5;
    Tuple7 (A, B, C, D, E, F, G): A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    Tuple8 (A, B, C, D, E, F, G, H): A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}

/// Whether the functions of an aggregate and its monoid are exact.
pub const fn steps_are_exact<A: TranslatedAggregate<Monoid: DeviceMonoid>>() -> bool {
    let mut rest = A::STEPS;
    while let [step, others @ ..] = rest {
        if !step.is_exact() {
            return false;
        }
        rest = others;
    }
    <A::Monoid as DeviceMonoid>::EXACT
}
