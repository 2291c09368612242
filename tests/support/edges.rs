//! Values on which Rust and C++ may differ: the ends of ranges, halves, powers of two, both zeros,
//! NaNs.

use std::ffi::c_void;
use std::fmt::Debug;

use proptest::array::uniform;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use warpfold::DeviceType;

/// A type whose values can be drawn, with frequent edge values.
pub trait Edge: DeviceType + Debug {
    fn strategy() -> BoxedStrategy<Self>;

    /// The parts of a tuple, or the value itself.
    fn parts(&self) -> Vec<*const c_void> {
        vec![(&raw const *self).cast()]
    }

    /// The same value at each call.
    fn example() -> Self {
        drawn(&mut TestRunner::deterministic(), &Self::strategy())
    }
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Edge for $type {
            fn strategy() -> BoxedStrategy<Self> {
                prop_oneof![
                    3 => select(vec![0, $type::MIN, $type::MAX, (0 as $type).wrapping_sub(1)]),
                    1 => (0..4_u8).prop_map(|k| $type::MAX - k as $type),
                    1 => (0..4_u8).prop_map(|k| $type::MIN + k as $type),
                    1 => (0..$type::BITS).prop_map(|bit| (1 as $type) << bit),
                    3 => 0..19 as $type,
                    // Any number of significant bits.
                    3 => (any::<$type>(), 0..$type::BITS).prop_map(|(bits, shift)| bits >> shift),
                ]
                .boxed()
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 isize usize }

macro_rules! floats {
    ($($type:ident $bits:ident)*) => {$(
        impl Edge for $type {
            fn strategy() -> BoxedStrategy<Self> {
                let edges = vec![
                    0.0, -0.0, 1.0, -1.0, $type::INFINITY, $type::NEG_INFINITY, $type::NAN, $type::MAX, $type::MIN,
                    $type::MIN_POSITIVE, $type::EPSILON, 0.5,
                ];
                // Values near the ends of the integer types.
                let power = (0..66, select(vec![-1.0, -0.5, 0.0, 0.5, 1.0]), any::<bool>());
                prop_oneof![
                    3 => select(edges),
                    // Any bits, including subnormals and NaNs.
                    1 => any::<$bits>().prop_map($type::from_bits),
                    1 => (any::<$bits>(), 0..$bits::BITS).prop_map(|(bits, shift)| $type::from_bits(bits >> shift)),
                    1 => power.prop_map(|(power, beside, negative)| {
                        let near = (2.0 as $type).powi(power) + beside;
                        if negative { -near } else { near }
                    }),
                    2 => (-20..20_i8).prop_map(|halves| $type::from(halves) / 2.0),
                    2 => -1.0..1.0 as $type,
                    2 => -1e3..1e3 as $type,
                ]
                .boxed()
            }
        }
    )*};
}
floats! { f32 u32 f64 u64 }

impl Edge for bool {
    fn strategy() -> BoxedStrategy<Self> {
        any::<bool>().boxed()
    }
}

impl<T: Edge, const N: usize> Edge for [T; N] {
    fn strategy() -> BoxedStrategy<Self> {
        uniform(T::strategy()).boxed()
    }
}

macro_rules! tuples {
    ($(($($part:ident $index:tt),*);)*) => {$(
        impl<$($part: Edge),*> Edge for ($($part,)*) {
            fn strategy() -> BoxedStrategy<Self> {
                ($($part::strategy(),)*).boxed()
            }
            fn parts(&self) -> Vec<*const c_void> {
                vec![$((&raw const self.$index).cast()),*]
            }
        }
    )*};
}
tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}

fn drawn<S: Strategy>(runner: &mut TestRunner, strategy: &S) -> S::Value {
    strategy.new_tree(runner).expect("nothing is rejected").current()
}

/// Number of pairs of items that each operator is tested with.
pub const PAIRS: u32 = 10_000;

/// `count` pairs, the same at each call.
pub fn pairs<T: Edge>(count: u32) -> Vec<(T, T)> {
    let (mut runner, strategy) = (TestRunner::deterministic(), (T::strategy(), T::strategy()));
    (0..count).map(|_| drawn(&mut runner, &strategy)).collect()
}

pub fn assert_same<T: Edge>(got: T, expected: T, left: T, right: T) {
    assert!(T::same_bits(&got, &expected), "of {left:?} and {right:?}: got {got:?}, Rust says {expected:?}");
}
