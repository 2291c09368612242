//! The largest elements.

use super::extremes::{Indexed, choose, is_above};
use super::{Aggregate, Commutative, Monoid, zero_sized};
use crate::operators::Number;
use crate::{DeviceType, aggregate, monoid};

/// The item of [`TopK`]: the K largest elements in falling order.
///
/// A place without an element has the least value, and the index `u64::MAX`.
///
/// ```
/// use warpfold::{Aggregate, aggregates::TopK};
///
/// let item = TopK::<u8, 2>::new().prepare(5, 7);
/// assert_eq!((item.values, item.indices), ([7, 0], [5, u64::MAX]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct TopKItem<T: DeviceType, const K: usize> {
    /// The elements.
    pub values: [T; K],
    /// Their indices in the input, from 0.
    pub indices: [u64; K],
}

/// The result of [`TopK`]: the K largest elements in falling order.
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::{Indexed, TopK}};
///
/// let largest = Reduction::<TopK<i32, 3>>::new(Device::auto()).run(&[4, 9])?;
/// assert_eq!(largest.count, 2);
/// assert!(largest.iter().eq([Indexed { index: 1, value: 9 }, Indexed { index: 0, value: 4 }]));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Largest<T: DeviceType, const K: usize> {
    /// The number of elements found: K, or fewer if the input is shorter.
    pub count: u64,
    /// The elements. Places from `count` on have the least value.
    pub values: [T; K],
    /// Their indices in the input, from 0. Places from `count` on have `u64::MAX`.
    pub indices: [u64; K],
}

impl<T: DeviceType, const K: usize> Largest<T, K> {
    /// The elements found, the largest first.
    ///
    /// ```
    /// use warpfold::aggregates::{Indexed, Largest};
    ///
    /// let largest = Largest { count: 1, values: [9, 0], indices: [4, u64::MAX] };
    /// assert!(largest.iter().eq([Indexed { index: 4, value: 9 }]));
    /// ```
    pub fn iter(&self) -> impl Iterator<Item = Indexed<T>> + '_ {
        let places = self.indices.iter().zip(&self.values).take(self.count as usize);
        places.map(|(&index, &value)| Indexed { index, value })
    }
}

zero_sized! {
    /// Merges two lists of the K largest elements: the operator of [`TopK`].
    ///
    /// The identity has no element. Associative and commutative on lists in falling order of
    /// different indices.
    TopKOperator<T, K> as "TopKOperator::<f32, 4>"
}

#[monoid]
impl<T: Number, const K: usize> Monoid for TopKOperator<T, K> {
    type Item = TopKItem<T, K>;
    fn identity(&self) -> TopKItem<T, K> {
        const { assert!(K > 0, "the K of TopK is at least 1") };
        TopKItem { values: [<T as Number>::MIN; K], indices: [u64::MAX; K] }
    }
    #[inline]
    fn combine(&self, left: TopKItem<T, K>, right: TopKItem<T, K>) -> TopKItem<T, K> {
        // The larger one of each pair of opposite places: together the K largest. They fall, and
        // then rise.
        let (mut values, mut indices) = (left.values, left.indices);
        for k in 0..K {
            let own = Indexed { index: left.indices[k], value: left.values[k] };
            let other = Indexed { index: right.indices[K - 1 - k], value: right.values[K - 1 - k] };
            if is_above(other, own) {
                values[k] = other.value;
                indices[k] = other.index;
            }
        }
        // Batcher's bitonic merge sorts such a sequence. It takes a power of two of places, so
        // larger elements are imagined in front. They never move.
        let places = K.next_power_of_two();
        let mut stride = places / 2;
        while stride > 0 {
            for k in 0..K {
                if (places - K + k) & stride == 0 {
                    let here = Indexed { index: indices[k], value: values[k] };
                    let there = Indexed { index: indices[k + stride], value: values[k + stride] };
                    if is_above(there, here) {
                        values[k] = there.value;
                        indices[k] = there.index;
                        values[k + stride] = here.value;
                        indices[k + stride] = here.index;
                    }
                }
            }
            stride /= 2;
        }
        TopKItem { values, indices }
    }
}

impl<T: Number, const K: usize> Commutative for TopKOperator<T, K> {}

zero_sized! {
    /// The K largest elements and their indices, [`Largest`].
    ///
    /// - Item: [`TopKItem`], at most 256 bytes: K is at most 16 for numbers of 8 bytes, and at most
    ///   21 for `f32`, `i32` and `u32`. Exact.
    /// - Order: the largest first, and equal elements by index. -0 and +0 are equal.
    /// - NaN: NaNs come first, by index.
    /// - Empty input: a `count` of 0. An input of fewer than K elements: all of them.
    /// - Source: the merge is Batcher's bitonic merge, "Sorting networks and their applications"
    ///   (1968).
    ///
    /// ```
    /// use warpfold::{Device, Reduction, aggregates::TopK};
    ///
    /// let largest = Reduction::<TopK<f32, 2>>::new(Device::auto()).run(&[2.5, 7.0, 1.0, 7.0])?;
    /// assert_eq!((largest.values, largest.indices), ([7.0, 7.0], [1, 3]));
    /// # Ok::<(), warpfold::Error>(())
    /// ```
    TopK<T, K> as "TopK::<f32, 4>"
}

#[aggregate]
impl<T: Number, const K: usize> Aggregate for TopK<T, K> {
    type Input = T;
    type Monoid = TopKOperator<T, K>;
    type Output = Largest<T, K>;
    #[inline]
    fn prepare(&self, index: u64, element: T) -> TopKItem<T, K> {
        let (mut values, mut indices) = ([<T as Number>::MIN; K], [u64::MAX; K]);
        values[0] = element;
        indices[0] = index;
        TopKItem { values, indices }
    }
    #[inline]
    fn accumulate(&self, item: TopKItem<T, K>, index: u64, element: T) -> TopKItem<T, K> {
        let (mut values, mut indices) = (item.values, item.indices);
        let mut moved = Indexed { index, value: element };
        // Most elements are below all of the list.
        if is_above(moved, Indexed { index: indices[K - 1], value: values[K - 1] }) {
            for k in 0..K {
                let here = Indexed { index: indices[k], value: values[k] };
                let is_before = is_above(moved, here);
                let kept = choose(is_before, moved, here);
                values[k] = kept.value;
                indices[k] = kept.index;
                moved = choose(is_before, here, moved);
            }
        }
        TopKItem { values, indices }
    }
    #[inline]
    fn present(&self, item: TopKItem<T, K>, count: u64) -> Largest<T, K> {
        let found = if count < K as u64 { count } else { K as u64 };
        Largest { count: found, values: item.values, indices: item.indices }
    }
}
