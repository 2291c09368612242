//! A running statistic, defined outside warpfold: the count, sum and extremes of the values in a
//! window.
//!
//! ```
//! use downstream::{InWindow, Summary};
//! use warpfold::{Device, Reduction};
//!
//! let values: Vec<Summary> = [3, 14, -5, 9].map(Summary::of).to_vec();
//! let statistics = Reduction::with(Device::auto(), InWindow { least: 0, most: 10 }).run(&values)?;
//! assert_eq!((statistics.count, statistics.sum, statistics.most), (2, 12, 9));
//! # Ok::<(), warpfold::Error>(())
//! ```

use warpfold::{DeviceType, Monoid, device, monoid};

/// The count, sum and extremes of some values.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Summary {
    /// The number of values.
    pub count: u32,
    /// The least value; `i32::MAX` if there is none.
    pub least: i32,
    /// The greatest value; `i32::MIN` if there is none.
    pub most: i32,
    /// The sum of the values. It wraps on overflow.
    pub sum: i64,
}

impl Summary {
    /// The summary of no value.
    pub const NONE: Self = Self { count: 0, least: i32::MAX, most: i32::MIN, sum: 0 };

    /// The summary of one value.
    pub fn of(value: i32) -> Self {
        Self { count: 1, least: value, most: value, sum: value.into() }
    }
}

/// Joins two summaries. A summary that reaches beyond the window counts as [`Summary::NONE`].
///
/// The laws hold if every summary lies wholly inside or outside the window. A summary of one value
/// always does.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct InWindow {
    /// The least value of the window.
    pub least: i32,
    /// The greatest value of the window.
    pub most: i32,
}

/// The summary itself if it lies inside the window, or else [`Summary::NONE`].
#[device]
pub fn kept(summary: Summary, window: InWindow) -> Summary {
    if summary.least < window.least || summary.most > window.most { Summary::NONE } else { summary }
}

#[monoid]
impl Monoid for InWindow {
    type Item = Summary;

    fn identity(&self) -> Summary {
        Summary::NONE
    }

    fn combine(&self, left: Summary, right: Summary) -> Summary {
        let (left, right) = (kept(left, *self), kept(right, *self));
        Summary {
            count: left.count.wrapping_add(right.count),
            least: left.least.min(right.least),
            most: left.most.max(right.most),
            sum: left.sum.wrapping_add(right.sum),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    fn summaries() -> impl Strategy<Value = Summary> + Clone {
        // The identity law fails for summaries outside the window, because they are dropped.
        prop_oneof![9 => (0..=100).prop_map(Summary::of), 1 => Just(Summary::NONE)]
    }

    warpfold::laws! {
        in_window [commutative]: Laws::of(InWindow { least: 0, most: 100 }, summaries());
    }

    /// A debug build reduces and scans on the CPU by code of its own. Each length has another last
    /// run, level or block.
    #[test]
    fn a_debug_build_returns_the_bits_of_the_tree() {
        use warpfold::operators::{AffineComposition, Matrix2Product, Sum};
        use warpfold::{Device, DeviceMonoid, DeviceType, Reduction, Scan, Value, tree};

        // Scans in place need items that device memory holds as they are.
        fn test<M: DeviceMonoid<Item: Value<Stored = M::Item>> + Default>(item: impl Fn(u32) -> M::Item) {
            let (reduction, scan) = (Reduction::<M>::new(Device::cpu()), Scan::<M>::new(Device::cpu()));
            for length in (0..150).chain([1023, 4097, 70_001, 300_007]) {
                let items: Vec<M::Item> = (0..length).map(&item).collect();
                let same = |a: &[M::Item], b: &[M::Item]| {
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| M::Item::same_bits(a, b))
                };
                let value = reduction.run(&items).expect("the CPU");
                assert!(same(&[value], &[tree::bracket(&M::default(), &items)]), "{length} items");
                let inclusive = scan.inclusive(&items).expect("the CPU");
                assert!(same(&inclusive, &tree::inclusive_scan(&M::default(), &items)), "{length} items");
                let mut exclusive = items.clone();
                scan.exclusive_in_place(&mut exclusive).expect("the CPU");
                assert!(same(&exclusive, &tree::exclusive_scan(&M::default(), &items)), "{length} items");
            }
        }
        test::<Sum<f32>>(|i| 1.0 / (1 + i) as f32);
        test::<AffineComposition<u16>>(|i| [i as u16, (3 * i) as u16]);
        test::<Matrix2Product<u64>>(|i| [[i.into(), 1], [1, 0]]);
    }

    #[test]
    fn outside_the_window_the_identity_law_does_not_hold() {
        let outside = Laws::of(InWindow { least: 0, most: 100 }, (-50..=-1).prop_map(Summary::of));
        assert!(outside.identity().is_err());
    }
}
