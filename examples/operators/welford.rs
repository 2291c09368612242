//! Mean and variance in one pass. Chan, Golub and LeVeque's formula joins two of Welford's
//! statistics.

use warpfold::{DeviceType, Monoid, monoid};

/// The count and mean of some values, and the sum of their squared deviations from the mean.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Moments {
    pub count: u64,
    pub mean: f64,
    pub squares: f64,
}

impl Moments {
    pub fn of(value: f64) -> Self {
        Self { count: 1, mean: value, squares: 0.0 }
    }

    /// The variance of these values as a whole population, not an estimate from a sample.
    pub fn variance(&self) -> f64 {
        self.squares / self.count as f64
    }
}

/// The moments of the values of both operands. Associative up to rounding.
#[derive(Clone, Copy, Debug, Default)]
pub struct Welford;

#[monoid]
impl Monoid for Welford {
    type Item = Moments;
    fn identity(&self) -> Moments {
        Moments { count: 0, mean: 0.0, squares: 0.0 }
    }
    fn combine(&self, a: Moments, b: Moments) -> Moments {
        if a.count == 0 {
            return b;
        }
        if b.count == 0 {
            return a;
        }
        let count = a.count + b.count;
        let delta = b.mean - a.mean;
        let weight = b.count as f64 / count as f64;
        Moments {
            count,
            mean: a.mean + delta * weight,
            squares: a.squares + b.squares + delta * delta * a.count as f64 * weight,
        }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    /// An upper bound on the magnitude of every mean and every sum of squares.
    fn magnitude(items: &[Moments]) -> f64 {
        let count: u64 = items.iter().map(|item| item.count).sum();
        let largest = items.iter().fold(1.0_f64, |largest, item| largest.max(item.mean.abs()));
        items.iter().map(|item| item.squares).sum::<f64>() + 4.0 * largest * largest * count as f64
    }

    fn moments() -> impl Strategy<Value = Moments> + Clone {
        prop_oneof![
            (-1e3..1e3_f64).prop_map(Moments::of),
            (1..1000_u64, -1e3..1e3_f64, 0.0..1e3_f64).prop_map(|(count, mean, squares)| Moments {
                count,
                mean,
                squares
            }),
            Just(Moments { count: 0, mean: 0.0, squares: 0.0 }),
        ]
    }

    warpfold::laws! {
        welford [commutative]: Laws::of(Welford, moments()).within(1e-12, magnitude);
    }
}
