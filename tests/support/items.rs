//! Items of every size. Some samplers often draw edge values. With the others each item affects the
//! result.
//!
//! A NaN, a zero factor or a greatest value hides all values that are combined with it, so the
//! reduction does not test them. Edge values are therefore for short inputs. Long inputs have
//! units: odd integers, factors near 1, invertible matrices.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpfold::{DeviceType, Value};

/// A type whose values can be drawn, with frequent edge values.
pub trait Sample: DeviceType + Value<Stored = Self> + std::fmt::Debug {
    fn sample(random: &mut SmallRng) -> Self;
}

/// A function that draws an item.
pub type Sampler<T> = fn(&mut SmallRng) -> T;

/// `count` items, which are the same for the same seed.
pub fn items<T>(seed: u64, count: usize, sampler: Sampler<T>) -> Vec<T> {
    let mut random = SmallRng::seed_from_u64(seed);
    (0..count).map(|_| sampler(&mut random)).collect()
}

/// Inputs in which one item decides the result, for operators that most items do not affect.
///
/// An input has the first value of a pair everywhere, except for the second value at one place. The
/// places of a pair's inputs have every remainder modulo 64.
pub fn standing_out<T: Copy>(length: usize, pairs: [(T, T); 2]) -> impl Iterator<Item = Vec<T>> {
    pairs.into_iter().flat_map(move |(common, rare)| {
        (0..64).map(move |k| {
            let mut items = vec![common; length];
            items[k * 513 % length] = rare;
            items
        })
    })
}

/// Numbers that each affect the result, even if many are combined.
pub trait Unit: Sample {
    /// An invertible factor.
    fn unit(random: &mut SmallRng) -> Self;
    /// An affine map x -> a x + b with a unit a.
    fn map(random: &mut SmallRng) -> [Self; 2];
    /// An invertible matrix whose powers neither grow nor vanish.
    fn matrix(random: &mut SmallRng) -> [[Self; 2]; 2];
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

        impl Unit for $type {
            fn unit(random: &mut SmallRng) -> Self {
                random.next_bits() as $type | 1
            }
            fn map(random: &mut SmallRng) -> [Self; 2] {
                [Self::unit(random), random.next_bits() as $type]
            }
            fn matrix(random: &mut SmallRng) -> [[Self; 2]; 2] {
                // The determinant is odd, so it has an inverse.
                let even = random.next_bits() as $type & !1;
                [[Self::unit(random), even], [random.next_bits() as $type, Self::unit(random)]]
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
                match random.random_range(0..256) {
                    0 => $type::INFINITY,
                    1 => $type::NEG_INFINITY,
                    2 => $type::NAN,
                    edge @ 3..11 => EDGES[edge - 3],
                    11..60 => random.random_range(-1.0..1.0),
                    60..120 => random.random_range(-3_i8..=3).into(),
                    _ => random.random_range(-1e3..1e3),
                }
            }
        }

        impl Unit for $type {
            fn unit(random: &mut SmallRng) -> Self {
                let size = random.random_range(0.99..1.01);
                if random.random() { size } else { -size }
            }
            fn map(random: &mut SmallRng) -> [Self; 2] {
                let sign = if random.random() { 1.0 } else { -1.0 };
                [sign, random.random_range(-1.0..1.0)]
            }
            fn matrix(random: &mut SmallRng) -> [[Self; 2]; 2] {
                let angle: $type = random.random_range(-3.0..3.0);
                let (sin, cos) = angle.sin_cos();
                [[cos, -sin], [sin, cos]]
            }
        }
    )*};
}
floats! { f32 f64 }

impl Sample for bool {
    fn sample(random: &mut SmallRng) -> Self {
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

/// A position and a value, with padding between and after the fields: 24 bytes, 13 of them used.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Placed {
    pub found: bool,
    pub place: u64,
    pub value: i32,
}

impl Sample for Placed {
    fn sample(random: &mut SmallRng) -> Self {
        Self { found: bool::sample(random), place: random.random(), value: random.random_range(-5..5) }
    }
}

macro_rules! marked {
    ($($name:ident of $field:ty: $mark:literal;)*) => {$(
        /// A value, and a mark that distinguishes an item from memory that was never written.
        #[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
        #[repr(C)]
        pub struct $name {
            pub mark: $field,
            pub value: $field,
        }

        impl $name {
            pub const MARK: $field = $mark;
        }

        impl Sample for $name {
            fn sample(random: &mut SmallRng) -> Self {
                Self { mark: $mark, value: random.random() }
            }
        }
    )*};
}

// Items of two words, of one word, and of a part of a word.
marked! {
    Marked of u32: 0x5eed_cafe;
    MarkedHalves of u16: 0x5eed;
    MarkedBytes of u8: 0x5e;
}

/// Both 16-bit floats.
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Halves {
    pub narrow: half::f16,
    pub wide: half::bf16,
    pub count: u32,
}

macro_rules! halves {
    ($($type:ident)*) => {$(
        impl Sample for half::$type {
            fn sample(random: &mut SmallRng) -> Self {
                let special = [Self::INFINITY, Self::NEG_INFINITY, Self::NAN, Self::MAX, Self::MIN_POSITIVE_SUBNORMAL, Self::NEG_ZERO];
                match random.random_range(0..16_usize) {
                    kind if kind < special.len() => special[kind],
                    _ => Self::from_bits(random.random()),
                }
            }
        }
    )*};
}
halves! { f16 bf16 }

impl Sample for Halves {
    fn sample(random: &mut SmallRng) -> Self {
        let narrow = if random.random() { half::f16::ONE } else { half::f16::from_bits(random.random()) };
        Self { narrow, wide: half::bf16::from_bits(random.random()), count: random.random() }
    }
}

/// A struct whose name and field names are reserved in C++.
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
        Self { new: Sample::sample(random), r#struct: Sample::sample(random), linux: Sample::sample(random) }
    }
}
