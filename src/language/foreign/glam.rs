use glam::*;

use super::by_fields;

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
        by_fields! { Add Sub: $type, $type => $type }
        by_fields! { Mul Div: $type, $number => $type }
        by_fields! { Neg: $type, () => $type }
        by_fields! { PartialEq: $type, $type => bool }
    )*)*};
}
linear! {
    f32: Quat Mat2 Mat3 Mat3A Mat4;
    f64: DQuat DMat2 DMat3 DMat4;
}
