//! A running statistic, defined outside warpfold: how many values lie in a window, their sum, and their extremes.
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

/// Of some values: how many, their sum, and the least and the most of them.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Summary {
    /// How many.
    pub count: u32,
    /// The least; `i32::MAX` of none.
    pub least: i32,
    /// The most; `i32::MIN` of none.
    pub most: i32,
    /// The sum, which wraps.
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

/// Joins summaries of which each lies in a window, and drops the others.
///
/// Its laws hold where every summary is of one value or lies wholly inside or outside the window.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct InWindow {
    /// The least value in the window.
    pub least: i32,
    /// The greatest.
    pub most: i32,
}

/// The summary, or that of nothing if it is not in the window.
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
        // Identity elements are in the domain; what lies outside the window is not, since it is dropped.
        prop_oneof![9 => (0..=100).prop_map(Summary::of), 1 => Just(Summary::NONE)]
    }

    warpfold::laws! {
        in_window [commutative]: Laws::of(InWindow { least: 0, most: 100 }, summaries());
    }

    #[test]
    fn outside_the_window_the_identity_law_does_not_hold() {
        let outside = Laws::of(InWindow { least: 0, most: 100 }, (-50..=-1).prop_map(Summary::of));
        assert!(outside.identity().is_err());
    }
}
