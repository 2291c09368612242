//! The first and the last element.

use super::{Aggregate, Monoid, zero_sized};
use crate::types::Maybe;
use crate::{DeviceType, aggregate, monoid};

zero_sized! {
    /// Selects the left one of two elements: the operator of [`First`].
    ///
    /// The identity is no element. Does not commute.
    FirstOperator<T> as "FirstOperator::<f32>"
}

zero_sized! {
    /// Selects the right one of two elements: the operator of [`Last`].
    ///
    /// The identity is no element. Does not commute.
    LastOperator<T> as "LastOperator::<f32>"
}

#[monoid]
impl<T: DeviceType> Monoid for FirstOperator<T> {
    type Item = Maybe<T>;
    fn identity(&self) -> Maybe<T> {
        None.into()
    }
    #[inline]
    fn combine(&self, left: Maybe<T>, right: Maybe<T>) -> Maybe<T> {
        if left.is_some { left } else { right }
    }
}

#[monoid]
impl<T: DeviceType> Monoid for LastOperator<T> {
    type Item = Maybe<T>;
    fn identity(&self) -> Maybe<T> {
        None.into()
    }
    #[inline]
    fn combine(&self, left: Maybe<T>, right: Maybe<T>) -> Maybe<T> {
        if right.is_some { right } else { left }
    }
}

zero_sized! {
    /// The first element, `Option<T>`.
    ///
    /// - Item: an element or none, [`Maybe<T>`]. Exact: the element's own bits.
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::First};
    ///
    /// let first = Reduction::<First<[f32; 2]>>::new(Device::auto());
    /// assert_eq!(first.run(&[[0.5, 1.0], [2.0, 3.0]])?, Some([0.5, 1.0]));
    /// assert_eq!(first.run(&[])?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    First<T> as "First::<f32>"
}

zero_sized! {
    /// The last element, `Option<T>`.
    ///
    /// - Item: an element or none, [`Maybe<T>`]. Exact: the element's own bits.
    /// - Empty input: `None`.
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::Last};
    ///
    /// let last = Reduction::<Last<u8>>::new(Device::auto());
    /// assert_eq!(last.run(b"warp")?, Some(b'p'));
    /// assert_eq!(last.run(&[])?, None);
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    Last<T> as "Last::<f32>"
}

#[aggregate]
impl<T: DeviceType> Aggregate for First<T> {
    type Input = T;
    type Monoid = FirstOperator<T>;
    type Output = Option<T>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> Maybe<T> {
        Maybe { value: element, is_some: true }
    }
    #[inline]
    fn present(&self, item: Maybe<T>, _: u64) -> Option<T> {
        if item.is_some { Some(item.value) } else { None }
    }
}

#[aggregate]
impl<T: DeviceType> Aggregate for Last<T> {
    type Input = T;
    type Monoid = LastOperator<T>;
    type Output = Option<T>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> Maybe<T> {
        Maybe { value: element, is_some: true }
    }
    #[inline]
    fn present(&self, item: Maybe<T>, _: u64) -> Option<T> {
        if item.is_some { Some(item.value) } else { None }
    }
}
