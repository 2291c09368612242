//! Tests the laws of every built-in operator on its domain, and that a broken operator is found.

#[path = "laws/aggregates.rs"]
mod aggregates;

use support::items::Point;
use support::operators::MaxByNorm;
use warpfold::laws::proptest::prelude::*;
use warpfold::laws::{self, Laws};
use warpfold::operators::*;
use warpfold::{DeviceMonoid, DeviceOperator, Monoid, device_code};

/// Any integer, with frequent extreme values.
macro_rules! integers {
    ($($name:ident: $type:ident;)*) => {$(
        fn $name() -> impl Strategy<Value = $type> + Clone {
            prop_oneof![
                2 => any::<$type>(),
                1 => prop::sample::select(vec![$type::MIN, $type::MIN + 1, 0, 1, $type::MAX - 1, $type::MAX]),
            ]
        }
    )*};
}
integers! { i8s: i8; i32s: i32; u32s: u32; u64s: u64; }
#[cfg(feature = "every-operator")]
integers! { i16s: i16; i64s: i64; u8s: u8; u16s: u16; isizes: isize; usizes: usize; }

macro_rules! floats {
    ($($any:ident, $summands:ident, $factors:ident, $finite:ident: $type:ident;)*) => {$(
        /// Any float, with frequent special values: for operators that are exact everywhere.
        fn $any() -> impl Strategy<Value = $type> + Clone {
            let odd = vec![
                0.0, -0.0, 1.0, -1.0, $type::NAN, -$type::NAN, $type::INFINITY, $type::NEG_INFINITY, $type::MAX,
                $type::MIN, $type::MIN_POSITIVE, -$type::MIN_POSITIVE, $type::MIN_POSITIVE / 8.0,
            ];
            prop_oneof![
                1 => prop::num::$type::ANY,
                1 => prop::sample::select(odd),
                1 => (-3_i8..=3).prop_map($type::from),
            ]
        }
        /// Summands that can be added in any order without overflow. Infinities and NaN give the
        /// same result in every order.
        fn $summands() -> impl Strategy<Value = $type> + Clone {
            let odd = vec![0.0, -0.0, $type::NAN, $type::INFINITY, $type::NEG_INFINITY, $type::MIN_POSITIVE];
            prop_oneof![
                20 => -1e6..1e6 as $type,
                5 => -1.0..1.0 as $type,
                1 => prop::sample::select(odd),
            ]
        }
        /// Factors: a product of 64 neither overflows nor underflows, in any order.
        fn $factors() -> impl Strategy<Value = $type> + Clone {
            prop_oneof![
                20 => 0.5..2.0 as $type,
                20 => -2.0..-0.5 as $type,
                1 => prop::sample::select(vec![0.0, -0.0, $type::NAN, $type::INFINITY, $type::NEG_INFINITY]),
            ]
        }
        fn $finite() -> impl Strategy<Value = $type> + Clone {
            prop_oneof![9 => -1.25..1.25 as $type, 1 => prop::sample::select(vec![0.0, -0.0, 1.0])]
        }
    )*};
}
floats! {
    f32s, f32_summands, f32_factors, f32_finite: f32;
    f64s, f64_summands, f64_factors, f64_finite: f64;
}

fn pairs<T: Strategy + Clone>(of: T) -> impl Strategy<Value = [T::Value; 2]> + Clone
where
    T::Value: std::fmt::Debug + Clone,
{
    [of.clone(), of]
}

fn matrices<T: Strategy + Clone>(of: T) -> impl Strategy<Value = [[T::Value; 2]; 2]> + Clone
where
    T::Value: std::fmt::Debug + Clone,
{
    [[of.clone(), of.clone()], [of.clone(), of]]
}

macro_rules! exact_integer_operators {
    ($($module:ident: $items:ident $type:ident;)*) => {$(
        mod $module {
            use super::*;
            warpfold::laws! {
                sum [commutative]: Laws::of(Sum::<$type>::new(), $items());
                product [commutative]: Laws::of(Product::<$type>::new(), $items());
                min [commutative]: Laws::of(Min::<$type>::new(), $items());
                max [commutative]: Laws::of(Max::<$type>::new(), $items());
                bit_and [commutative]: Laws::of(BitAnd::<$type>::new(), $items());
                bit_or [commutative]: Laws::of(BitOr::<$type>::new(), $items());
                bit_xor [commutative]: Laws::of(BitXor::<$type>::new(), $items());
                matrix2_product: Laws::of(Matrix2Product::<$type>::new(), matrices($items()));
                affine_composition: Laws::of(AffineComposition::<$type>::new(), pairs($items()));
            }
        }
    )*};
}
exact_integer_operators! { of_i8: i8s i8; of_u64: u64s u64; }
// A full run tests these, too: see `operators::of_cpu`.
#[cfg(feature = "every-operator")]
exact_integer_operators! {
    of_i16: i16s i16; of_i32: i32s i32; of_i64: i64s i64; of_u8: u8s u8; of_u16: u16s u16; of_u32: u32s u32;
    of_isize: isizes isize; of_usize: usizes usize;
}

mod of_f32 {
    use super::*;
    warpfold::laws! {
        min [commutative]: Laws::of(Min::<f32>::new(), f32s());
        max [commutative]: Laws::of(Max::<f32>::new(), f32s());
        min_number [commutative]: Laws::of(MinNumber::<f32>::new(), f32s());
        max_number [commutative]: Laws::of(MaxNumber::<f32>::new(), f32s());
        sum [commutative]: Laws::of(Sum::<f32>::new(), f32_summands()).within(4e-6, laws::sum_of_magnitudes);
        product [commutative]:
            Laws::of(Product::<f32>::new(), f32_factors()).within(1e-5, laws::product_of_magnitudes);
        matrix2_product: Laws::of(Matrix2Product::<f32>::new(), matrices(f32_finite()))
            .within(1e-5, laws::product_of_magnitudes);
        affine_composition: Laws::of(AffineComposition::<f32>::new(), pairs(f32_finite()))
            .within(1e-5, laws::product_of_magnitudes);
    }
}

mod of_f64 {
    use super::*;
    warpfold::laws! {
        min [commutative]: Laws::of(Min::<f64>::new(), f64s());
        max [commutative]: Laws::of(Max::<f64>::new(), f64s());
        min_number [commutative]: Laws::of(MinNumber::<f64>::new(), f64s());
        max_number [commutative]: Laws::of(MaxNumber::<f64>::new(), f64s());
        sum [commutative]: Laws::of(Sum::<f64>::new(), f64_summands()).within(1e-14, laws::sum_of_magnitudes);
        product [commutative]:
            Laws::of(Product::<f64>::new(), f64_factors()).within(2e-14, laws::product_of_magnitudes);
        matrix2_product: Laws::of(Matrix2Product::<f64>::new(), matrices(f64_finite()))
            .within(2e-14, laws::product_of_magnitudes);
        affine_composition: Laws::of(AffineComposition::<f64>::new(), pairs(f64_finite()))
            .within(2e-14, laws::product_of_magnitudes);
    }
}

/// Points whose squared norm neither overflows nor underflows; ties are common.
fn points() -> impl Strategy<Value = Point> + Clone {
    let coordinate = || prop_oneof![(-2_i8..=2).prop_map(f32::from), -1e3..1e3_f32];
    (coordinate(), coordinate(), coordinate()).prop_map(|(x, y, z)| Point { x, y, z })
}

warpfold::laws! {
    all [commutative]: Laws::of(All, any::<bool>());
    any_of [commutative]: Laws::of(Any, any::<bool>());
    // The identity is the origin. Points that could tie with it are left out.
    max_by_norm: Laws::of(MaxByNorm, points().prop_filter("not the origin", |p| p.x != 0.0 || p.y != 0.0));
}

#[test]
fn the_identity_of_a_float_sum_keeps_the_sign_of_zero() {
    for x in [0.0_f32, -0.0, 1.5, f32::INFINITY] {
        let sum = Sum::<f32>::new();
        assert_eq!(sum.combine(sum.identity(), x).to_bits(), x.to_bits());
        assert_eq!(sum.combine(x, sum.identity()).to_bits(), x.to_bits());
    }
}

#[test]
fn minimum_and_maximum_are_those_of_ieee_754_2019() {
    use warpfold::math::{maximum, maximum_number, minimum, minimum_number};
    let bits = |x: f32| x.to_bits();
    assert_eq!(bits(minimum(0.0, -0.0)), bits(-0.0));
    assert_eq!(bits(minimum(-0.0, 0.0)), bits(-0.0));
    assert_eq!(bits(maximum(0.0, -0.0)), bits(0.0));
    assert_eq!(bits(maximum(-0.0, 0.0)), bits(0.0));
    assert!(minimum(f32::NAN, 1.0).is_nan() && minimum(1.0, f32::NAN).is_nan());
    assert!(maximum(f32::NAN, 1.0).is_nan() && maximum(1.0, f32::NAN).is_nan());
    assert_eq!(minimum_number(f32::NAN, 1.0), 1.0);
    assert_eq!(maximum_number(1.0, f32::NAN), 1.0);
    assert!(maximum_number(f32::NAN, f32::NAN).is_nan());
    assert_eq!(bits(maximum_number(-0.0, 0.0)), bits(0.0));
}

/// Operators that each break a law. The suite must find each of them.
mod broken {
    use super::*;

    macro_rules! operators {
        ($($name:ident: $item:ty, $identity:expr, $combine:expr, $cpp:literal;)*) => {$(
            #[derive(Clone, Copy, Debug, Default)]
            struct $name;
            impl Monoid for $name {
                type Item = $item;
                fn identity(&self) -> $item { $identity }
                fn combine(&self, left: $item, right: $item) -> $item {
                    let combine: fn($item, $item) -> $item = $combine;
                    combine(left, right)
                }
            }
            impl DeviceMonoid for $name {
                const EXACT: bool = true;
                fn device_operator() -> DeviceOperator {
                    // SAFETY: the body only reads its operands.
                    DeviceOperator::new::<Self::Item>("a", "b", unsafe { device_code!($cpp) })
                }
            }
        )*};
    }
    operators! {
        Difference: i32, 0, |a, b| a.wrapping_sub(b), "return int(unsigned(a) - unsigned(b));";
        Mean: f32, 0.0, |a, b| (a + b) / 2.0, "return (a + b) / 2.0f;";
        SumFromOne: i32, 1, |a, b| a.wrapping_add(b), "return int(unsigned(a) + unsigned(b));";
        // Correct in Rust, wrong on the GPU.
        SumThatIsAProduct: u32, 0, |a, b| a.wrapping_add(b), "return a * b;";
        Undeclared: u32, 0, |a, b| a.wrapping_add(b), "return a + c;";
        Overflowing: u64, 0, |a, b| a.checked_add(b).expect("no overflow"), "return a + b;";
    }

    #[test]
    fn a_difference_is_not_associative() {
        assert!(Laws::of(Difference, i32s()).associativity().is_err());
        assert!(Laws::of(Difference, i32s()).identity().is_err());
        assert!(Laws::of(Difference, i32s()).commutativity().is_err());
        assert!(Laws::of(Difference, i32s()).bracket_is_the_fold().is_err());
    }

    #[test]
    fn a_mean_is_not_associative_even_within_a_tolerance() {
        let laws = Laws::of(Mean, -100.0..100.0_f32).within(1e-5, laws::sum_of_magnitudes);
        assert!(laws.associativity().is_err());
        assert!(laws.bracket_is_the_fold().is_err());
        assert!(laws.commutativity().is_ok());
    }

    #[test]
    fn a_wrong_identity_is_found_and_the_rest_holds() {
        let laws = Laws::of(SumFromOne, i32s());
        let broken = laws.identity().expect_err("1 is not the identity of a sum").to_string();
        assert!(broken.starts_with("identity does not hold: "), "{broken}");
        assert!(laws.associativity().is_ok());
    }

    #[test]
    fn a_max_by_norm_over_nan_is_not_associative() {
        let coordinate = || prop_oneof![Just(f32::NAN), -1.0..1.0_f32];
        let points = (coordinate(), coordinate()).prop_map(|(x, y)| Point { x, y, z: 1.0 });
        assert!(Laws::of(MaxByNorm, points).associativity().is_err());
    }

    #[test]
    fn a_float_sum_is_not_associative_in_every_bit() {
        assert!(Laws::of(Sum::<f32>::new(), f32_summands()).associativity().is_err());
    }

    #[test]
    fn a_max_is_commutative_and_a_matrix_product_is_not() {
        assert!(Laws::of(Max::<f32>::new(), f32s()).commutativity().is_ok());
        assert!(Laws::of(Matrix2Product::<i32>::new(), matrices(i32s())).commutativity().is_err());
    }

    /// The input of a whole reduction has thousands of items, and the message few characters.
    #[test]
    fn a_counterexample_is_short() {
        let laws = Laws::of(Overflowing, any::<u64>());
        for broken in [laws.associativity(), laws.cpu_is_the_bracket()] {
            let message = broken.expect_err("most sums overflow").to_string();
            assert!(message.contains("overflow") && message.len() < 2500, "{message}");
        }
    }

    #[test]
    fn a_device_form_that_does_not_compile_is_found_nvrtc_compiles() {
        let Ok(()) = warpfold::jit::available() else {
            return;
        };
        assert!(Laws::of(Undeclared, u32s()).compiles().is_err());
    }

    #[test]
    fn a_device_form_that_differs_is_found_gpu_is_the_cpu() {
        let Some(gpu) = laws::gpu() else { return };
        assert!(Laws::of(SumThatIsAProduct, u32s()).gpu_is_the_cpu(&gpu).is_err());
    }
}
