use glam::*;

use super::{bodies, by_fields, methods, of_parts};
use crate::language::callee::{KnownMethod, hash, translated};
use crate::language::function::Translated;

macro_rules! constructor {
    ($number:ty, $vector:ty, $new:ident) => {
        methods! {
            "new" $vector = of_parts::<$number, Self>("new", &bodies::$new);
            "splat" $vector = of_parts::<$number, Self>("splat", &bodies::SPLAT);
        }
    };
}
macro_rules! constructors {
    ($($number:ty: $two:ty, $three:ty, $four:ty;)*) => {$(
        constructor! { $number, $two, NEW_2 }
        constructor! { $number, $three, NEW_3 }
        constructor! { $number, $four, NEW_4 }
    )*};
}
constructors! {
    f32: Vec2, Vec3, Vec4;
    f64: DVec2, DVec3, DVec4;
    i8: I8Vec2, I8Vec3, I8Vec4;
    u8: U8Vec2, U8Vec3, U8Vec4;
    i16: I16Vec2, I16Vec3, I16Vec4;
    u16: U16Vec2, U16Vec3, U16Vec4;
    i32: IVec2, IVec3, IVec4;
    u32: UVec2, UVec3, UVec4;
    i64: I64Vec2, I64Vec3, I64Vec4;
    u64: U64Vec2, U64Vec3, U64Vec4;
    isize: ISizeVec2, ISizeVec3, ISizeVec4;
    usize: USizeVec2, USizeVec3, USizeVec4;
    bool: BVec2, BVec3, BVec4;
}
constructor! { f32, Vec3A, NEW_3 }
methods! {
    "from_xyzw" Quat = of_parts::<f32, Self>("from_xyzw", &bodies::NEW_4);
    "from_xyzw" DQuat = of_parts::<f64, Self>("from_xyzw", &bodies::NEW_4);
    "from_cols" Mat2 = of_parts::<Vec2, Self>("from_cols", &bodies::NEW_2);
    "from_cols" Mat3 = of_parts::<Vec3, Self>("from_cols", &bodies::NEW_3);
    "from_cols" Mat3A = of_parts::<Vec3A, Self>("from_cols", &bodies::NEW_3);
    "from_cols" Mat4 = of_parts::<Vec4, Self>("from_cols", &bodies::NEW_4);
    "from_cols" DMat2 = of_parts::<DVec2, Self>("from_cols", &bodies::NEW_2);
    "from_cols" DMat3 = of_parts::<DVec3, Self>("from_cols", &bodies::NEW_3);
    "from_cols" DMat4 = of_parts::<DVec4, Self>("from_cols", &bodies::NEW_4);
}

/// Products of vectors that `glam` computes alike on every processor.
macro_rules! products {
    ($($module:ident $vector:ty, $number:ty, |$a:ident, $b:ident| $dot:expr;)*) => {$(
        mod $module {
            use super::*;

            methods! {
                "dot" $vector = translated!(dot);
                "length_squared" $vector = translated!(length_squared);
                "length" $vector = translated!(length);
            }

            #[allow(dead_code)]
            #[crate::device]
            fn dot($a: $vector, $b: $vector) -> $number {
                $dot
            }

            #[allow(dead_code)]
            #[crate::device]
            fn length_squared(a: $vector) -> $number {
                dot(a, a)
            }

            #[allow(dead_code)]
            #[crate::device]
            fn length(a: $vector) -> $number {
                dot(a, a).sqrt()
            }
        }
    )*};
}
products! {
    vec2 Vec2, f32, |a, b| a.x * b.x + a.y * b.y;
    vec3 Vec3, f32, |a, b| a.x * b.x + a.y * b.y + a.z * b.z;
    dvec2 DVec2, f64, |a, b| a.x * b.x + a.y * b.y;
    dvec3 DVec3, f64, |a, b| a.x * b.x + a.y * b.y + a.z * b.z;
    dvec4 DVec4, f64, |a, b| a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

methods! {
    "cross" Vec3 = translated!(cross);
    "cross" DVec3 = translated!(wide_cross);
}

#[allow(dead_code)]
#[crate::device]
fn cross(a: Vec3, b: Vec3) -> Vec3 {
    Vec3 { x: a.y * b.z - b.y * a.z, y: a.z * b.x - b.z * a.x, z: a.x * b.y - b.x * a.y }
}

#[allow(dead_code)]
#[crate::device]
fn wide_cross(a: DVec3, b: DVec3) -> DVec3 {
    DVec3 { x: a.y * b.z - b.y * a.z, y: a.z * b.x - b.z * a.x, z: a.x * b.y - b.x * a.y }
}

macro_rules! floats {
    ($($number:ty: $($type:ty)*;)*) => {$($(
        by_fields! { Add Sub Mul Div AddAssign SubAssign MulAssign DivAssign: $type, $type => $type }
        by_fields! { Add Sub Mul Div AddAssign SubAssign MulAssign DivAssign: $type, $number => $type }
        by_fields! { Add Sub Mul Div: $number, $type => $type }
        by_fields! { Neg: $type, () => $type }
        by_fields! { PartialEq: $type, $type => bool }
        by_fields! { Index: $type, usize => $number }
    )*)*};
}
floats! {
    f32: Vec2 Vec3 Vec3A Vec4;
    f64: DVec2 DVec3 DVec4;
}

macro_rules! integers {
    ($($number:ty: $($type:ty)*;)*) => {$($(
        by_fields! {
            Add Sub Mul Div Rem AddAssign SubAssign MulAssign DivAssign RemAssign BitAnd BitOr BitXor:
            $type, $type => $type
        }
        by_fields! {
            Add Sub Mul Div Rem AddAssign SubAssign MulAssign DivAssign RemAssign BitAnd BitOr BitXor:
            $type, $number => $type
        }
        by_fields! { Add Sub Mul Div Rem: $number, $type => $type }
        by_fields! { Not: $type, () => $type }
        by_fields! { PartialEq: $type, $type => bool }
        by_fields! { Index: $type, usize => $number }
    )*)*};
}
integers! {
    i8: I8Vec2 I8Vec3 I8Vec4;
    u8: U8Vec2 U8Vec3 U8Vec4;
    i16: I16Vec2 I16Vec3 I16Vec4;
    u16: U16Vec2 U16Vec3 U16Vec4;
    i32: IVec2 IVec3 IVec4;
    u32: UVec2 UVec3 UVec4;
    i64: I64Vec2 I64Vec3 I64Vec4;
    u64: U64Vec2 U64Vec3 U64Vec4;
    isize: ISizeVec2 ISizeVec3 ISizeVec4;
    usize: USizeVec2 USizeVec3 USizeVec4;
}

macro_rules! negative {
    ($($type:ty)*) => {$( by_fields! { Neg: $type, () => $type } )*};
}
negative! {
    I8Vec2 I8Vec3 I8Vec4 I16Vec2 I16Vec3 I16Vec4 IVec2 IVec3 IVec4 I64Vec2 I64Vec3 I64Vec4
    ISizeVec2 ISizeVec3 ISizeVec4
}

// Products of these are no products of their fields.
macro_rules! linear {
    ($($number:ty: $($type:ty)*;)*) => {$($(
        by_fields! { Add Sub AddAssign SubAssign: $type, $type => $type }
        by_fields! { Mul Div MulAssign DivAssign: $type, $number => $type }
        by_fields! { Mul: $number, $type => $type }
        by_fields! { Neg: $type, () => $type }
        by_fields! { PartialEq: $type, $type => bool }
    )*)*};
}
linear! {
    f32: Quat Mat2 Mat3 Mat3A Mat4;
    f64: DQuat DMat2 DMat3 DMat4;
}

macro_rules! booleans {
    ($($type:ty)*) => {$(
        by_fields! { BitAnd BitOr BitXor: $type, $type => $type }
        by_fields! { Not: $type, () => $type }
        by_fields! { PartialEq: $type, $type => bool }
    )*};
}
booleans! { BVec2 BVec3 BVec4 }
