//! Values on which two languages differ, if they do: the ends of ranges, halves, powers of two, both zeros, NaNs.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::DeviceType;

/// A type whose values are drawn so, edges among them all the time.
pub trait Edge: DeviceType + std::fmt::Debug {
    fn edge(random: &mut SmallRng) -> Self;
}

macro_rules! integers {
    ($($type:ident)*) => {$(
        impl Edge for $type {
            fn edge(random: &mut SmallRng) -> Self {
                let bits = random.random::<u64>();
                match random.random_range(0..12) {
                    0 => 0,
                    1 => $type::MIN,
                    2 => $type::MAX,
                    3 => $type::MAX.wrapping_sub(bits as $type % 4),
                    4 => $type::MIN.wrapping_add(bits as $type % 4),
                    5 => (0 as $type).wrapping_sub(1),
                    6 => (1 as $type).wrapping_shl(bits as u32),
                    7..10 => (bits % 19) as $type,
                    // Of any number of bits.
                    _ => (bits >> random.random_range(0..64)) as $type,
                }
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 isize usize }

macro_rules! floats {
    ($($type:ident $bits:ident)*) => {$(
        impl Edge for $type {
            fn edge(random: &mut SmallRng) -> Self {
                const EDGES: [$type; 12] = [
                    0.0, -0.0, 1.0, -1.0, $type::INFINITY, $type::NEG_INFINITY, $type::NAN, $type::MAX, $type::MIN,
                    $type::MIN_POSITIVE, $type::EPSILON, 0.5,
                ];
                match random.random_range(0..12) {
                    0..3 => EDGES[random.random_range(0..EDGES.len())],
                    // Any bits, subnormals and NaNs among them.
                    3 => $type::from_bits(random.random::<$bits>()),
                    4 => $type::from_bits(random.random::<$bits>() >> random.random_range(0..$bits::BITS)),
                    // Around the ends of the integers.
                    5 => {
                        let power = (2.0 as $type).powi(random.random_range(0..66));
                        let near = [power - 1.0, power - 0.5, power, power + 0.5, power + 1.0];
                        let near = near[random.random_range(0..near.len())];
                        if random.random() { near } else { -near }
                    }
                    6 | 7 => <$type>::from(random.random_range(-20_i8..20)) / 2.0,
                    8 | 9 => random.random_range(-1.0..1.0),
                    _ => random.random_range(-1e3..1e3),
                }
            }
        }
    )*};
}
floats! { f32 u32 f64 u64 }

impl Edge for bool {
    fn edge(random: &mut SmallRng) -> Self {
        random.random()
    }
}

impl<T: Edge, const N: usize> Edge for [T; N] {
    fn edge(random: &mut SmallRng) -> Self {
        std::array::from_fn(|_| T::edge(random))
    }
}

/// Pairs of items that each operator is tried on.
pub const PAIRS: usize = 10_000;

pub fn pairs<T: Edge>(count: usize) -> (Vec<T>, Vec<T>) {
    let mut random = SmallRng::seed_from_u64(7);
    (0..count).map(|_| (T::edge(&mut random), T::edge(&mut random))).unzip()
}

pub fn assert_same<T: Edge>(got: T, expected: T, left: T, right: T) {
    assert!(T::same_bits(&got, &expected), "of {left:?} and {right:?}: got {got:?}, Rust says {expected:?}");
}
