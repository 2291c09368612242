//! A histogram whose intervals follow from the numbers, in one read.

use std::marker::PhantomData;

use num_traits::AsPrimitive;
use warpfold::{Aggregate, DeviceType, Monoid, aggregate, device, monoid};

/// Most intervals of a histogram.
pub const BINS: usize = 16;

/// Counts of numbers in intervals of equal width.
///
/// Interval k holds the numbers from `k 2^exponent` to below `(k + 1) 2^exponent`. The width is the
/// smallest for which [`BINS`] intervals hold all numbers, but at least the last bit of the largest
/// number. So the numbers decide the intervals, and their order does not.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Counts {
    /// The number of negative infinities.
    pub below: u64,
    /// The number of positive infinities.
    pub above: u64,
    /// The first interval that is not empty.
    first: i64,
    /// The last interval that is not empty. Before the first if all are.
    last: i64,
    exponent: i64,
    /// The number of numbers in each interval from the first on.
    bins: [u64; BINS],
}

const EMPTY: Counts = Counts { below: 0, above: 0, first: 0, last: -1, exponent: 0, bins: [0; BINS] };

impl Counts {
    /// The counts of the intervals, from the first to the last that is not empty.
    pub fn bins(&self) -> &[u64] {
        &self.bins[..(self.last - self.first + 1) as usize]
    }

    /// The lower edge of an interval, counted from the first.
    pub fn edge(&self, interval: usize) -> f64 {
        (self.first + interval as i64) as f64 * self.width()
    }

    pub fn width(&self) -> f64 {
        (self.exponent as f64).exp2()
    }
}

#[device]
impl Counts {
    fn is_empty(self) -> bool {
        self.last < self.first
    }

    /// The same counts in wider intervals, in addition to other counts of such intervals.
    fn added_to(self, other: Self) -> Self {
        let mut sum = other;
        let shift = (other.exponent - self.exponent).min(63);
        let mut k = 0;
        while k <= self.last - self.first {
            let interval = (self.first + k) >> shift;
            sum.bins[(interval - other.first) as usize] += self.bins[k as usize];
            k += 1;
        }
        sum
    }

    /// The counts of both, in the narrowest intervals that hold them.
    fn and(self, right: Self) -> Self {
        let (below, above) = (self.below + right.below, self.above + right.above);
        if self.is_empty() {
            return Counts { below, above, ..right };
        }
        if right.is_empty() {
            return Counts { below, above, ..self };
        }
        let mut exponent = self.exponent.max(right.exponent);
        let (by_left, by_right) = ((exponent - self.exponent).min(63), (exponent - right.exponent).min(63));
        let mut first = (self.first >> by_left).min(right.first >> by_right);
        let mut last = (self.last >> by_left).max(right.last >> by_right);
        while last - first >= BINS as i64 {
            exponent += 1;
            first >>= 1;
            last >>= 1;
        }
        let sum = Counts { below, above, first, last, exponent, bins: [0; BINS] };
        right.added_to(self.added_to(sum))
    }

    /// The counts, and a number.
    fn and_of(self, x: f64) -> Self {
        let one = counts_of(x);
        let shift = self.exponent - one.exponent;
        let interval = one.first >> shift.clamp(0, 63);
        if one.is_empty() | (shift < 0) | (interval < self.first) | (interval > self.last) {
            return self.and(one);
        }
        // Most numbers are in an interval that is there.
        let mut counts = self;
        counts.bins[(interval - self.first) as usize] += 1;
        counts
    }
}

/// Adds counts, in the wider intervals that hold both.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddCounts;

#[monoid]
impl Monoid for AddCounts {
    type Item = Counts;
    fn identity(&self) -> Counts {
        EMPTY
    }
    fn combine(&self, left: Counts, right: Counts) -> Counts {
        left.and(right)
    }
}

/// The histogram of the numbers of a column. A NaN is in none of its intervals.
///
/// Numbers are compared as `f64`: an integer of more than 53 bits is rounded.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdaptiveHistogram<T>(PhantomData<T>);

/// The one interval of a number: its width is the last bit of the number.
#[device]
fn counts_of(x: f64) -> Counts {
    let mut counts = EMPTY;
    if x.is_nan() {
        return counts;
    }
    if x.is_infinite() {
        counts.below += u64::from(x < 0.0);
        counts.above += u64::from(x > 0.0);
        return counts;
    }
    let bits = x.to_bits();
    let (biased, fraction) = ((bits >> 52 & 0x7ff) as i64, (bits & 0xf_ffff_ffff_ffff) as i64);
    // A subnormal number has no leading one.
    let significand = if biased > 0 { fraction + 0x10_0000_0000_0000 } else { fraction };
    let interval = if x < 0.0 { -significand } else { significand };
    counts.exponent = biased.max(1) - 1075;
    counts.first = interval;
    counts.last = interval;
    counts.bins[0] = 1;
    counts
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>> Aggregate for AdaptiveHistogram<T> {
    type Input = T;
    type Monoid = AddCounts;
    type Output = Counts;
    fn prepare(&self, _: u64, element: T) -> Counts {
        counts_of(element.as_())
    }
    fn accumulate(&self, counts: Counts, _: u64, element: T) -> Counts {
        counts.and_of(element.as_())
    }
    fn present(&self, counts: Counts, _: u64) -> Counts {
        counts
    }
}

#[cfg(test)]
mod tests {
    use warpfold::laws::{self, Laws, proptest, proptest::prelude::*};
    use warpfold::tree;

    use super::*;

    fn histogram(numbers: &[f64]) -> Counts {
        let items: Vec<Counts> = numbers.iter().map(|&x| counts_of(x)).collect();
        tree::bracket(&AddCounts, &items)
    }

    /// Numbers of all sizes, and of one size.
    fn numbers() -> impl Strategy<Value = f64> + Clone {
        prop_oneof![any::<f64>(), -1e3..1e3_f64, (-20..20_i32).prop_map(f64::from), Just(f64::INFINITY)]
    }

    fn counts() -> impl Strategy<Value = Counts> + Clone {
        proptest::collection::vec(numbers(), 0..40).prop_map(|numbers| histogram(&numbers))
    }

    warpfold::laws! {
        add_counts [commutative]: Laws::of(AddCounts, counts());
    }

    #[test]
    fn what_is_accumulated_is_the_bracket() {
        laws::accumulation(AdaptiveHistogram::<f64>::default(), numbers())
            .unwrap_or_else(|broken| panic!("{broken}"));
    }

    /// The interval of a number, by division. It is exact, because the width is a power of two, unless
    /// the quotient is next to zero.
    fn interval(x: f64, exponent: i64) -> f64 {
        // In two steps: the width itself may have no `f64`.
        let half = exponent / 2;
        let quotient = x / (half as f64).exp2() / ((exponent - half) as f64).exp2();
        if x < 0.0 && quotient == 0.0 { -1.0 } else { quotient.floor() }
    }

    proptest! {
        #[test]
        fn numbers_are_in_the_narrowest_intervals_that_hold_them(
            numbers in proptest::collection::vec(numbers(), 1..100)
        ) {
            let counts = histogram(&numbers);
            let finite: Vec<f64> = numbers.iter().copied().filter(|x| x.is_finite()).collect();
            prop_assert_eq!(counts.bins().iter().sum::<u64>(), finite.len() as u64);
            let spread = |exponent: i64| {
                let intervals = || finite.iter().map(|&x| interval(x, exponent));
                let first = intervals().fold(f64::INFINITY, f64::min);
                (first, intervals().fold(f64::NEG_INFINITY, f64::max) - first)
            };
            let (first, distance) = spread(counts.exponent);
            for (k, &count) in counts.bins().iter().enumerate() {
                let there = finite.iter().filter(|&&x| interval(x, counts.exponent) - first == k as f64);
                prop_assert_eq!(there.count() as u64, count);
            }
            if !finite.is_empty() {
                prop_assert!(distance < BINS as f64);
                prop_assert_eq!(counts.first as f64, first);
                let last_bit = finite.iter().map(|&x| counts_of(x).exponent).max().expect("a number");
                prop_assert!(counts.exponent == last_bit || spread(counts.exponent - 1).1 >= BINS as f64);
            }
        }
    }

    #[test]
    fn intervals_of_small_integers_have_one_each() {
        let counts = histogram(&[0.0, 9.0, 9.0, 3.0, -0.0, f64::NAN, f64::NEG_INFINITY]);
        assert_eq!(counts.bins(), [2, 0, 0, 1, 0, 0, 0, 0, 0, 2]);
        assert_eq!((counts.edge(9), counts.width(), counts.below, counts.above), (9.0, 1.0, 1, 0));
    }

    #[test]
    fn the_largest_and_the_smallest_numbers_have_intervals() {
        assert_eq!(histogram(&[f64::MIN, f64::MAX]).bins().len(), 16);
        let smallest = f64::from_bits(1);
        let counts = histogram(&[smallest, 0.0, -smallest]);
        assert_eq!((counts.bins(), counts.width()), (&[1, 1, 1][..], smallest));
        assert_eq!(histogram(&[]).bins(), [0; 0]);
    }
}
