//! Aggregates that have a CUDA C++ form.

use std::marker::PhantomData;
use std::mem::{MaybeUninit, offset_of};

use super::device_monoid::DeviceMonoid;
use super::device_operator::{DeviceOperator, Form, Prepared};
use super::device_steps::{DeviceSteps, Steps, TranslatedAggregate};
use super::part::Part;
use crate::operators::{Aggregate, Item, Monoid, Together};
use crate::types::{
    DeviceType, Element, Layout, Tuple2, Tuple3, Tuple4, Tuple5, Tuple6, Tuple7, Tuple8, Value,
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

    /// The operator of the kernels: the monoid itself if nothing is prepared.
    #[doc(hidden)]
    type Operator: DeviceMonoid<Item = Item<Self>>;

    /// How elements become items.
    #[doc(hidden)]
    type Preparation: Preparation;

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
    fn as_items<'a>(_: <Self::Input as Element>::Slices<'a>) -> Option<&'a [Item<Self>]> {
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

/// How the elements of an input become items.
#[doc(hidden)]
pub trait Preparation: 'static {
    /// The index of the first element, if the preparation uses indices, as a part of a kernel's
    /// arguments.
    type First: Copy;

    /// The device addresses of the arrays, as a part of a kernel's arguments.
    type Addresses: Copy;

    /// Whether elements are the items.
    const IS_NOTHING: bool;

    /// Whether kernels combine an item with elements one by one.
    const ACCUMULATES: bool;

    /// The number of arrays.
    const COUNT: usize;

    /// Whether they are read in step.
    const IN_STEP: bool;

    /// The addresses as such a part.
    fn addresses(list: &[u64]) -> Self::Addresses;

    /// The index as such a part.
    fn first(index: u64) -> Self::First;

    /// The layouts of an element of each array, if elements are not the items.
    fn elements() -> Option<Vec<Layout>>;
}

/// Elements are items.
#[doc(hidden)]
#[derive(Debug)]
pub struct AsTheyAre;

impl Preparation for AsTheyAre {
    type First = ();
    type Addresses = [u64; 1];
    const IS_NOTHING: bool = true;
    const ACCUMULATES: bool = false;
    const COUNT: usize = 1;
    const IN_STEP: bool = false;
    fn addresses(list: &[u64]) -> [u64; 1] {
        [list[0]]
    }
    fn first(_: u64) {}
    fn elements() -> Option<Vec<Layout>> {
        None
    }
}

/// Elements are prepared by the aggregate `A`.
#[doc(hidden)]
#[derive(Debug)]
pub struct PreparedBy<A>(PhantomData<fn() -> A>);

impl<A: DeviceAggregate> Preparation for PreparedBy<A> {
    type First = u64;
    type Addresses = <A::Input as Element>::Addresses;
    const IS_NOTHING: bool = false;
    const ACCUMULATES: bool = A::ACCUMULATES && !A::COMBINES_ON_GPU;
    const COUNT: usize = A::Input::COUNT;
    const IN_STEP: bool = A::Input::IN_STEP;
    fn addresses(list: &[u64]) -> Self::Addresses {
        A::Input::addresses(list)
    }
    fn first(index: u64) -> u64 {
        index
    }
    fn elements() -> Option<Vec<Layout>> {
        Some(A::Input::layouts())
    }
}

impl<M: DeviceMonoid> DeviceAggregate for M {
    const EXACT: bool = <M as DeviceMonoid>::EXACT;
    type Operator = M;
    type Preparation = AsTheyAre;

    fn operator(&self) -> M {
        *self
    }
    fn device_steps() -> DeviceSteps {
        DeviceSteps(Steps::Nothing)
    }
    // `'a: 'a`, because a lifetime of the trait's projection is a parameter of the function.
    fn as_items<'a>(items: &'a [M::Item]) -> Option<&'a [M::Item]>
    where
        'a: 'a,
    {
        Some(items)
    }
    fn as_places_of_items(places: &mut [MaybeUninit<M::Item>]) -> Option<&mut [MaybeUninit<M::Item>]> {
        Some(places)
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
        let steps = match PreparedBy::<A>::ACCUMULATES {
            true => A::device_steps(),
            false => A::device_steps().without_accumulate(),
        };
        let steps = Part::of::<A>(steps, offset_of!(Self, aggregate));
        let (item, output) = (Item::<A>::layout(), <A::Output as Value>::Stored::layout());
        let (elements, presented) = (A::Input::layouts(), offset_of!(Self, presented));
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
        type Preparation = PreparedBy<Self>;

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
