//! Aggregates: what is computed from each element, combined, and computed from the combination.

use super::monoid::Monoid;
use crate::types::{Tuple2, Tuple3, Tuple4, Tuple5, Tuple6, Tuple7, Tuple8};

/// A reduction in three steps: `prepare` each element, `combine` the items, `present` the result.
///
/// The result of elements `x[0]`, `x[1]`, ... is `present(item, count)`, where `item` is the bracket
/// ([`tree::bracket`](crate::tree::bracket)) of `prepare(0, x[0])`, `prepare(1, x[1])`, ... and
/// `count` is their number. Without elements the item is the monoid's identity, and the count is 0.
///
/// The steps happen in one read of the elements. So a mean of `f32` needs no array of items. A
/// [`Scan`](crate::Scan) presents each prefix of the items.
///
/// Each [`Monoid`] is an aggregate: its elements are its items, and its result is the item. A tuple
/// of 2 to 8 aggregates of the same elements is an aggregate, whose result is the tuple of their
/// results. Each has the same bits as alone.
///
/// [`#[aggregate]`](macro@crate::aggregate) derives the CUDA C++ of `prepare` and `present`. It adds
/// `monoid` if the `Monoid` has a `Default` and the function is missing.
///
/// ```
/// use warpfold::{Aggregate, Device, Reduction, aggregate, operators::Sum};
///
/// /// The square root of the mean of the squares.
/// #[derive(Clone, Copy, Default)]
/// struct RootMeanSquare;
///
/// #[aggregate]
/// impl Aggregate for RootMeanSquare {
///     type Input = f32;
///     type Monoid = Sum<f64>;
///     type Output = f64;
///     fn prepare(&self, _: u64, x: f32) -> f64 { x as f64 * x as f64 }
///     fn present(&self, sum: f64, count: u64) -> f64 { (sum / count as f64).sqrt() }
/// }
///
/// let size = Reduction::<RootMeanSquare>::new(Device::auto()).run(&[3.0, 4.0, 0.0, 0.0])?;
/// assert_eq!(size, 2.5);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Aggregate: Copy + Send + Sync + 'static {
    /// The type of an element, such as `f32`. A tuple such as `(f32, u8)` is an element of several
    /// arrays that are read in step, or of one array of tuples: the input of a call says which.
    type Input: Copy;
    /// The operator that combines the items.
    type Monoid: Monoid;
    /// The type of the result.
    type Output;

    /// Whether a GPU combines items although `accumulate` is written out: small items stay in
    /// registers, and the combination of two does not wait for that of others.
    #[doc(hidden)]
    const COMBINES_ON_GPU: bool = false;

    /// The operator, with its run-time parameters.
    fn monoid(&self) -> Self::Monoid;

    /// The item that the element at `index` becomes. Called for each element, in any order, on any
    /// thread, and for some elements more than once.
    ///
    /// A GPU may also call it and discard the item: with an index past the end, and with
    /// parts that belong to different elements. So `prepare` terminates for every index and every
    /// combination of parts.
    ///
    /// The CPU calls `prepare` and [`present`](Self::present) on rayon threads, so they must not wait for
    /// other work of that thread pool.
    fn prepare(&self, index: u64, input: Self::Input) -> Item<Self>;

    /// Combines an item with the next element: `combine(item, prepare(index, input))`, bit for bit.
    ///
    /// Most aggregates keep the default. An aggregate whose items are much larger than its elements
    /// may write it out: adding one element to a histogram takes less than making a histogram of
    /// it. This requires a `combine` that is associative bit for bit, as that of integers is, or of
    /// maxima. Then every order of combination has the bits of the bracket, and a reduction
    /// accumulates neighbouring elements one by one. `laws::accumulation` (with the feature `laws`)
    /// tests it.
    ///
    /// Scans do not use it, nor does a GPU inside a tuple.
    fn accumulate(&self, item: Item<Self>, index: u64, input: Self::Input) -> Item<Self> {
        self.monoid().combine(item, self.prepare(index, input))
    }

    /// The result, from the value of `count` items: once for a reduction, and for each place of a
    /// scan.
    fn present(&self, item: Item<Self>, count: u64) -> Self::Output;
}

/// What an [`Aggregate`] combines: the items of its monoid.
pub type Item<A> = <<A as Aggregate>::Monoid as Monoid>::Item;

impl<M: Monoid> Aggregate for M {
    type Input = M::Item;
    type Monoid = M;
    type Output = M::Item;

    fn monoid(&self) -> M {
        *self
    }
    fn prepare(&self, _: u64, input: M::Item) -> M::Item {
        input
    }
    fn present(&self, item: M::Item, _: u64) -> M::Item {
        item
    }
}

/// Several monoids at once: an item is a tuple of their items. The monoid of a tuple of aggregates.
///
/// ```
/// use warpfold::operators::{Max, Min, Together};
/// use warpfold::{Monoid, Tuple2};
///
/// let range = Together((Min::<f32>::new(), Max::<f32>::new()));
/// assert_eq!(range.combine(Tuple2(1.0, 1.0), Tuple2(3.0, 3.0)), Tuple2(1.0, 3.0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Together<T>(pub T);

macro_rules! tuples {
    ($($tuple:ident($first:ident $zero:tt, $($part:ident $index:tt),*);)*) => {$(
        impl<$first: Monoid, $($part: Monoid),*> Monoid for Together<($first, $($part),*)> {
            type Item = $tuple<$first::Item, $($part::Item),*>;

            fn identity(&self) -> Self::Item {
                $tuple(self.0.$zero.identity(), $(self.0.$index.identity()),*)
            }
            #[inline]
            fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
                $tuple(
                    self.0.$zero.combine(left.$zero, right.$zero),
                    $(self.0.$index.combine(left.$index, right.$index)),*
                )
            }
        }

        impl<$first: Aggregate, $($part: Aggregate<Input = $first::Input>),*> Aggregate for ($first, $($part),*) {
            type Input = $first::Input;
            type Monoid = Together<($first::Monoid, $($part::Monoid),*)>;
            type Output = ($first::Output, $($part::Output),*);

            fn monoid(&self) -> Self::Monoid {
                Together((self.$zero.monoid(), $(self.$index.monoid()),*))
            }
            #[inline]
            fn prepare(&self, index: u64, input: Self::Input) -> Item<Self> {
                $tuple(self.$zero.prepare(index, input), $(self.$index.prepare(index, input)),*)
            }
            #[inline]
            fn present(&self, item: Item<Self>, count: u64) -> Self::Output {
                (self.$zero.present(item.$zero, count), $(self.$index.present(item.$index, count)),*)
            }
        }
    )*};
}
tuples! {
    Tuple2(A 0, B 1);
    Tuple3(A 0, B 1, C 2);
    Tuple4(A 0, B 1, C 2, D 3);
    Tuple5(A 0, B 1, C 2, D 3, E 4);
    Tuple6(A 0, B 1, C 2, D 3, E 4, F 5);
    Tuple7(A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    Tuple8(A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}
