//! Operators to test with: the built-in ones, and others that do not commute, that carry state, and
//! that have items of every size.

use std::marker::PhantomData;

use warpfold::operators::*;
use warpfold::{
    DeviceCode, DeviceFunction, DeviceMonoid, DeviceOperator, DeviceType, Monoid, device, math, monoid,
};

use super::items::Halves;
use super::items::{Marked, MarkedBytes, MarkedHalves, Placed, Point, Sample, Sampler, Unit, class};

/// Something to do with each operator; `sampler` draws items of which every one counts.
pub trait Visitor {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample;
}

#[track_caller]
fn code(text: &'static str) -> DeviceCode {
    let caller = std::panic::Location::caller();
    // SAFETY: the bodies of this file only touch their operands and their own variables.
    unsafe { DeviceCode::at(text, caller.file(), caller.line()) }
}

macro_rules! built_in {
    ($visitor:ident: $($operator:ident by $sampler:ident: $($type:ident)*;)*) => {
        $($(
            let name = concat!(stringify!($operator), "_of_", stringify!($type));
            $visitor.visit(name, $operator::<$type>::new(), <$type>::$sampler);
        )*)*
        $visitor.visit("All", All, bool::sample);
        $visitor.visit("Any", Any, bool::sample);
    };
}

/// Every operator that comes with the crate, over every type.
pub fn built_in(visitor: &mut impl Visitor) {
    built_in! { visitor:
        Sum by unit: i8 i16 i32 i64 u8 u16 u32 u64 isize usize f32 f64;
        Product by unit: i8 i16 i32 i64 u8 u16 u32 u64 isize usize f32 f64;
        Min by unit: i8 i16 i32 i64 u8 u16 u32 u64 isize usize f32 f64;
        Max by unit: i8 i16 i32 i64 u8 u16 u32 u64 isize usize f32 f64;
        MinNumber by unit: f32 f64;
        MaxNumber by unit: f32 f64;
        BitAnd by unit: i8 i16 i32 i64 u8 u16 u32 u64 isize usize;
        BitOr by unit: i8 i16 i32 i64 u8 u16 u32 u64 isize usize;
        BitXor by unit: i8 i16 i32 i64 u8 u16 u32 u64 isize usize;
        Matrix2Product by matrix: i8 i16 i32 i64 u8 u16 u32 u64 isize usize f32 f64;
        AffineComposition by map: i8 i16 i32 i64 u8 u16 u32 u64 isize usize f32 f64;
    }
}

/// Each of them, over each type at least twice.
pub fn some_built_in(visitor: &mut impl Visitor) {
    built_in! { visitor:
        Sum by unit: i8 u16 f32;
        Product by unit: u8 i32 f64;
        Min by unit: i8 u32 f32;
        Max by unit: u8 i16 i64;
        MinNumber by unit: f32;
        MaxNumber by unit: f64;
        BitAnd by unit: u8 isize;
        BitOr by unit: i16 u64;
        BitXor by unit: i32 usize;
        Matrix2Product by matrix: u16 f64 usize;
        AffineComposition by map: u32 i64 isize u64;
    }
}

/// Operators of structs, with state, with helpers; none but the first commutes.
pub fn structs(visitor: &mut impl Visitor) {
    visitor.visit("MaxByNorm", MaxByNorm, Point::sample);
    visitor.visit("LastPlaced", LastPlaced, Placed::sample);
    visitor.visit("Reserved", Reserved, class::sample);
    visitor.visit("ModularAffine", ModularAffine { modulus: 1_000_003, padding: 0 }, Sample::sample);
    visitor.visit("LeftmostNearest", LeftmostNearest { x: 0.25, y: -0.5, z: 0.125 }, Point::sample);
    visitor.visit("Shape", Shape, Sample::sample);
    visitor.visit("OnlyMarked", OnlyMarked, Marked::sample);
    visitor.visit("OnlyMarkedHalves", OnlyMarkedHalves, MarkedHalves::sample);
    visitor.visit("OnlyMarkedBytes", OnlyMarkedBytes, MarkedBytes::sample);
    visitor.visit("LastHalf", LastHalf, Halves::sample);
}

macro_rules! sizes {
    ($visitor:ident: $($type:ident: $($lanes:literal)*;)*) => {$($(
        let name = format!("Lanewise_of_{}_bytes_of_{}", size_of::<[$type; $lanes]>(), stringify!($type));
        $visitor.visit(&name, Lanewise::<$type, $lanes>(PhantomData), Sample::sample);
    )*)*};
}

/// An operator that does not commute over items of each size that promises are made for.
pub fn sizes(visitor: &mut impl Visitor) {
    sizes! { visitor:
        u8: 1 2 3 4 5 7 8 12 16 20 24 36 48 100 101 255 256;
        u16: 1 3 7 50;
        u32: 1 2 3 4 5 6 7 9 12 25 64;
        u64: 1 2 3 4 6 32;
    }
}

/// Some of them: of each type, and of powers of two, odd and large sizes.
pub fn some_sizes(visitor: &mut impl Visitor) {
    sizes! { visitor:
        u8: 1 3 16 101 256;
        u16: 3;
        u32: 1 5 12;
        u64: 2;
    }
}

/// The operators that the suites of the CPU are compiled with, beside [`structs`]: to compile the
/// CPU's loops for one takes a second or two. With the feature `every-operator`, as a full run has
/// it, they are all of them; without it each operator, each type and each kind of size is among
/// them.
pub fn of_cpu(visitor: &mut impl Visitor) {
    #[cfg(feature = "every-operator")]
    built_in(visitor);
    #[cfg(not(feature = "every-operator"))]
    some_built_in(visitor);
    sizes_of_cpu(visitor);
}

/// As [`of_cpu`], of operators for items of every size.
pub fn sizes_of_cpu(visitor: &mut impl Visitor) {
    #[cfg(feature = "every-operator")]
    sizes(visitor);
    #[cfg(not(feature = "every-operator"))]
    some_sizes(visitor);
}

/// The point farthest from the origin; the earlier one on a tie.
#[derive(Clone, Copy, Default, Debug)]
pub struct MaxByNorm;

#[monoid]
impl Monoid for MaxByNorm {
    type Item = Point;
    fn identity(&self) -> Point {
        Point { x: 0.0, y: 0.0, z: 0.0 }
    }
    fn combine(&self, a: Point, b: Point) -> Point {
        let na = a.x * a.x + a.y * a.y + a.z * a.z;
        let nb = b.x * b.x + b.y * b.y + b.z * b.z;
        if nb > na { b } else { a }
    }
}

/// Two ranges that meet, as one. A semigroup: it has no identity.
#[derive(Clone, Copy, Default, Debug)]
pub struct Joined;

#[monoid]
impl Monoid for Joined {
    type Item = [u32; 2];
    fn identity(&self) -> [u32; 2] {
        panic!("there is none")
    }
    fn combine(&self, left: [u32; 2], right: [u32; 2]) -> [u32; 2] {
        // Ranges that do not meet have become one from nothing.
        if left[1] == right[0] { [left[0], right[1]] } else { [0, 0] }
    }
}

/// The last item that was found anything; the places add up.
#[derive(Clone, Copy, Default, Debug)]
pub struct LastPlaced;

#[monoid]
impl Monoid for LastPlaced {
    type Item = Placed;
    fn identity(&self) -> Placed {
        Placed { found: false, place: 0, value: 0 }
    }
    fn combine(&self, a: Placed, b: Placed) -> Placed {
        let value = if b.found { b.value } else { a.value };
        Placed { found: a.found | b.found, place: a.place.wrapping_add(b.place), value }
    }
}

/// Three monoids side by side, under names that C++ reserves: a sum, "the last", and a maximum.
#[derive(Clone, Copy, Default, Debug)]
pub struct Reserved;

const LEAST: f64 = f64::NEG_INFINITY;

impl Monoid for Reserved {
    type Item = class;
    fn identity(&self) -> class {
        class { new: 0, r#struct: [0; 3], linux: LEAST }
    }
    fn combine(&self, a: class, b: class) -> class {
        let last = if b.r#struct == [0; 3] { a.r#struct } else { b.r#struct };
        class { new: a.new.wrapping_add(b.new), r#struct: last, linux: math::maximum(a.linux, b.linux) }
    }
}

impl DeviceMonoid for Reserved {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let body = code(
            "Reserved_ c = b;
             c.new_ = static_cast<unsigned short>(a.new_ + b.new_);
             if (b.struct_[0] == 0 && b.struct_[1] == 0 && b.struct_[2] == 0) c.struct_ = a.struct_;
             c.linux_ = warpfold::maximum(warpfold::maximum(a.linux_, LEAST.linux_), b.linux_);
             return c;",
        );
        let least = class { new: 7, r#struct: [-1, 0, 1], linux: LEAST };
        DeviceOperator::new::<Self::Item>("a", "b", body)
            .with_type::<class>("Reserved_")
            .constant("LEAST", least)
    }
}

/// Affine maps modulo a prime, `self.modulus`, the left one first; a factor of zero counts as one,
/// so that every map can be undone, and every item counts.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct ModularAffine {
    pub modulus: u64,
    pub padding: u8,
}

#[device]
fn factor(a: u32, modulus: u64) -> u64 {
    (u64::from(a) % modulus).max(1)
}

#[monoid]
impl Monoid for ModularAffine {
    type Item = [u32; 2];
    fn identity(&self) -> [u32; 2] {
        [1, 0]
    }
    fn combine(&self, left: [u32; 2], right: [u32; 2]) -> [u32; 2] {
        let m = self.modulus;
        let (a1, a2) = (factor(left[0], m), factor(right[0], m));
        let (b1, b2) = (u64::from(left[1]) % m, u64::from(right[1]) % m);
        [(a2 * a1 % m) as u32, ((a2 * b1 + b2) % m) as u32]
    }
}

/// Not associative: every tree of the same items has another value, so that only the bracket is the
/// bracket.
#[derive(Clone, Copy, Default, Debug)]
pub struct Shape;

#[monoid]
impl Monoid for Shape {
    type Item = u32;
    fn identity(&self) -> u32 {
        0
    }
    fn combine(&self, a: u32, b: u32) -> u32 {
        a.wrapping_mul(0x9e37_79b1).rotate_left(5) ^ b.wrapping_mul(0x85eb_ca6b).wrapping_add(1)
    }
}

macro_rules! only_marked {
    ($($operator:ident of $item:ident;)*) => {$(
        /// The sum of items that all carry a mark. What carries none was never an item: the GPU
        /// traps, the CPU panics.
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $operator;

        impl Monoid for $operator {
            type Item = $item;
            fn identity(&self) -> $item {
                $item { mark: $item::MARK, value: 0 }
            }
            fn combine(&self, a: $item, b: $item) -> $item {
                assert!(a.mark == $item::MARK && b.mark == $item::MARK, "an operand that was never an item");
                $item { mark: $item::MARK, value: a.value.wrapping_add(b.value) }
            }
        }

        impl DeviceMonoid for $operator {
            const EXACT: bool = true;
            fn device_operator() -> DeviceOperator {
                let body =
                    code("if (a.mark != MARK || b.mark != MARK) __trap();\na.value += b.value;\nreturn a;");
                DeviceOperator::new::<Self::Item>("a", "b", body).constant("MARK", $item::MARK)
            }
        }
    )*};
}

only_marked! {
    OnlyMarked of Marked;
    OnlyMarkedHalves of MarkedHalves;
    OnlyMarkedBytes of MarkedBytes;
}

/// The last pair of half floats, whose arithmetic CUDA C++ has not got without headers; the count
/// adds up.
#[derive(Clone, Copy, Default, Debug)]
pub struct LastHalf;

impl Monoid for LastHalf {
    type Item = Halves;
    fn identity(&self) -> Halves {
        Halves { narrow: half::f16::ONE, wide: half::bf16::ZERO, count: 0 }
    }
    fn combine(&self, a: Halves, b: Halves) -> Halves {
        let count = a.count.wrapping_add(b.count);
        if b.narrow.to_bits() == half::f16::ONE.to_bits() {
            Halves { count, ..a }
        } else {
            Halves { count, ..b }
        }
    }
}

impl DeviceMonoid for LastHalf {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let body = code(
            "const unsigned count = a.count + b.count;
             Item last = b;
             if (b.narrow.bits == ONE.bits) last = a;
             last.count = count;
             return last;",
        );
        DeviceOperator::new::<Self::Item>("a", "b", body).constant("ONE", half::f16::ONE)
    }
}

/// The point nearest to a given one, the earlier on a tie; its CUDA C++ is written by hand, with
/// state and a helper.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct LeftmostNearest {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

impl Monoid for LeftmostNearest {
    type Item = Point;
    fn identity(&self) -> Point {
        Point { x: f32::INFINITY, y: f32::INFINITY, z: f32::INFINITY }
    }
    fn combine(&self, a: Point, b: Point) -> Point {
        let distance = |p: Point| {
            let (x, y, z) = (p.x - self.x, p.y - self.y, p.z - self.z);
            (x * x + y * y + z * z).sqrt()
        };
        if distance(b) < distance(a) { b } else { a }
    }
}

impl DeviceMonoid for LeftmostNearest {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        let distance = DeviceFunction::new::<f32>(
            "distance",
            code(
                "const float x = p.x - to.x, y = p.y - to.y, z = p.z - to.z;\nreturn sqrtf(x * x + y * y + z * z);",
            ),
        );
        let distance = distance.parameter::<Point>("p").parameter::<Self>("to");
        let body = code("if (distance(b, self) < distance(a, self)) return b;\nreturn a;");
        DeviceOperator::new::<Self::Item>("a", "b", body).state::<Self>().function(distance)
    }
}

/// In every lane an affine map modulo a power of two, its two coefficients in the halves of the
/// integer. The lowest bit of a factor counts as set, so that every map can be undone: associative,
/// never commutative, and every item counts.
#[derive(Clone, Copy, Default, Debug)]
pub struct Lanewise<T, const N: usize>(pub PhantomData<T>);

macro_rules! lanewise {
    ($($type:ident $half:literal;)*) => {$(
        #[monoid]
        impl<const N: usize> Monoid for Lanewise<$type, N> where [$type; N]: Sample {
            type Item = [$type; N];
            fn identity(&self) -> [$type; N] {
                [1 << $half; N]
            }
            fn combine(&self, mut left: [$type; N], right: [$type; N]) -> [$type; N] {
                const MASK: $type = (1 << $half) - 1;
                for k in 0..N {
                    let (a1, b1) = ((left[k] >> $half) | 1, left[k] & MASK);
                    let (a2, b2) = ((right[k] >> $half) | 1, right[k] & MASK);
                    left[k] = (a2.wrapping_mul(a1) << $half) | (a2.wrapping_mul(b1).wrapping_add(b2) & MASK);
                }
                left
            }
        }
    )*};
}
lanewise! { u8 4; u16 8; u32 16; u64 32; }
