//! Items of every size, and values of them in which the edge cases are common.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::DeviceType;

/// A type whose values can be drawn, edge values among them.
pub trait Sample: DeviceType + std::fmt::Debug {
    fn sample(random: &mut SmallRng) -> Self;
}

/// `count` items, the same for the same seed.
pub fn items<T: Sample>(seed: u64, count: usize) -> Vec<T> {
    let mut random = SmallRng::seed_from_u64(seed);
    (0..count).map(|_| T::sample(&mut random)).collect()
}

macro_rules! integers {
    ($($type:ty)*) => {$(
        impl Sample for $type {
            fn sample(random: &mut SmallRng) -> Self {
                const EDGES: [$type; 5] = [0, 1, <$type>::MAX, <$type>::MIN, <$type>::MAX / 2];
                match random.random_range(0..16) {
                    edge @ 0..5 => EDGES[edge],
                    _ => random.next_bits() as $type,
                }
            }
        }
    )*};
}
integers! { i8 i16 i32 i64 u8 u16 u32 u64 isize usize }

trait NextBits {
    fn next_bits(&mut self) -> u64;
}
impl NextBits for SmallRng {
    fn next_bits(&mut self) -> u64 {
        self.random()
    }
}

macro_rules! floats {
    ($($type:ident)*) => {$(
        impl Sample for $type {
            fn sample(random: &mut SmallRng) -> Self {
                const EDGES: [$type; 8] = [
                    0.0, -0.0, 1.0, $type::MAX, $type::MIN_POSITIVE, $type::MIN_POSITIVE / 4.0, $type::EPSILON, 1e-30,
                ];
                // Infinities and NaN swallow a sum: they are rare, so that most inputs keep a value worth comparing.
                match random.random_range(0..40_000) {
                    0 => $type::INFINITY,
                    1 => $type::NEG_INFINITY,
                    2 => $type::NAN,
                    edge @ 3..11 => EDGES[edge - 3],
                    11..10_000 => random.random_range(-1.0..1.0),
                    10_000..20_000 => random.random_range(-3_i8..=3).into(),
                    _ => random.random_range(-1e3..1e3),
                }
            }
        }
    )*};
}
floats! { f32 f64 }

impl Sample for bool {
    fn sample(random: &mut SmallRng) -> Self {
        // Rare enough on both sides that long inputs differ.
        random.random_ratio(1, 2)
    }
}

impl<T: Sample, const N: usize> Sample for [T; N] {
    fn sample(random: &mut SmallRng) -> Self {
        std::array::from_fn(|_| T::sample(random))
    }
}

/// Three floats, 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Point {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

impl Sample for Point {
    fn sample(random: &mut SmallRng) -> Self {
        let [x, y, z] = [0; 3].map(|_| random.random_range(-1.0..1.0));
        Self { x, y, z }
    }
}

/// A position and a value with padding between and behind: 24 bytes, of which 13 count.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Placed {
    pub found: bool,
    pub place: u64,
    pub value: i32,
}

impl Sample for Placed {
    fn sample(random: &mut SmallRng) -> Self {
        Self {
            found: bool::sample(random),
            place: random.random(),
            value: random.random_range(-5..5),
        }
    }
}

/// Fields with names that C++ reserves, in a struct whose name it reserves, too.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C, align(32))]
pub struct class {
    pub new: u16,
    pub r#struct: [i8; 3],
    pub linux: f64,
}

impl Sample for class {
    fn sample(random: &mut SmallRng) -> Self {
        Self {
            new: Sample::sample(random),
            r#struct: Sample::sample(random),
            linux: Sample::sample(random),
        }
    }
}
