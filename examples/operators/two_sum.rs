//! A compensated sum: a sum of floats, with the total error of its roundings.

use warpfold::{DeviceType, Monoid, device, monoid};

/// The value is `sum + error`; `sum` is the rounded sum.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Compensated {
    pub sum: f32,
    pub error: f32,
}

impl Compensated {
    pub fn of(value: f32) -> Self {
        Self { sum: value, error: 0.0 }
    }
}

/// Knuth's two-sum: the rounded sum, and the exact error of the rounding.
#[device]
pub fn two_sum(a: f32, b: f32) -> (f32, f32) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

/// Adds two sums and their errors. Associative up to the rounding of the errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct TwoSum;

#[monoid]
impl Monoid for TwoSum {
    type Item = Compensated;
    fn identity(&self) -> Compensated {
        Compensated { sum: -0.0, error: 0.0 }
    }
    fn combine(&self, a: Compensated, b: Compensated) -> Compensated {
        let (sum, error) = two_sum(a.sum, b.sum);
        Compensated { sum, error: a.error + b.error + error }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{self, Laws, proptest::prelude::*};
    use warpfold::tree;

    use super::*;

    warpfold::laws! {
        two_sum_of_floats [commutative]:
            Laws::of(TwoSum, (-1e3_f32..1e3).prop_map(Compensated::of)).within(1e-6, laws::sum_of_magnitudes);
    }

    #[test]
    fn what_a_plain_sum_loses_is_kept() {
        let items: Vec<Compensated> = [1.0, 1e8, 1.0, -1e8].map(Compensated::of).to_vec();
        let sum = tree::bracket(&TwoSum, &items);
        assert_eq!(sum.sum + sum.error, 2.0);
    }
}
