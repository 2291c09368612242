use num_traits::{Float, PrimInt, WrappingAdd, WrappingMul};
use paste::paste;

use crate::{DeviceType, math};

/// The numbers of the built-in operators: `i8` to `i64`, `u8` to `u64`, `isize`, `usize`, `f32`,
/// `f64`, and `half::f16` and `half::bf16` with the feature `half`. Integers wrap. An operation of
/// 16-bit floats is one of `f32`, rounded once.
///
/// Each method has a counterpart in CUDA C++, so generic operators can call it.
///
/// ```
/// use warpfold::operators::{Max, Min, Number};
/// use warpfold::{Device, Error, Reduction};
///
/// /// The smallest and the largest item.
/// fn range<T: Number>(items: &[T]) -> Result<[T; 2], Error> {
///     let device = Device::auto();
///     let smallest = Reduction::<Min<T>>::new(device.clone()).run(items)?;
///     Ok([smallest, Reduction::<Max<T>>::new(device).run(items)?])
/// }
///
/// assert_eq!(range(&[3, -1, 4])?, [-1, 4]);
/// assert_eq!(range(&[0.5, 2.5])?, [0.5, 2.5]);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Number: DeviceType + PartialOrd + private::Sealed {
    /// 0, +0.0 for a float.
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// The additive identity: `x + ADDITIVE_IDENTITY` is `x`, bit for bit. It is -0.0 for a float.
    const ADDITIVE_IDENTITY: Self;
    /// The least value; minus infinity for a float.
    const MIN: Self;
    /// The greatest value; infinity for a float.
    const MAX: Self;
    /// The sum; integers wrap.
    fn plus(self, other: Self) -> Self;
    /// The product; integers wrap.
    fn times(self, other: Self) -> Self;
    /// The smaller operand. Floats use [`math::minimum`].
    fn minimum(self, other: Self) -> Self;
    /// The larger operand. Floats use [`math::maximum`].
    fn maximum(self, other: Self) -> Self;
}

/// The [`Number`]s that are integers.
///
/// ```
/// use warpfold::operators::{BitAnd, Integer};
/// use warpfold::{Device, Error, Reduction};
///
/// /// The number of bits that are set in all items.
/// fn shared_bits<T: Integer>(items: &[T]) -> Result<u32, Error> {
///     Ok(Reduction::<BitAnd<T>>::new(Device::auto()).run(items)?.count_ones())
/// }
///
/// assert_eq!(shared_bits(&[0b0111_u8, 0b1110])?, 2);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Integer: Number + PrimInt {}

/// The [`Number`]s that are floats.
///
/// ```
/// use warpfold::operators::{Real, Sum};
/// use warpfold::{Device, Error, Reduction};
///
/// /// The Euclidean norm.
/// fn norm<T: Real>(vector: &[T]) -> Result<T, Error> {
///     let squares: Vec<T> = vector.iter().map(|x| x.powi(2)).collect();
///     Ok(Reduction::<Sum<T>>::new(Device::auto()).run(&squares)?.sqrt())
/// }
///
/// assert_eq!(norm(&[3.0, 4.0])?, 5.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
pub trait Real: Number + Float {}

mod private {
    pub trait Sealed {}
}

macro_rules! integers {
    ($($type:ident)*) => {$(paste! {
        impl private::Sealed for $type {}
        impl Number for $type {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const ADDITIVE_IDENTITY: Self = 0;
            const MIN: Self = $type::MIN;
            const MAX: Self = $type::MAX;
            #[inline]
            fn plus(self, other: Self) -> Self { WrappingAdd::wrapping_add(&self, &other) }
            #[inline]
            fn times(self, other: Self) -> Self { WrappingMul::wrapping_mul(&self, &other) }
            #[inline]
            fn minimum(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline]
            fn maximum(self, other: Self) -> Self { Ord::max(self, other) }
        }
        impl Integer for $type {}

        #[cfg(test)]
        #[test]
        fn [<bounds_of_ $type>]() {
            assert_eq!((<$type as num_traits::Bounded>::min_value(), <$type as num_traits::Bounded>::max_value()),
                       (<$type as Number>::MIN, <$type as Number>::MAX));
        }
    })*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 isize usize }

macro_rules! floats {
    ($($type:ty: $zero:expr, $one:expr, $negative_zero:expr;)*) => {$(
        impl private::Sealed for $type {}
        impl Number for $type {
            const ZERO: Self = $zero;
            const ONE: Self = $one;
            const ADDITIVE_IDENTITY: Self = $negative_zero;
            const MIN: Self = <$type>::NEG_INFINITY;
            const MAX: Self = <$type>::INFINITY;
            #[inline]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline]
            fn times(self, other: Self) -> Self { self * other }
            #[inline]
            fn minimum(self, other: Self) -> Self { math::minimum(self, other) }
            #[inline]
            fn maximum(self, other: Self) -> Self { math::maximum(self, other) }
        }
        impl Real for $type {}
    )*};
}
floats! {
    f32: 0.0, 1.0, -0.0;
    f64: 0.0, 1.0, -0.0;
}
#[cfg(feature = "half")]
floats! {
    half::f16: Self::ZERO, Self::ONE, Self::NEG_ZERO;
    half::bf16: Self::ZERO, Self::ONE, Self::NEG_ZERO;
}
