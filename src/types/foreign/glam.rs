//! Vectors, matrices, quaternions and affine maps of `glam`. Those that it stores in a SIMD register
//! have their fields through `Deref`.

use glam::*;

use super::structs;

macro_rules! vectors {
    ($($two:ident $three:ident $four:ident;)*) => { structs! { $(
        $two { x, y }
        $three { x, y, z }
        $four { x, y, z, w }
    )* } };
}
vectors! {
    Vec2 Vec3 Vec4;
    DVec2 DVec3 DVec4;
    I8Vec2 I8Vec3 I8Vec4;
    U8Vec2 U8Vec3 U8Vec4;
    I16Vec2 I16Vec3 I16Vec4;
    U16Vec2 U16Vec3 U16Vec4;
    IVec2 IVec3 IVec4;
    UVec2 UVec3 UVec4;
    I64Vec2 I64Vec3 I64Vec4;
    U64Vec2 U64Vec3 U64Vec4;
    ISizeVec2 ISizeVec3 ISizeVec4;
    USizeVec2 USizeVec3 USizeVec4;
    BVec2 BVec3 BVec4;
}

structs! {
    Vec3A { x, y, z }
    Quat { x, y, z, w }
    DQuat { x, y, z, w }
    Mat2 { x_axis, y_axis }
    DMat2 { x_axis, y_axis }
    Mat3 { x_axis, y_axis, z_axis }
    Mat3A { x_axis, y_axis, z_axis }
    DMat3 { x_axis, y_axis, z_axis }
    Mat4 { x_axis, y_axis, z_axis, w_axis }
    DMat4 { x_axis, y_axis, z_axis, w_axis }
    Affine2 { matrix2, translation }
    DAffine2 { matrix2, translation }
    Affine3 { matrix3, translation }
    Affine3A { matrix3, translation }
    DAffine3 { matrix3, translation }
}
