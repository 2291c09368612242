//! Operators for tests: the built-in ones, and others that do not commute, that have state, or that
//! have items of every size.

use std::marker::PhantomData;

use warpfold::operators::*;
use warpfold::{
    DeviceCode, DeviceFunction, DeviceMonoid, DeviceOperator, DeviceType, Monoid, device, math, monoid,
};

use super::items::Halves;
use super::items::{Marked, MarkedBytes, MarkedHalves, Placed, Point, Sample, Sampler, Unit, class};

/// Visits each operator. `sampler` draws items that each affect the result.
pub trait Visitor {
    fn visit<M: DeviceMonoid>(&mut self, name: &str, operator: M, sampler: Sampler<M::Item>)
    where
        M::Item: Sample;
}

#[track_caller]
fn code(text: &'static str) -> DeviceCode {
    let caller = std::panic::Location::caller();
    // SAFETY: the bodies of this file only access their operands and their own variables.
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

/// Visits every operator of the crate, over every type.
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

/// Visits every operator of the crate, and every type at least twice.
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

/// Visits operators of structs, with state and with helpers. Most of them do not commute.
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

/// Visits an operator that does not commute, over items of 1 to 256 bytes.
pub fn sizes(visitor: &mut impl Visitor) {
    sizes! { visitor:
        u8: 1 2 3 4 5 7 8 12 16 20 24 36 48 100 101 255 256;
        u16: 1 3 7 50;
        u32: 1 2 3 4 5 6 7 9 12 25 64;
        u64: 1 2 3 4 6 32;
    }
}

/// Visits some of these: each type, and powers of two, odd sizes and large sizes.
pub fn some_sizes(visitor: &mut impl Visitor) {
    sizes! { visitor:
        u8: 1 3 16 101 256;
        u16: 3;
        u32: 1 5 12;
        u64: 2;
    }
}

/// Visits the operators that the suites of the CPU are compiled with, besides [`structs`].
///
/// For each operator the CPU's loops take a second or two to compile. With the feature
/// `every-operator`, which a full run has, all operators are visited. Without it some are visited,
/// among them each operator, each type and each kind of size.
pub fn of_cpu(visitor: &mut impl Visitor) {
    #[cfg(feature = "every-operator")]
    built_in(visitor);
    #[cfg(not(feature = "every-operator"))]
    some_built_in(visitor);
    sizes_of_cpu(visitor);
}

/// As [`of_cpu`], for operators over items of every size.
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

/// Joins two adjacent ranges. A semigroup: it has no identity.
#[derive(Clone, Copy, Default, Debug)]
pub struct Joined;

#[monoid]
impl Monoid for Joined {
    type Item = [u32; 2];
    fn identity(&self) -> [u32; 2] {
        panic!("there is none")
    }
    fn combine(&self, left: [u32; 2], right: [u32; 2]) -> [u32; 2] {
        // Ranges that are not adjacent become an empty range, which shows in the result.
        if left[1] == right[0] { [left[0], right[1]] } else { [0, 0] }
    }
}

/// The value of the last item with `found`, and the sum of the places.
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

/// Three monoids side by side, under names that C++ reserves: a sum, the last value, and a maximum.
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

/// Affine maps modulo the prime `self.modulus`; the left one is applied first. A factor of zero
/// counts as one, so each map is invertible and each item affects the result.
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

/// Not associative: each tree of the same items has another value, so only the bracket gives the
/// expected bits.
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
        /// The sum of items that all carry a mark. An operand without the mark was never an item:
        /// the GPU traps, and the CPU panics.
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

/// The last pair of half floats, and the sum of the counts. Without headers CUDA C++ has no
/// arithmetic of half floats.
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

/// The point nearest to a given one, the earlier one on a tie. Its CUDA C++ is hand-written, with
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

/// An affine map modulo a power of two in every element of the array. The two halves of an integer
/// are its coefficients.
///
/// The lowest bit of a factor counts as set, so each map is invertible. The operator is
/// associative, it never commutes, and each item affects the result.
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
