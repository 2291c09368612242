//! The smallest and the largest element, and where they are.

use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::operators::{Max, Min, Number, Together};
use crate::types::Tuple2;
use crate::{DeviceType, aggregate, device, monoid};

zero_sized! {
    /// The smallest and the largest element, `Option<(T, T)>`.
    ///
    /// - Item: both, [`Min`] and [`Max`]. Exact.
    /// - Floats: IEEE 754-2019 `minimum` and `maximum`. -0 is below +0. A NaN gives NaN twice.
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::MinMax};
    ///
    /// let range = Reduction::<MinMax<f32>>::new(Device::auto());
    /// assert_eq!(range.run(&[21.5, 19.0, 23.25])?, Some((19.0, 23.25)));
    /// assert_eq!(range.run(&[])?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    MinMax<T> as "MinMax::<f32>"
}

#[aggregate]
impl<T: Number> Aggregate for MinMax<T> {
    type Input = T;
    type Monoid = Together<(Min<T>, Max<T>)>;
    type Output = Option<(T, T)>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> Tuple2<T, T> {
        Tuple2(element, element)
    }
    #[inline]
    fn present(&self, item: Tuple2<T, T>, count: u64) -> Option<(T, T)> {
        if count == 0 { None } else { Some((item.0, item.1)) }
    }
}

/// An element and its index.
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::{ArgMax, Indexed}};
///
/// let largest = Reduction::<ArgMax<i32>>::new(Device::auto());
/// assert_eq!(largest.run(&[3, 9, 9])?, Some(Indexed { index: 1, value: 9 }));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Indexed<T: DeviceType> {
    /// The index in the input, from 0.
    pub index: u64,
    /// The element.
    pub value: T,
}

/// Whether a number is a NaN. An integer is none.
#[device]
#[inline]
#[allow(clippy::eq_op)]
fn is_nan<T: Number>(value: T) -> bool {
    value != value
}

/// Whether `a` comes before `b` in falling order: a NaN first, and equal numbers by index.
///
/// Without a branch, because the lanes of a warp would take different ones.
#[device]
#[inline]
pub(super) fn is_above<T: Number>(a: Indexed<T>, b: Indexed<T>) -> bool {
    let (a_is_nan, b_is_nan) = (is_nan(a.value), is_nan(b.value));
    let above = (a_is_nan | (a.value > b.value)) & !b_is_nan;
    let level = (a_is_nan & b_is_nan) | (a.value == b.value);
    above | (level & (a.index < b.index))
}

/// Whether `a` comes before `b` in rising order: a NaN first, and equal numbers by index.
#[device]
#[inline]
fn is_below<T: Number>(a: Indexed<T>, b: Indexed<T>) -> bool {
    let (a_is_nan, b_is_nan) = (is_nan(a.value), is_nan(b.value));
    let below = (a_is_nan | (a.value < b.value)) & !b_is_nan;
    let level = (a_is_nan & b_is_nan) | (a.value == b.value);
    below | (level & (a.index < b.index))
}

/// One of two elements.
#[device]
#[inline]
pub(super) fn choose<T: Number>(is_first: bool, first: Indexed<T>, second: Indexed<T>) -> Indexed<T> {
    Indexed {
        index: if is_first { first.index } else { second.index },
        value: if is_first { first.value } else { second.value },
    }
}

zero_sized! {
    /// Selects the smaller of two elements: the operator of [`ArgMin`].
    ///
    /// The identity is the greatest value at the index `u64::MAX`. Associative and commutative on
    /// all items of different indices.
    ArgMinOperator<T> as "ArgMinOperator::<f32>"
}

zero_sized! {
    /// Selects the larger of two elements: the operator of [`ArgMax`].
    ///
    /// The identity is the least value at the index `u64::MAX`. Associative and commutative on all
    /// items of different indices.
    ArgMaxOperator<T> as "ArgMaxOperator::<f32>"
}

zero_sized! {
    /// The smallest element and its index, `Option<Indexed<T>>`.
    ///
    /// - Item: [`Indexed`]. Exact.
    /// - Ties: the first of equal elements. -0 and +0 are equal.
    /// - NaN: the first NaN, as for NumPy's `argmin`.
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::{ArgMin, Indexed}};
    ///
    /// let smallest = Reduction::<ArgMin<f32>>::new(Device::auto());
    /// assert_eq!(smallest.run(&[2.5, 1.5, 1.5])?, Some(Indexed { index: 1, value: 1.5 }));
    /// assert_eq!(smallest.run(&[1.5, f32::NAN])?.map(|smallest| smallest.index), Some(1));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ArgMin<T> as "ArgMin::<f32>"
}

zero_sized! {
    /// The largest element and its index, `Option<Indexed<T>>`.
    ///
    /// - Item: [`Indexed`]. Exact.
    /// - Ties: the first of equal elements. -0 and +0 are equal.
    /// - NaN: the first NaN, as for NumPy's `argmax`.
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::{ArgMax, Indexed}};
    ///
    /// let largest = Reduction::<ArgMax<u8>>::new(Device::auto());
    /// assert_eq!(largest.run(&[7, 200, 200])?, Some(Indexed { index: 1, value: 200 }));
    /// assert_eq!(largest.run(&[])?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    ArgMax<T> as "ArgMax::<f32>"
}

#[monoid]
impl<T: Number> Monoid for ArgMinOperator<T> {
    type Item = Indexed<T>;
    fn identity(&self) -> Indexed<T> {
        Indexed { index: u64::MAX, value: <T as Number>::MAX }
    }
    #[inline]
    fn combine(&self, left: Indexed<T>, right: Indexed<T>) -> Indexed<T> {
        choose(is_below(right, left), right, left)
    }
}

#[monoid]
impl<T: Number> Monoid for ArgMaxOperator<T> {
    type Item = Indexed<T>;
    fn identity(&self) -> Indexed<T> {
        Indexed { index: u64::MAX, value: <T as Number>::MIN }
    }
    #[inline]
    fn combine(&self, left: Indexed<T>, right: Indexed<T>) -> Indexed<T> {
        choose(is_above(right, left), right, left)
    }
}

impl<T: Number> Commutative for ArgMinOperator<T> {}
impl<T: Number> Commutative for ArgMaxOperator<T> {}

#[aggregate]
impl<T: Number> Aggregate for ArgMin<T> {
    type Input = T;
    type Monoid = ArgMinOperator<T>;
    type Output = Option<Indexed<T>>;
    const COMBINES_ON_GPU: bool = true;
    #[inline]
    fn prepare(&self, index: u64, value: T) -> Indexed<T> {
        Indexed { index, value }
    }
    #[inline]
    fn accumulate(&self, item: Indexed<T>, index: u64, value: T) -> Indexed<T> {
        // Most elements are greater.
        if value > item.value {
            return item;
        }
        let next = Indexed { index, value };
        if value < item.value {
            return next;
        }
        choose(is_below(next, item), next, item)
    }
    #[inline]
    fn present(&self, item: Indexed<T>, count: u64) -> Option<Indexed<T>> {
        if count == 0 { None } else { Some(item) }
    }
}

#[aggregate]
impl<T: Number> Aggregate for ArgMax<T> {
    type Input = T;
    type Monoid = ArgMaxOperator<T>;
    type Output = Option<Indexed<T>>;
    const COMBINES_ON_GPU: bool = true;
    #[inline]
    fn prepare(&self, index: u64, value: T) -> Indexed<T> {
        Indexed { index, value }
    }
    #[inline]
    fn accumulate(&self, item: Indexed<T>, index: u64, value: T) -> Indexed<T> {
        // Most elements are less.
        if value < item.value {
            return item;
        }
        let next = Indexed { index, value };
        if value > item.value {
            return next;
        }
        choose(is_above(next, item), next, item)
    }
    #[inline]
    fn present(&self, item: Indexed<T>, count: u64) -> Option<Indexed<T>> {
        if count == 0 { None } else { Some(item) }
    }
}
