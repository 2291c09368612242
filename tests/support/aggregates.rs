//! Aggregates for tests: elements of every size, indices, state in each step, tuples.

use std::fmt::Debug;
use std::marker::PhantomData;

use num_traits::AsPrimitive;
use warpfold::aggregates::{CountIf, Filtered, Histogram, Mapped, Masked, SumWide, TopK};
use warpfold::operators::{AffineComposition, Max, Sum};
use warpfold::{Aggregate, Bit, DeviceAggregate, DeviceType, aggregate, device};

use super::drawn::Drawn;
use super::items::Sample;
use super::operators::{Lanewise, LeftmostNearest, ModularAffine, Reserved};
use super::tuples::{Marked, MarkedInStep, MarkedMap};

/// Visits each aggregate.
pub trait Visitor {
    fn visit<A: DeviceAggregate<Input: Drawn, Output: Debug>>(&mut self, name: &str, aggregate: A);
}

/// The aggregates of the tests. Results of each depend on every element, its index, and the order.
pub fn all(visitor: &mut impl Visitor) {
    some(visitor);
    visitor.visit("Placed_of_2_bytes", Placed::<u8, 2>(PhantomData));
    visitor.visit("Placed_of_16_bytes", Placed::<u8, 16>(PhantomData));
    visitor.visit("Placed_of_6_bytes_of_u16", Placed::<u16, 3>(PhantomData));
    visitor.visit("Placed_of_20_bytes_of_u32", Placed::<u32, 5>(PhantomData));
    visitor.visit("Placed_of_8_bytes_of_u64", Placed::<u64, 1>(PhantomData));
    visitor.visit("Placed_of_256_bytes_of_u64", Placed::<u64, 32>(PhantomData));
    visitor.visit("Packed", Packed);
    visitor.visit("words_and_bytes_in_step", Product(PhantomData::<(u64, u8)>));
    visitor.visit("sizes_in_step", Latest(PhantomData::<([u8; 3], u64)>));
    visitor.visit("large_in_step", Latest(PhantomData::<(u8, [u64; 16])>));
    visitor.visit("three_in_step", OfThree);
    visitor.visit("bytes_masked_by_bits", Masked::<Placed<u8, 1>, Bit>(Placed(PhantomData), PhantomData));
    visitor.visit("large_masked_by_bits", Masked::<Placed<u64, 32>, Bit>(Placed(PhantomData), PhantomData));
    visitor.visit("widened_f16", Widened(PhantomData::<half::f16>));
    visitor.visit("widened_bf16", Widened(PhantomData::<half::bf16>));
    visitor.visit("wide_sum_of_f16", SumWide::<half::f16>::new());
    visitor.visit("histogram", Histogram::<u8, 5>::new(20, 200));
    visitor.visit("eight_in_step", OfEight);
}

/// Some of them: each kind.
pub fn some(visitor: &mut impl Visitor) {
    visitor.visit("Placed_of_1_byte", Placed::<u8, 1>(PhantomData));
    visitor.visit("Placed_of_3_bytes", Placed::<u8, 3>(PhantomData));
    visitor.visit("Placed_of_4_bytes_of_u32", Placed::<u32, 1>(PhantomData));
    visitor.visit("Placed_of_12_bytes_of_u32", Placed::<u32, 3>(PhantomData));
    visitor.visit("Placed_of_100_bytes", Placed::<u8, 100>(PhantomData));
    let scaled = Scaled { modulus: 1_000_003, scale: 77 };
    visitor.visit("Scaled", scaled);
    visitor.visit("Wide", Wide);
    let other = Scaled { modulus: 65_537, scale: 5 };
    visitor.visit("tuple", (Sum::<u32>::new(), scaled, (Max::<u32>::new(), other)));
    visitor.visit("by_hand", (Named, Nearest));
    visitor.visit("indices", OfIndex);
    visitor.visit("counted", CountIf::<IsOdd>::default());
    visitor.visit("mapped_in_step", Mapped(Spread, scaled));
    visitor.visit("filtered", Filtered(IsOdd, (scaled, Sum::<u32>::new())));
    let named = names::Left { steps: 3 };
    visitor
        .visit("names", Filtered(names::Element, (Mapped(names::Index, Mapped(names::Steps, named)), named)));
    visitor.visit("masked", Masked::<Scaled, u8>(scaled, PhantomData));
    visitor.visit("masked_by_bits", Masked::<Scaled, Bit>(scaled, PhantomData));
    visitor.visit("masked_and_mapped", (Masked::<_, bool>(Filtered(IsOdd, scaled), PhantomData), CountPairs));
    visitor.visit("filtered_twice", (Filtered(IsLarge, Filtered(IsOdd, scaled)), Max::<u32>::new()));
    visitor.visit("words_in_step", Product(PhantomData::<(u32, u32)>));
    visitor.visit("bytes_and_words_in_step", Product(PhantomData::<(u8, u32)>));
    visitor.visit("accumulated", Accumulated { scale: 7, unused: 0 });
    visitor.visit("accumulated_in_step", AccumulatedPairs);
    visitor.visit("accumulated_indices", AccumulatedIndices);
    visitor.visit("accumulated_large", TopK::<u32, 9>::new());
    let accumulated = Accumulated { scale: 9, unused: 0 };
    visitor.visit("accumulated_and_mapped", Mapped(Halve, Filtered(IsSmall, accumulated)));
    visitor.visit("accumulated_and_masked", Masked::<Accumulated, Bit>(accumulated, PhantomData));
    visitor.visit("items_that_are_tuples", MarkedMap);
    visitor.visit("prepared_tuples", (Marked, SumWide::<u32>::new()));
    visitor.visit("tuples_in_step", MarkedInStep);
    visitor.visit("tuple_in_step", (Product(PhantomData::<(u8, u32)>), Latest(PhantomData::<(u8, u32)>)));
}

/// An affine map of an element and its index, in two words. The result has the count, too.
#[derive(Clone, Copy, Default, Debug)]
pub struct Placed<T, const N: usize>(pub PhantomData<T>);

macro_rules! placed {
    ($($type:ident)*) => {$(
        #[aggregate]
        impl<const N: usize> Aggregate for Placed<$type, N> where [$type; N]: Sample {
            type Input = [$type; N];
            type Monoid = Lanewise<u32, 2>;
            type Output = [u32; 4];
            fn prepare(&self, index: u64, element: [$type; N]) -> [u32; 2] {
                let mut hash = (index as u32).wrapping_mul(0x9e37_79b1) ^ (index >> 32) as u32;
                for k in 0..N {
                    hash = hash.rotate_left(5) ^ (element[k] as u32).wrapping_mul(0x85eb_ca6b);
                }
                [hash, hash.rotate_left(13)]
            }
            fn present(&self, item: [u32; 2], count: u64) -> [u32; 4] {
                [item[0], item[1], count as u32, (count >> 32) as u32]
            }
        }
    )*};
}
placed! { u8 u16 u32 u64 }

/// Has state, and a monoid with state. The result may be missing.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Scaled {
    pub modulus: u32,
    pub scale: u16,
}

#[aggregate]
impl Aggregate for Scaled {
    type Input = u32;
    type Monoid = ModularAffine;
    type Output = Option<[u32; 2]>;
    fn monoid(&self) -> ModularAffine {
        ModularAffine { modulus: self.modulus.into(), padding: 0 }
    }
    fn prepare(&self, index: u64, element: u32) -> [u32; 2] {
        [element.wrapping_mul(self.scale as u32), element.wrapping_add(index as u32)]
    }
    fn present(&self, item: [u32; 2], count: u64) -> Option<[u32; 2]> {
        if count == 0 { None } else { Some([item[0].wrapping_add(self.modulus), item[1]]) }
    }
}

/// Small elements, items that do not fit into registers, and a large result.
#[derive(Clone, Copy, Default, Debug)]
pub struct Wide;

#[aggregate]
impl Aggregate for Wide {
    type Input = u16;
    type Monoid = Lanewise<u32, 25>;
    type Output = [u64; 32];
    fn prepare(&self, index: u64, element: u16) -> [u32; 25] {
        let mut item = [0; 25];
        #[allow(clippy::needless_range_loop)]
        for k in 0..25 {
            item[k] = (element as u32).wrapping_mul(2 * k as u32 + 1).wrapping_add(index as u32);
        }
        item
    }
    fn present(&self, item: [u32; 25], count: u64) -> [u64; 32] {
        let mut result = [count; 32];
        for k in 0..25 {
            result[k] = item[k] as u64;
        }
        result
    }
}

/// A monoid that has a packed form where its elements are the items.
#[derive(Clone, Copy, Default, Debug)]
pub struct Packed;

#[aggregate]
impl Aggregate for Packed {
    type Input = u8;
    type Monoid = Sum<u8>;
    type Output = u32;
    fn prepare(&self, index: u64, element: u8) -> u8 {
        element ^ (index as u8)
    }
    fn present(&self, item: u8, count: u64) -> u32 {
        item as u32 + count as u32
    }
}

/// A monoid that is written by hand, with names of its own.
#[derive(Clone, Copy, Default, Debug)]
pub struct Named;

#[aggregate]
impl Aggregate for Named {
    type Input = f32;
    type Monoid = Reserved;
    type Output = super::items::class;
    fn prepare(&self, index: u64, element: f32) -> super::items::class {
        super::items::class { new: index as u16, r#struct: [index as i8 & 1, 0, 0], linux: element as f64 }
    }
    fn present(&self, item: super::items::class, _: u64) -> super::items::class {
        item
    }
}

/// A monoid that is written by hand, with state and a helper.
#[derive(Clone, Copy, Default, Debug)]
pub struct Nearest;

#[aggregate]
impl Aggregate for Nearest {
    type Input = f32;
    type Monoid = LeftmostNearest;
    type Output = f32;
    fn monoid(&self) -> LeftmostNearest {
        LeftmostNearest { x: 0.5, y: 1.0, z: -0.25 }
    }
    fn prepare(&self, index: u64, element: f32) -> super::items::Point {
        super::items::Point { x: element, y: index as f32, z: 0.0 }
    }
    fn present(&self, item: super::items::Point, _: u64) -> f32 {
        item.y
    }
}

/// A product of two arrays, weighted with the index.
#[derive(Clone, Copy, Debug)]
pub struct Product<T>(pub PhantomData<T>);

macro_rules! product {
    ($($left:ident $right:ident)*) => {$(
        #[aggregate]
        impl Aggregate for Product<($left, $right)> {
            type Input = ($left, $right);
            type Monoid = Lanewise<u64, 1>;
            type Output = [u64; 2];
            fn monoid(&self) -> Lanewise<u64, 1> {
                Lanewise(PhantomData)
            }
            fn prepare(&self, index: u64, (left, right): ($left, $right)) -> [u64; 1] {
                [(left as u64).wrapping_mul(right as u64).wrapping_add(index << 32) ^ (right as u64).rotate_left(40)]
            }
            fn present(&self, item: [u64; 1], count: u64) -> [u64; 2] {
                [item[0], count]
            }
        }
    )*};
}
product! { u32 u32  u8 u32  u64 u8 }

/// The last pair, and the sum of the indices.
#[derive(Clone, Copy, Debug)]
pub struct Latest<T>(pub PhantomData<T>);

macro_rules! latest {
    ($($left:ty, $right:ty, $element:ident.$first:expr, $last:expr;)*) => {$(
        #[aggregate]
        impl Aggregate for Latest<($left, $right)> {
            type Input = ($left, $right);
            type Monoid = Lanewise<u32, 2>;
            type Output = [u32; 3];
            fn monoid(&self) -> Lanewise<u32, 2> {
                Lanewise(PhantomData)
            }
            fn prepare(&self, index: u64, $element: ($left, $right)) -> [u32; 2] {
                [($first) ^ (index as u32).rotate_left(9), $last]
            }
            fn present(&self, item: [u32; 2], count: u64) -> [u32; 3] {
                [item[0], item[1], count as u32]
            }
        }
    )*};
}
latest! {
    u8, u32, pair.pair.0 as u32, pair.1;
    [u8; 3], u64, pair.(pair.0[0] as u32) << 16 | (pair.0[1] as u32) << 8 | pair.0[2] as u32, (pair.1 ^ (pair.1 >> 32)) as u32;
    u8, [u64; 16], pair.pair.0 as u32, (pair.1[0] ^ (pair.1[15] >> 32)) as u32;
}

/// Three arrays, one of structs.
#[derive(Clone, Copy, Default, Debug)]
pub struct OfThree;

#[aggregate]
impl Aggregate for OfThree {
    type Input = (u16, super::items::Point, bool);
    type Monoid = Lanewise<u32, 2>;
    type Output = [u32; 2];
    fn prepare(&self, index: u64, (number, point, flag): (u16, super::items::Point, bool)) -> [u32; 2] {
        let bits = point.x.to_bits() ^ point.y.to_bits().rotate_left(7) ^ point.z.to_bits().rotate_left(14);
        [bits ^ number as u32, index as u32 ^ if flag { 0x8000_0000 } else { 0 }]
    }
    fn present(&self, item: [u32; 2], _: u64) -> [u32; 2] {
        item
    }
}

/// As many arrays as can be read in step.
#[derive(Clone, Copy, Default, Debug)]
pub struct OfEight;

#[aggregate]
impl Aggregate for OfEight {
    type Input = (u8, u16, u32, u64, u8, u16, u32, u64);
    type Monoid = Lanewise<u64, 1>;
    type Output = [u64; 1];
    fn prepare(&self, index: u64, all: (u8, u16, u32, u64, u8, u16, u32, u64)) -> [u64; 1] {
        let low = all.0 as u64 ^ (all.1 as u64).rotate_left(8) ^ (all.2 as u64).rotate_left(24) ^ all.3;
        let high = all.4 as u64 ^ (all.5 as u64).rotate_left(8) ^ (all.6 as u64).rotate_left(24) ^ all.7;
        [low ^ high.rotate_left(17) ^ index]
    }
    fn present(&self, item: [u64; 1], _: u64) -> [u64; 1] {
        item
    }
}

/// A hash of the bits of wider floats.
#[derive(Clone, Copy, Default, Debug)]
pub struct Widened<T>(pub PhantomData<T>);

#[aggregate]
impl<T: DeviceType + AsPrimitive<f32>> Aggregate for Widened<T> {
    type Input = T;
    type Monoid = Lanewise<u32, 2>;
    type Output = [u32; 2];
    fn monoid(&self) -> Lanewise<u32, 2> {
        Lanewise(PhantomData)
    }
    fn prepare(&self, index: u64, element: T) -> [u32; 2] {
        let wide: f32 = element.as_();
        // The bits of a NaN are no promise.
        [if wide.is_nan() { 0x7fc0_0000 } else { wide.to_bits() }, index as u32]
    }
    fn present(&self, item: [u32; 2], _: u64) -> [u32; 2] {
        item
    }
}

/// The composition of two affine maps, from left to right. Associative, and not commutative.
#[device]
fn then(first: [u32; 2], second: [u32; 2]) -> [u32; 2] {
    [first[0].wrapping_mul(second[0]), first[1].wrapping_mul(second[0]).wrapping_add(second[1])]
}

/// The map of an element and its index.
#[device]
fn map_of(index: u64, element: u32, scale: u32) -> [u32; 2] {
    [element.wrapping_mul(2 * scale) | 1, element ^ (index as u32).wrapping_mul(0x9e37_79b1)]
}

macro_rules! accumulated {
    ($($type:ty, $input:ty, $aggregate:ident $element:ident: $value:expr, $scale:expr;)*) => {$(
        #[aggregate]
        impl Aggregate for $type {
            type Input = $input;
            type Monoid = AffineComposition<u32>;
            type Output = [u32; 3];
            fn prepare(&$aggregate, index: u64, $element: $input) -> [u32; 2] {
                map_of(index, $value, $scale)
            }
            fn accumulate(&$aggregate, item: [u32; 2], index: u64, $element: $input) -> [u32; 2] {
                then(item, map_of(index, $value, $scale))
            }
            fn present(&$aggregate, item: [u32; 2], count: u64) -> [u32; 3] {
                [item[0], item[1], count as u32]
            }
        }
    )*};
}
accumulated! {
    Accumulated, u16, self element: element as u32, self.scale as u32;
    AccumulatedPairs, (u8, u32), self pair: pair.0 as u32 ^ pair.1, 1;
    AccumulatedIndices, (), self _element: 5, 3;
}

/// Elements that are accumulated, of one array.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Accumulated {
    pub scale: u16,
    pub unused: u16,
}

/// The same of arrays in step, and of no array.
#[derive(Clone, Copy, Default, Debug)]
pub struct AccumulatedPairs;
#[derive(Clone, Copy, Default, Debug)]
pub struct AccumulatedIndices;

/// The index alone.
#[derive(Clone, Copy, Default, Debug)]
pub struct OfIndex;

#[aggregate]
impl Aggregate for OfIndex {
    type Input = ();
    type Monoid = Lanewise<u32, 2>;
    type Output = [u32; 3];
    fn prepare(&self, index: u64, _: ()) -> [u32; 2] {
        [(index as u32).wrapping_mul(0x9e37_79b1), (index as u32).rotate_left(11)]
    }
    fn present(&self, item: [u32; 2], count: u64) -> [u32; 3] {
        [item[0], item[1], count as u32]
    }
}

#[device(type = IsOdd)]
fn is_odd(x: u32) -> bool {
    x % 2 == 1
}

#[device(type = IsLarge)]
fn is_large(x: u32) -> bool {
    x > 0xa000_0000
}

#[device(type = Halve)]
fn halve(x: u32) -> u16 {
    (x >> 16) as u16
}

#[device(type = IsSmall)]
fn is_small(x: u16) -> bool {
    x < 0x6000
}

#[device(type = Spread)]
fn spread(left: u8, right: u32) -> u32 {
    (left as u32).wrapping_mul(0x0101_0101) ^ right
}

/// Pairs with a mark.
#[derive(Clone, Copy, Default, Debug)]
pub struct CountPairs;

#[aggregate]
impl Aggregate for CountPairs {
    type Input = (u32, bool);
    type Monoid = Sum<u64>;
    type Output = u64;
    fn prepare(&self, _: u64, pair: (u32, bool)) -> u64 {
        pair.1 as u64
    }
    fn present(&self, marked: u64, _: u64) -> u64 {
        marked
    }
}

/// Names that the rendered C++ uses, too.
#[allow(non_camel_case_types)]
mod names {
    use warpfold::{Aggregate, DeviceType, aggregate, device, monoid};

    #[derive(Clone, Copy, Debug, DeviceType)]
    #[repr(C)]
    pub struct Parts {
        presented: u32,
        monoid: u32,
    }

    #[derive(Clone, Copy, Debug, DeviceType)]
    #[repr(C)]
    pub struct Monoid {
        item: u32,
        count: u64,
    }

    #[device(type = Index)]
    pub fn index(element: u32) -> u32 {
        element ^ 0x5555
    }

    #[device(type = Element)]
    pub fn element(index: u32) -> bool {
        index % 3 == 1
    }

    #[device(type = Steps)]
    pub fn steps(item: u32) -> u32 {
        item.rotate_left(3)
    }

    #[derive(Clone, Copy, Debug, Default)]
    pub struct part_0;

    #[monoid]
    impl warpfold::Monoid for part_0 {
        type Item = Parts;
        fn identity(&self) -> Parts {
            Parts { presented: 1, monoid: 0 }
        }
        fn combine(&self, left: Parts, right: Parts) -> Parts {
            let monoid = right.presented.wrapping_mul(left.monoid).wrapping_add(right.monoid);
            Parts { presented: left.presented.wrapping_mul(right.presented), monoid }
        }
    }

    #[derive(Clone, Copy, Debug, DeviceType)]
    #[repr(C)]
    pub struct Left {
        pub steps: u32,
    }

    #[aggregate]
    impl Aggregate for Left {
        type Input = u32;
        type Monoid = part_0;
        type Output = Monoid;
        fn prepare(&self, index: u64, element: u32) -> Parts {
            Parts { presented: element | 1, monoid: index as u32 ^ self.steps }
        }
        fn present(&self, item: Parts, count: u64) -> Monoid {
            Monoid { item: item.presented ^ item.monoid, count }
        }
    }
}
