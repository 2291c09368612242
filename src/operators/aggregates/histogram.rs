//! Counts of equal intervals.

use num_traits::AsPrimitive;

use super::{Aggregate, Commutative, Monoid};
use crate::operators::Number;
use crate::{DeviceType, aggregate, device, monoid};

/// The result and the item of [`Histogram`].
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::Histogram};
///
/// let histogram = Reduction::with(Device::auto(), Histogram::<f32, 2>::new(0.0, 1.0));
/// let counts = histogram.run(&[-3.0, 0.25, 0.75, 1.0, f32::NAN])?;
/// assert_eq!((counts.below, counts.bins, counts.above, counts.nan), (1, [1, 2], 0, 1));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct HistogramCounts<const BINS: usize> {
    /// The number of elements below the lowest edge.
    pub below: u64,
    /// The number of elements above the highest edge.
    pub above: u64,
    /// The number of NaNs.
    pub nan: u64,
    /// The number of elements in each interval.
    pub bins: [u64; BINS],
}

/// Adds counts: the operator of [`Histogram`].
///
/// ```
/// use warpfold::Monoid;
/// use warpfold::aggregates::{HistogramCounts, HistogramOperator};
///
/// let counts = HistogramCounts { below: 1, above: 0, nan: 0, bins: [2, 3] };
/// assert_eq!(HistogramOperator::<2>.combine(counts, counts).bins, [4, 6]);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HistogramOperator<const BINS: usize>;

#[monoid]
impl<const BINS: usize> Monoid for HistogramOperator<BINS> {
    type Item = HistogramCounts<BINS>;
    fn identity(&self) -> HistogramCounts<BINS> {
        HistogramCounts { below: 0, above: 0, nan: 0, bins: [0; BINS] }
    }
    #[inline]
    fn combine(&self, left: HistogramCounts<BINS>, right: HistogramCounts<BINS>) -> HistogramCounts<BINS> {
        let mut both = HistogramCounts {
            below: left.below + right.below,
            above: left.above + right.above,
            nan: left.nan + right.nan,
            bins: left.bins,
        };
        for k in 0..BINS {
            both.bins[k] = left.bins[k] + right.bins[k];
        }
        both
    }
}

impl<const BINS: usize> Commutative for HistogramOperator<BINS> {}

/// The lower edge of an interval, as NumPy's `linspace` computes it.
#[device]
#[inline]
fn edge(low: f64, width: f64, interval: usize) -> f64 {
    interval as f64 * width + low
}

/// The number of elements in each of `BINS` intervals of equal width, [`HistogramCounts`].
///
/// With `width = (high - low) / BINS`, interval k holds the elements x with
/// `low + k width <= x < low + (k + 1) width`. The last interval ends at `high`, and contains it.
/// The intervals are those of NumPy's `histogram`.
///
/// - Item: [`HistogramCounts`], `24 + 8 BINS` bytes. An item has at most 256 bytes, so there are at
///   most 29 intervals. Exact.
/// - Elements are compared as `f64`. An integer of more than 53 bits is rounded.
/// - NaN, and elements outside the range: counted apart.
/// - Empty input: zeros.
///
/// ```
/// use warpfold::{Device, Reduction, aggregates::Histogram};
///
/// let histogram = Reduction::with(Device::auto(), Histogram::<u8, 4>::new(0, 200));
/// let counts = histogram.run(&[0, 49, 50, 120, 200, 201])?;
/// assert_eq!((counts.bins, counts.above), ([2, 1, 1, 1], 1));
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Histogram<T: DeviceType, const BINS: usize> {
    low: T,
    high: T,
}

impl<T: Number + AsPrimitive<f64>, const BINS: usize> Histogram<T, BINS> {
    /// A histogram of the range from `low` to `high`.
    ///
    /// # Panics
    ///
    /// Unless `low < high`, and both and their difference are finite.
    ///
    /// ```
    /// use warpfold::aggregates::Histogram;
    ///
    /// let histogram = Histogram::<f32, 20>::new(-1.0, 1.0);
    /// ```
    pub fn new(low: T, high: T) -> Self {
        let range: f64 = high.as_() - low.as_();
        assert!(range > 0.0 && range.is_finite(), "the range of a histogram is positive and finite");
        Self { low, high }
    }
}

#[aggregate]
impl<T: Number + AsPrimitive<f64>, const BINS: usize> Aggregate for Histogram<T, BINS> {
    type Input = T;
    type Monoid = HistogramOperator<BINS>;
    type Output = HistogramCounts<BINS>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> HistogramCounts<BINS> {
        let (low, high): (f64, f64) = (self.low.as_(), self.high.as_());
        let x: f64 = element.as_();
        let width = (high - low) / BINS as f64;
        // The quotient is rounded, so the edges decide.
        let mut interval = ((x - low) / (high - low) * BINS as f64) as usize;
        if interval >= BINS {
            interval = BINS - 1;
        }
        while interval > 0 && x < edge(low, width, interval) {
            interval -= 1;
        }
        while interval + 1 < BINS && x >= edge(low, width, interval + 1) {
            interval += 1;
        }
        let is_inside = x >= low && x <= high;
        let mut counts = HistogramCounts {
            below: u64::from(x < low),
            above: u64::from(x > high),
            nan: u64::from(x.is_nan()),
            bins: [0; BINS],
        };
        for k in 0..BINS {
            counts.bins[k] = u64::from(is_inside && k == interval);
        }
        counts
    }
    #[inline]
    fn present(&self, counts: HistogramCounts<BINS>, _: u64) -> HistogramCounts<BINS> {
        counts
    }
}
