use num_traits::{Float, PrimInt, WrappingAdd, WrappingMul};
use paste::paste;

use crate::DeviceType;

/// The numbers that the built-in operators know: `i8` to `i64`, `u8` to `u64`, `isize`, `usize`, `f32` and `f64`.
/// Integers wrap.
pub trait Number: DeviceType + PartialOrd + private::Arithmetic {}

/// The integers among the [`Number`]s.
pub trait Integer: Number + PrimInt {}

/// The floats among the [`Number`]s.
pub trait Real: Number + Float {}

pub(super) mod private {
    /// What the operators need of a number, on the CPU and as CUDA C++.
    pub trait Arithmetic: Sized + Copy {
        const ZERO: Self;
        const ONE: Self;
        /// The x for which x + y is y, bit for bit: -0.0 for a float.
        const NOTHING: Self;
        const LEAST: Self;
        const GREATEST: Self;
        fn plus(self, other: Self) -> Self;
        fn times(self, other: Self) -> Self;
        fn minimum(self, other: Self) -> Self;
        fn maximum(self, other: Self) -> Self;
        /// The CUDA C++ type that the arithmetic happens in: the unsigned type of at least 32 bits for an integer,
        /// since signed overflow is undefined there, and so is that of 16-bit products promoted to `int`.
        const ARITHMETIC: &'static str;
        /// The CUDA C++ functions or comparisons that stand for `minimum` and `maximum`.
        const MINIMUM: &'static str;
        const MAXIMUM: &'static str;
    }
}
pub(super) use private::Arithmetic;

macro_rules! integers {
    ($($type:ident $arithmetic:literal;)*) => {$(paste! {
        impl Arithmetic for $type {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            const NOTHING: Self = 0;
            const LEAST: Self = $type::MIN;
            const GREATEST: Self = $type::MAX;
            #[inline]
            fn plus(self, other: Self) -> Self { WrappingAdd::wrapping_add(&self, &other) }
            #[inline]
            fn times(self, other: Self) -> Self { WrappingMul::wrapping_mul(&self, &other) }
            #[inline]
            fn minimum(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline]
            fn maximum(self, other: Self) -> Self { Ord::max(self, other) }
            const ARITHMETIC: &'static str = $arithmetic;
            const MINIMUM: &'static str = "if (right < left) return right;\nreturn left;";
            const MAXIMUM: &'static str = "if (right > left) return right;\nreturn left;";
        }
        impl Number for $type {}
        impl Integer for $type {}

        #[cfg(test)]
        #[test]
        fn [<bounds_of_ $type>]() {
            assert_eq!((<$type as num_traits::Bounded>::min_value(), <$type as num_traits::Bounded>::max_value()),
                       (<$type as Arithmetic>::LEAST, <$type as Arithmetic>::GREATEST));
        }
    })*};
}
integers! {
    i8 "unsigned int";
    i16 "unsigned int";
    i32 "unsigned int";
    i64 "unsigned long long";
    u8 "unsigned int";
    u16 "unsigned int";
    u32 "unsigned int";
    u64 "unsigned long long";
    isize "unsigned long long";
    usize "unsigned long long";
}

macro_rules! floats {
    ($($type:ident $arithmetic:literal;)*) => {$(
        impl Arithmetic for $type {
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NOTHING: Self = -0.0;
            const LEAST: Self = $type::NEG_INFINITY;
            const GREATEST: Self = $type::INFINITY;
            #[inline]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline]
            fn times(self, other: Self) -> Self { self * other }
            #[inline]
            fn minimum(self, other: Self) -> Self { crate::math::minimum(self, other) }
            #[inline]
            fn maximum(self, other: Self) -> Self { crate::math::maximum(self, other) }
            const ARITHMETIC: &'static str = $arithmetic;
            const MINIMUM: &'static str = "return warpfold::minimum(left, right);";
            const MAXIMUM: &'static str = "return warpfold::maximum(left, right);";
        }
        impl Number for $type {}
        impl Real for $type {}
    )*};
}
floats! {
    f32 "float";
    f64 "double";
}
