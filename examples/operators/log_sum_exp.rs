//! The logarithm of a sum of exponentials, without overflow.

use warpfold::{DeviceType, Monoid, monoid};

/// The sum of exp(x) over some values x, stored as `sum * exp(largest)`.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Scaled {
    pub largest: f64,
    pub sum: f64,
}

impl Scaled {
    pub fn of(exponent: f64) -> Self {
        Self { largest: exponent, sum: 1.0 }
    }

    pub fn logarithm(&self) -> f64 {
        self.largest + self.sum.ln()
    }
}

/// The sum of two sums. Associative up to rounding; not exact, since `exp` is not.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogSumExp;

#[monoid]
impl Monoid for LogSumExp {
    type Item = Scaled;
    fn identity(&self) -> Scaled {
        Scaled { largest: f64::NEG_INFINITY, sum: 0.0 }
    }
    fn combine(&self, a: Scaled, b: Scaled) -> Scaled {
        if b.largest <= a.largest {
            // If both sums are empty, the difference of -inf and -inf is NaN.
            let rest = if b.sum == 0.0 { 0.0 } else { b.sum * (b.largest - a.largest).exp() };
            Scaled { largest: a.largest, sum: a.sum + rest }
        } else {
            let rest = if a.sum == 0.0 { 0.0 } else { a.sum * (a.largest - b.largest).exp() };
            Scaled { largest: b.largest, sum: rest + b.sum }
        }
    }
}

#[cfg(test)]
mod tests {
    use warpfold::DeviceMonoid;
    use warpfold::laws::{Laws, proptest::prelude::*};

    use super::*;

    fn sum_of_sums(items: &[Scaled]) -> f64 {
        items.iter().map(|item| item.sum).sum()
    }

    fn scaled() -> impl Strategy<Value = Scaled> + Clone {
        prop_oneof![
            (-700.0..700.0_f64).prop_map(Scaled::of),
            (-5.0..5.0_f64, 1.0..9.0_f64).prop_map(|(largest, sum)| Scaled { largest, sum }),
        ]
    }

    warpfold::laws! {
        log_sum_exp [commutative]: Laws::of(LogSumExp, scaled()).within(1e-13, sum_of_sums);
    }

    const _: () = assert!(!LogSumExp::EXACT, "`exp` is not exact");
}
