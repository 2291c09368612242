//! The largest sum of adjacent numbers.

use warpfold::{DeviceType, Monoid, monoid};

/// The sum of a stretch of numbers, and the largest sum of a part of it: at its start, at its end,
/// and anywhere. A part has at least one number.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Sums {
    pub all: i64,
    pub prefix: i64,
    pub suffix: i64,
    pub best: i64,
}

/// Less than any sum, and small enough in magnitude that adding to it does not overflow.
const NONE: i64 = i64::MIN / 4;

impl Sums {
    pub fn of(number: i32) -> Self {
        let number = i64::from(number);
        Self { all: number, prefix: number, suffix: number, best: number }
    }
}

/// The sums of two adjacent stretches.
#[derive(Clone, Copy, Debug, Default)]
pub struct MaximumSubarray;

#[monoid]
impl Monoid for MaximumSubarray {
    type Item = Sums;
    fn identity(&self) -> Sums {
        Sums { all: 0, prefix: NONE, suffix: NONE, best: NONE }
    }
    fn combine(&self, a: Sums, b: Sums) -> Sums {
        let across = (a.suffix + b.prefix).max(NONE);
        Sums {
            all: a.all + b.all,
            prefix: a.prefix.max((a.all + b.prefix).max(NONE)),
            suffix: b.suffix.max((b.all + a.suffix).max(NONE)),
            best: a.best.max(b.best).max(across),
        }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};
    use warpfold::tree;

    use super::*;

    fn sums() -> impl Strategy<Value = Sums> + Clone {
        prop::collection::vec(any::<i32>(), 1..8).prop_map(|numbers| {
            tree::bracket(&MaximumSubarray, &numbers.into_iter().map(Sums::of).collect::<Vec<_>>())
        })
    }

    warpfold::laws! {
        maximum_subarray: Laws::of(MaximumSubarray, sums());
    }
}
