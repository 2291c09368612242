//! Functions as types, and aggregates of what functions return.

use crate::operators::{Aggregate, Item, Monoid, Sum};
use crate::{Bit, DeviceType};

/// A function that is also a type, so that a type parameter can name it.
///
/// `#[device(type = Name)]` before a function declares the type `Name`, which implements this trait.
/// The input of a function with several parameters is a tuple of them.
///
/// ```
/// use warpfold::{Function, device};
///
/// #[device(type = IsHot)]
/// fn is_hot(celsius: f32) -> bool { celsius > 30.0 }
///
/// assert!(IsHot::call(31.0));
/// ```
pub trait Function: Copy + Default + Send + Sync + 'static {
    /// The parameter, or a tuple of several.
    type Input: Copy;
    /// The result.
    type Output;
    /// Calls the function.
    fn call(input: Self::Input) -> Self::Output;
}

/// The aggregate `A` of what the function `F` returns for each element.
///
/// - Formula: `A` of `F(x[0])`, `F(x[1])`, ...
/// - Item, result, NaN, overflow, ties and empty input: those of `A`.
/// - Exact if `F` and `A` are.
///
/// ```
/// use warpfold::aggregates::Mapped;
/// use warpfold::{Device, Reduction, device, operators::Sum};
///
/// #[device(type = Square)]
/// fn square(x: f32) -> f32 { x * x }
///
/// let sum_of_squares = Reduction::<Mapped<Square, Sum<f32>>>::new(Device::auto());
/// assert_eq!(sum_of_squares.run(&[1.0, 2.0, 3.0])?, 14.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Mapped<F, A>(pub F, pub A);

impl<F: Function, A: Aggregate<Input = F::Output>> Aggregate for Mapped<F, A> {
    type Input = F::Input;
    type Monoid = A::Monoid;
    type Output = A::Output;
    const COMBINES_ON_GPU: bool = A::COMBINES_ON_GPU;

    fn monoid(&self) -> A::Monoid {
        self.1.monoid()
    }
    #[inline]
    fn prepare(&self, index: u64, input: F::Input) -> Item<A> {
        self.1.prepare(index, F::call(input))
    }
    #[inline]
    fn accumulate(&self, item: Item<A>, index: u64, input: F::Input) -> Item<A> {
        self.1.accumulate(item, index, F::call(input))
    }
    fn present(&self, item: Item<A>, count: u64) -> A::Output {
        self.1.present(item, count)
    }
}

/// The number of elements for which the function `F` is true.
///
/// - Formula: the number of `i` with `F(x[i])`.
/// - Item and result: `u64`. It cannot overflow. An empty input gives 0.
/// - Exact if `F` is.
///
/// ```
/// use warpfold::aggregates::CountIf;
/// use warpfold::{Device, Reduction, device};
///
/// #[device(type = IsHot)]
/// fn is_hot(celsius: f32) -> bool { celsius > 30.0 }
///
/// let hot_days = Reduction::<CountIf<IsHot>>::new(Device::auto());
/// assert_eq!(hot_days.run(&[21.0, 33.5, 30.0, 38.0])?, 2);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub type CountIf<F> = Mapped<F, CountTrue>;

/// The number of elements that are true: see [`CountIf`].
///
/// ```
/// use warpfold::aggregates::CountTrue;
/// use warpfold::{Device, Reduction};
///
/// assert_eq!(Reduction::<CountTrue>::new(Device::auto()).run(&[true, false, true])?, 2);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct CountTrue;

#[crate::aggregate]
impl Aggregate for CountTrue {
    type Input = bool;
    type Monoid = Sum<u64>;
    type Output = u64;
    fn prepare(&self, _: u64, is_true: bool) -> u64 {
        is_true as u64
    }
    fn present(&self, number: u64, _: u64) -> u64 {
        number
    }
}

/// The aggregate `A` of the elements for which the function `F` is true.
///
/// - Formula: `A` of the elements with `F(x[i])`, in order. Each keeps its index of the whole input.
///   `A` presents the number of these elements.
/// - Item: the item of `A`, and the number of elements.
/// - Result, NaN, overflow and ties: those of `A`. If no element is left, the result of `A` for an
///   empty input. So the monoid of `A` needs an identity: a semigroup panics, also if elements are
///   left.
/// - `A` prepares every element, and the items of others are discarded.
/// - Exact if `F` and `A` are.
///
/// The bracket pairs the elements by their places in the whole input. So a float sum may differ in
/// the last bits from the sum of an array of the elements that are left.
///
/// ```
/// use warpfold::aggregates::Filtered;
/// use warpfold::{Device, Reduction, device, operators::Sum};
///
/// #[device(type = IsValid)]
/// fn is_valid(x: f32) -> bool { x == x }
///
/// let sum = Reduction::<Filtered<IsValid, Sum<f32>>>::new(Device::auto());
/// assert_eq!(sum.run(&[1.0, f32::NAN, 2.5])?, 3.5);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Filtered<F, A>(pub F, pub A);

/// An item of [`Filtered`]: the item of some elements that are left, and their number.
///
/// ```
/// use warpfold::{Aggregate, Item, aggregates::Filtered, operators::Max};
/// # use warpfold::device;
/// # #[device(type = IsEven)]
/// # fn is_even(x: u32) -> bool { x % 2 == 0 }
///
/// let max = Filtered(IsEven, Max::<u32>::new());
/// assert_eq!(max.prepare(0, 4).count, 1);
/// assert_eq!(max.prepare(0, 5).count, 0);
/// ```
#[derive(Clone, Copy, Debug, crate::DeviceType)]
#[repr(C)]
pub struct Kept<T: DeviceType> {
    /// The item. Without meaning if the count is 0.
    pub item: T,
    /// The number of elements.
    pub count: u64,
}

/// The monoid of [`Filtered`]: an item without elements is ignored.
///
/// ```
/// use warpfold::Aggregate;
/// use warpfold::aggregates::{Filtered, Filtering};
/// # use warpfold::{device, operators::Max};
/// # #[device(type = IsEven)]
/// # fn is_even(x: u32) -> bool { x % 2 == 0 }
///
/// let monoid: Filtering<Max<u32>> = Filtered(IsEven, Max::<u32>::new()).monoid();
/// ```
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Filtering<M: Monoid> {
    pub(crate) monoid: M,
    /// The item of no elements, which a GPU presents if none is left.
    pub(crate) identity: M::Item,
}

impl<M: Monoid> Filtering<M> {
    /// The monoid for the elements of an aggregate that are left.
    fn of(aggregate: &impl Aggregate<Monoid = M>) -> Self {
        let monoid = aggregate.monoid();
        Self { monoid, identity: monoid.identity() }
    }
}

impl<T: DeviceType> Kept<T> {
    /// The same with one element more, if it counts.
    #[inline]
    fn with<A>(self, aggregate: &A, counts: bool, index: u64, input: A::Input) -> Self
    where
        A: Aggregate<Monoid: Monoid<Item = T>>,
    {
        match (counts, self.count) {
            (false, _) => self,
            (true, 0) => Self { item: aggregate.prepare(index, input), count: 1 },
            (true, count) => Self { item: aggregate.accumulate(self.item, index, input), count: count + 1 },
        }
    }

    /// The result of the elements that are left.
    fn presented_by<A: Aggregate<Monoid: Monoid<Item = T>>>(self, aggregate: &A) -> A::Output {
        let item = if self.count == 0 { aggregate.monoid().identity() } else { self.item };
        aggregate.present(item, self.count)
    }
}

impl<M: Monoid> Monoid for Filtering<M> {
    type Item = Kept<M::Item>;

    fn identity(&self) -> Kept<M::Item> {
        Kept { item: self.identity, count: 0 }
    }
    #[inline]
    fn combine(&self, left: Kept<M::Item>, right: Kept<M::Item>) -> Kept<M::Item> {
        if left.count == 0 {
            return right;
        }
        if right.count == 0 {
            return left;
        }
        Kept { item: self.monoid.combine(left.item, right.item), count: left.count + right.count }
    }
}

impl<F: Function<Output = bool>, A: Aggregate<Input = F::Input>> Aggregate for Filtered<F, A> {
    type Input = F::Input;
    type Monoid = Filtering<A::Monoid>;
    type Output = A::Output;
    const COMBINES_ON_GPU: bool = A::COMBINES_ON_GPU;

    fn monoid(&self) -> Self::Monoid {
        Filtering::of(&self.1)
    }
    #[inline]
    fn prepare(&self, index: u64, input: F::Input) -> Item<Self> {
        Kept { item: self.1.prepare(index, input), count: F::call(input).into() }
    }
    #[inline]
    fn accumulate(&self, kept: Item<Self>, index: u64, input: F::Input) -> Item<Self> {
        kept.with(&self.1, F::call(input), index, input)
    }
    fn present(&self, item: Item<Self>, _: u64) -> A::Output {
        item.presented_by(&self.1)
    }
}

/// The aggregate `A` of the elements whose mark in a second array is set: NumPy's masks of one byte
/// an element, and Arrow's validity bitmaps.
///
/// - Formula: `A` of the elements `x[i]` with `mask[i]` not 0, in order. The input is two arrays in
///   step, `(&x, &mask)`. A mask is of `bool` or of `u8`, or a [`Bitmap`](crate::Bitmap) of
///   [`Bit`].
/// - Everything else is as for [`Filtered`].
///
/// ```
/// use warpfold::aggregates::{Masked, Mean};
/// use warpfold::{Device, Reduction};
///
/// let mean = Reduction::<Masked<Mean<f32>>>::new(Device::auto());
/// let (celsius, is_valid) = ([21.0, -999.0, 24.0], [true, false, true]);
/// assert_eq!(mean.run((&celsius, &is_valid))?, Some(22.5));
///
/// let mean = Reduction::<Masked<Mean<f32>, u8>>::new(Device::auto());
/// assert_eq!(mean.run((&celsius, &[0, 0, 0]))?, None);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Masked<A, M = bool>(pub A, pub std::marker::PhantomData<fn() -> M>);

/// A mark of [`Masked`]: `bool`, a [`Bit`], or a `u8` that is not 0.
///
/// ```
/// use warpfold::{Bit, aggregates::Mask};
///
/// assert!(true.is_set() && 2_u8.is_set() && !0_u8.is_set() && Bit(true).is_set());
/// ```
pub trait Mask: DeviceType + sealed::Mask {
    /// Whether the element counts.
    fn is_set(self) -> bool;
}

mod sealed {
    /// Kernels compare a mark with 0.
    pub trait Mask {}
    impl Mask for bool {}
    impl Mask for u8 {}
    impl Mask for crate::Bit {}
}

impl Mask for bool {
    fn is_set(self) -> bool {
        self
    }
}

impl Mask for u8 {
    fn is_set(self) -> bool {
        self != 0
    }
}

impl Mask for Bit {
    fn is_set(self) -> bool {
        self.0
    }
}

impl<A: Aggregate, M: Mask> Aggregate for Masked<A, M> {
    type Input = (A::Input, M);
    type Monoid = Filtering<A::Monoid>;
    type Output = A::Output;
    const COMBINES_ON_GPU: bool = A::COMBINES_ON_GPU;

    fn monoid(&self) -> Self::Monoid {
        Filtering::of(&self.0)
    }
    #[inline]
    fn prepare(&self, index: u64, (input, mark): (A::Input, M)) -> Item<Self> {
        Kept { item: self.0.prepare(index, input), count: mark.is_set().into() }
    }
    #[inline]
    fn accumulate(&self, kept: Item<Self>, index: u64, (input, mark): (A::Input, M)) -> Item<Self> {
        kept.with(&self.0, mark.is_set(), index, input)
    }
    fn present(&self, item: Item<Self>, _: u64) -> A::Output {
        item.presented_by(&self.0)
    }
}
