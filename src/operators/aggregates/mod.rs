//! The aggregates of this crate: answers about one array, or about two arrays in step, each in one
//! read.
//!
//! | aggregate | elements | result | exact | ties, NaN |
//! | --- | --- | --- | --- | --- |
//! | [`Count`] | any | `u64` | yes | |
//! | [`SumWide`] | numbers | `i64`, `u64` or `f64` | yes | NaN propagates |
//! | [`SumCompensated`] | floats | the same type | yes | NaN propagates |
//! | [`Mean`] | numbers | `Option<f64>` | yes | NaN propagates |
//! | [`Variance`] | numbers | `Option<`[`MeanAndVariance`]`>` | yes | NaN propagates |
//! | [`Moments`] | numbers | `Option<`[`FourMoments`]`>` | yes | NaN propagates |
//! | [`Norm`] | `f32`, `f64` | `f64` | yes | NaN propagates |
//! | [`LogSumExp`] | floats | the same type | no | NaN propagates |
//! | [`MinMax`] | numbers | `Option<(T, T)>` | yes | -0 is below +0; a NaN wins |
//! | [`ArgMin`], [`ArgMax`] | numbers | `Option<`[`Indexed<T>`](Indexed)`>` | yes | the first; the first NaN wins |
//! | [`TopK<T, K>`](TopK) | numbers | [`Largest<T, K>`](Largest) | yes | the first; NaNs come first |
//! | [`Histogram<T, BINS>`](Histogram) | numbers | [`HistogramCounts<BINS>`](HistogramCounts) | yes | NaNs are counted apart |
//! | [`BoundingBox<T, D>`](BoundingBox) | `[T; D]` | `Option<`[`Bounds<T, D>`](Bounds)`>` | yes | as for `MinMax` |
//! | [`Centroid<T, D>`](Centroid) | `[T; D]` | `Option<[f64; D]>` | yes | NaN propagates |
//! | [`First`], [`Last`] | any | `Option<T>` | yes | |
//! | [`All`], [`Any`] | `bool` | `bool` | yes | |
//! | [`CountIf<F>`](CountIf) | what `F` takes | `u64` | as `F` | |
//! | [`Mapped<F, A>`](Mapped) | what `F` takes | that of `A` | as `F` and `A` | those of `A` |
//! | [`Filtered<F, A>`](Filtered) | those of `A` | that of `A` | as `F` and `A` | those of `A` |
//! | [`Masked<A>`](Masked) | those of `A`, and marks | that of `A` | as `A` | those of `A` |
//! | [`Dot`] | pairs of numbers | `i64`, `u64` or `f64` | yes | NaN propagates |
//! | [`WeightedMean`] | pairs of numbers | `Option<f64>` | yes | NaN propagates |
//! | [`Covariance`] | pairs of numbers | `Option<`[`MeansAndCovariance`]`>` | yes | NaN propagates |
//! | [`LinearFit`] | pairs of numbers | `Option<`[`Line`]`>` | yes | NaN propagates |
//! | [`PolynomialHash`] | `u8` | `u64` | yes | depends on the order |
//! | [`PolynomialHashOfWords`] | `u64` | `u64` | yes | depends on the order |
//!
//! *Pairs* are the elements of two arrays in step: `reduction.run((&x, &y))`. *Numbers* are `i8` to
//! `i64`, `u8` to `u64`, `isize`, `usize`, `f32` and `f64`. With the feature `half`, sums in a wider
//! type, means, moments, histograms, fits and centroids also take `f16` and `bf16`. An exact aggregate returns the same
//! bits on the CPU and on every GPU, as its bracket fixes the order of the operations. A result
//! that an empty input does not have is an `Option`.
//!
//! A tuple of aggregates is an aggregate, so several answers take one read:
//!
//! ```
//! use warpfold::aggregates::{ArgMax, Mean, MinMax};
//! use warpfold::{Device, Reduction};
//!
//! let all = Reduction::<(Mean<f32>, MinMax<f32>, ArgMax<f32>)>::new(Device::auto());
//! let (mean, range, largest) = all.run(&[2.0, 7.0, 3.0])?;
//! assert_eq!((mean, range), (Some(4.0), Some((2.0, 7.0))));
//! assert_eq!(largest.map(|largest| largest.index), Some(1));
//! # Ok::<(), warpfold::Error>(())
//! ```
//!
//! Each aggregate combines items with an operator, which is public under the aggregate's name with
//! `Operator`, unless it is one of [`operators`](crate::operators). An aggregate of your own may use
//! it.
//!
//! # A median is no aggregate
//!
//! The median of two parts does not follow from the medians of the parts. No item of bounded size
//! is enough. The same holds for other quantiles, for the mode and for the number of distinct
//! elements. Instead:
//!
//! - Sort the array, or use a selection algorithm, such as `select_nth_unstable` of slices.
//! - Take a [`Histogram`]: the interval that holds the median bounds it. A second histogram of that
//!   interval bounds it more closely.
//! - For the K largest elements, use [`TopK`].

mod calls;
mod covariance;
mod ends;
mod exponentials;
mod extremes;
mod hash;
mod histogram;
mod moments;
mod norm;
mod pairs;
mod points;
mod sums;
mod top;

#[doc(hidden)]
pub use calls::Function;
pub use calls::{CountIf, CountTrue, Filtered, Filtering, Kept, Mapped, Mask, Masked};
pub use covariance::{Covariance, CovarianceItem, CovarianceOperator, Line, LinearFit, MeansAndCovariance};
pub use ends::{First, FirstOperator, Last, LastOperator};
pub use exponentials::{LogSumExp, LogSumExpItem, LogSumExpOperator};
pub use extremes::{ArgMax, ArgMaxOperator, ArgMin, ArgMinOperator, Indexed, MinMax};
pub use hash::{PolynomialHash, PolynomialHashItem, PolynomialHashOfWords, PolynomialHashOperator};
pub use histogram::{Histogram, HistogramCounts, HistogramOperator};
pub use moments::{
    FourMoments, MeanAndVariance, Moments, MomentsItem, MomentsOperator, Variance, VarianceItem,
    VarianceOperator,
};
pub use norm::{Norm, NormItem, NormOperator};
pub use pairs::{Dot, WeightedMean};
pub use points::{BoundingBox, BoundingBoxOperator, Bounds, Centroid, CentroidOperator};
pub use sums::{CompensatedItem, CompensatedOperator, Count, Mean, SumCompensated, SumWide, Widen};
pub use top::{Largest, TopK, TopKItem, TopKOperator};

use super::{Aggregate, Commutative, Monoid};
pub use super::{All, Any};

/// Declares an aggregate or an operator that stores only the types of its elements.
macro_rules! zero_sized {
    ($(#[$attribute:meta])* $name:ident<T $(, $number:ident)?> as $example:literal) => {
        $(#[$attribute])*
        pub struct $name<T $(, const $number: usize)?>(std::marker::PhantomData<fn() -> T>);

        impl<T $(, const $number: usize)?> $name<T $(, $number)?> {
            #[doc = concat!("Creates a `", stringify!($name), "`.\n\n```\nuse warpfold::aggregates::", stringify!($name), ";\n\nlet created = ", $example, "::new();\n```")]
            pub const fn new() -> Self {
                Self(std::marker::PhantomData)
            }
        }
        impl<T $(, const $number: usize)?> Default for $name<T $(, $number)?> {
            fn default() -> Self {
                Self::new()
            }
        }
        impl<T $(, const $number: usize)?> Clone for $name<T $(, $number)?> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<T $(, const $number: usize)?> Copy for $name<T $(, $number)?> {}
        impl<T $(, const $number: usize)?> std::fmt::Debug for $name<T $(, $number)?> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    };
}
use zero_sized;
