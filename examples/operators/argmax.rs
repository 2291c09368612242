//! The largest key and its index.

use num_traits::Bounded;
use warpfold::{DeviceType, Monoid, monoid};

#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Keyed<T: DeviceType> {
    pub key: T,
    pub index: u64,
}

/// The item with the largest key; on a tie the one with the lower index. No key may be NaN.
#[derive(Clone, Copy, Debug, Default)]
pub struct ArgMax<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: DeviceType + PartialOrd + Bounded> Monoid for ArgMax<T> {
    type Item = Keyed<T>;
    fn identity(&self) -> Keyed<T> {
        Keyed { key: T::min_value(), index: u64::MAX }
    }
    fn combine(&self, a: Keyed<T>, b: Keyed<T>) -> Keyed<T> {
        if b.key > a.key || (b.key == a.key && b.index < a.index) { b } else { a }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    fn keyed<T: DeviceType + std::fmt::Debug>(
        keys: impl Strategy<Value = T> + Clone,
    ) -> impl Strategy<Value = Keyed<T>> + Clone {
        (keys, any::<u64>()).prop_map(|(key, index)| Keyed { key, index })
    }

    warpfold::laws! {
        argmax_of_f32 [commutative]: Laws::of(ArgMax::<f32>::default(), keyed((-3_i8..3).prop_map(f32::from)));
        argmax_of_i64 [commutative]: Laws::of(ArgMax::<i64>::default(), keyed(any::<i64>()));
    }
}
