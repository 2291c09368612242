//! Counts of equal intervals.

use num_traits::AsPrimitive;

use super::{Aggregate, Commutative, Monoid};
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

/// The range of a histogram.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
struct Range {
    low: f64,
    high: f64,
    /// The width of an interval, and the number of intervals in 1.
    width: f64,
    per_width: f64,
}

/// The lower edge of an interval, as NumPy's `linspace` computes it.
#[device]
#[inline]
fn edge(range: Range, interval: u32) -> f64 {
    interval as f64 * range.width + range.low
}

/// The counts, and one number more.
#[device]
#[inline]
fn counted<const BINS: usize>(before: HistogramCounts<BINS>, range: Range, x: f64) -> HistogramCounts<BINS> {
    let last = BINS as u32 - 1;
    // The product is rounded, so the edges decide.
    let mut interval = ((x - range.low) * range.per_width) as u32;
    if interval > last {
        interval = last;
    }
    while interval > 0 && x < edge(range, interval) {
        interval -= 1;
    }
    while interval < last && x >= edge(range, interval + 1) {
        interval += 1;
    }
    let is_inside = (x >= range.low) & (x <= range.high);
    let mut counts = before;
    counts.below += u64::from(x < range.low);
    counts.above += u64::from(x > range.high);
    counts.nan += u64::from(x.is_nan());
    // Without an index that is known only at run time: such an array would not be in registers.
    for k in 0..BINS {
        counts.bins[k] += u64::from(is_inside & (k as u32 == interval));
    }
    counts
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
    range: Range,
    /// The lowest edge. No kernel reads it: it stands for the type of the elements.
    low: T,
}

impl<T: DeviceType + AsPrimitive<f64>, const BINS: usize> Histogram<T, BINS> {
    /// A histogram of the range from `low` to `high`.
    ///
    /// # Panics
    ///
    /// Unless `low < high` as `f64`, and both and their difference are finite.
    ///
    /// ```
    /// use warpfold::aggregates::Histogram;
    ///
    /// let histogram = Histogram::<f32, 20>::new(-1.0, 1.0);
    /// ```
    pub fn new(low: T, high: T) -> Self {
        let range: f64 = high.as_() - low.as_();
        assert!(range > 0.0 && range.is_finite(), "the range of a histogram is positive and finite");
        let (low_edge, high_edge, bins) = (low.as_(), high.as_(), BINS as f64);
        let range = Range { low: low_edge, high: high_edge, width: range / bins, per_width: bins / range };
        Self { range, low }
    }
}

#[aggregate]
impl<T: DeviceType + AsPrimitive<f64>, const BINS: usize> Aggregate for Histogram<T, BINS> {
    type Input = T;
    type Monoid = HistogramOperator<BINS>;
    type Output = HistogramCounts<BINS>;
    #[inline]
    fn prepare(&self, _: u64, element: T) -> HistogramCounts<BINS> {
        let none = HistogramCounts { below: 0, above: 0, nan: 0, bins: [0; BINS] };
        counted(none, self.range, element.as_())
    }
    #[inline]
    fn accumulate(&self, counts: HistogramCounts<BINS>, _: u64, element: T) -> HistogramCounts<BINS> {
        counted(counts, self.range, element.as_())
    }
    #[inline]
    fn present(&self, counts: HistogramCounts<BINS>, _: u64) -> HistogramCounts<BINS> {
        counts
    }
}
