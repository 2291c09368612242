//! Types of other crates: the fields, and the operators that act on each of them.

use std::num::Wrapping;

use glam::{
    Affine3A, BVec3, DMat3, DQuat, DVec4, I64Vec2, IVec3, Mat2, Mat4, Quat, U8Vec3, UVec4, Vec2, Vec3, Vec3A,
    Vec4,
};
use nalgebra::{Matrix3, Point3, Quaternion, RowVector4, SMatrix, Vector2, Vector3};
use num_complex::Complex;
use proptest::prelude::*;
use warpfold::operators::SumOf;
use warpfold::{Monoid, Pod, device, monoid};

use super::{Edge, Visitor};

/// Values of a type that are made of numbers.
macro_rules! edges {
    ($($type:ty: $number:ty, $count:literal, |$n:ident| $value:expr;)*) => {$(
        impl Edge for $type {
            fn strategy() -> BoxedStrategy<Self> {
                <[$number; $count]>::strategy().prop_map(|$n| $value).boxed()
            }
        }
    )*};
}
edges! {
    Wrapping<i16>: i16, 1, |n| Wrapping(n[0]);
    Wrapping<u64>: u64, 1, |n| Wrapping(n[0]);
    Complex<f32>: f32, 2, |n| Complex::new(n[0], n[1]);
    Complex<f64>: f64, 2, |n| Complex::new(n[0], n[1]);
    Vec2: f32, 2, |n| n.into();
    Vec3: f32, 3, |n| n.into();
    Vec3A: f32, 3, |n| n.into();
    Vec4: f32, 4, |n| n.into();
    DVec4: f64, 4, |n| n.into();
    Quat: f32, 4, |n| Quat::from_array(n);
    DQuat: f64, 4, |n| DQuat::from_array(n);
    Mat2: f32, 4, |n| Mat2::from_cols_array(&n);
    Mat4: f32, 16, |n| Mat4::from_cols_array(&n);
    DMat3: f64, 9, |n| DMat3::from_cols_array(&n);
    Affine3A: f32, 12, |n| Affine3A::from_cols_array(&n);
    IVec3: i32, 3, |n| n.into();
    BVec3: bool, 3, |n| n.into();
    UVec4: u32, 4, |n| n.into();
    U8Vec3: u8, 3, |n| n.into();
    I64Vec2: i64, 2, |n| n.into();
    Vector2<u16>: u16, 2, |n| n.into();
    Vector3<f32>: f32, 3, |n| n.into();
    RowVector4<i32>: i32, 4, |n| RowVector4::from_row_slice(&n);
    Point3<f64>: f64, 3, |n| n.into();
    Quaternion<f32>: f32, 4, |n| Quaternion::from_vector(n.into());
    Matrix3<f32>: f32, 9, |n| Matrix3::from_column_slice(&n);
    SMatrix<u8, 7, 3>: u8, 21, |n| SMatrix::from_column_slice(&n);
    Pod<Event>: u32, 3, |n| Pod(Event { id: n[0], parts: [n[1], n[2]] });
}

/// A type that another crate could have: it is no device type.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Event {
    id: u32,
    parts: [u32; 2],
}
// SAFETY: three integers have no padding, and all bits are valid.
unsafe impl bytemuck::Zeroable for Event {}
unsafe impl bytemuck::Pod for Event {}

/// The square of a vector's length.
#[device]
fn square(v: Vec3) -> f32 {
    v.x * v.x + v.y * v.y + v.z * v.z
}

corpus! { of_other_crates:
    wraps_i16: Wrapping<i16> = |a, b| {
        let mut sum = a + b * b - Wrapping(7);
        sum += -a;
        sum -= 3;
        if b.0 != 0 { sum = sum / b ^ !a; }
        if a < b { sum } else { Wrapping(sum.0.rotate_left(3)) }
    }
    wraps_u64: Wrapping<u64> = |a, b| {
        let shifted = (a << (b.0 as usize)) | (b >> 65);
        if a == b || a >= shifted { shifted & a } else { a % (b | Wrapping(1)) }
    }
    complex_f32: Complex<f32> = |a, b| {
        let mut z = a * b + a / b;
        z -= b;
        z *= a;
        if a == b { -z } else { z * 2.0 + a.re }
    }
    complex_f64: Complex<f64> = |a, b| {
        let z = 0.5 * a - b / 3.0 + a.conj() * b.inv();
        Complex::new(z.im, (a - b).norm_sqr() + z.scale(2.0).re - z.unscale(3.0).im)
    }
    vectors: Vec3 = |a, b| {
        let mut v = a + b * 2.0;
        v -= b / a;
        if square(v) > square(b) { v.x = a[2]; }
        if a == b { -v } else { 1.0 - v }
    }
    vectors_of_two: Vec2 = |a, b| {
        let c = Vec2 { x: a.y, y: b[0] } * b;
        Vec2::new(c.dot(a), b.length()) + Vec2::splat(c.length_squared())
    }
    vectors_by_functions: Vec3 = |a, b| {
        let normal = a.cross(b);
        if normal.length() > 1.0 { normal / normal.length_squared() } else { Vec3::new(a.dot(b), -1.0, b[1]) }
    }
    wide_vectors: DVec4 = |a, b| { DVec4::new(a.dot(b), a.length(), b.w, 1.0) - DVec4::splat(b.x) }
    aligned_vectors: Vec3A = |a, b| {
        let mut v = a * Vec3A::new(b.y, b.z, b.x);
        v.z += b[1];
        if v.x < a.y { v } else { v - a }
    }
    vectors_in_registers: Vec4 = |a, b| {
        let mut v = b;
        let mut k = 0;
        while k < 4 {
            v.w += a[k];
            k += 1;
        }
        v / a
    }
    quaternions: Quat = |a, b| {
        let mut q = a + Quat::from_xyzw(b.w, b.x, b.y, b.z);
        q.w = a.x * b.y - a.z;
        q += b;
        q *= 0.25;
        if q == a { q } else { -q * 0.5 }
    }
    wide_quaternions: DQuat = |a, b| { (a - b) / a.w }
    matrices_of_two: Mat2 = |a, b| {
        let mut m = a;
        m.x_axis += b.y_axis;
        m.y_axis.x = b.x_axis[1];
        Mat2::from_cols(b.y_axis, m.x_axis) - b
    }
    matrices: Mat4 = |a, b| {
        let mut m = a + b;
        m.w_axis = a.x_axis * b.y_axis.z;
        m.z_axis.y = -1.0;
        m /= a.w_axis.x;
        0.5 * m
    }
    wide_matrices: DMat3 = |a, b| { if a == b { -a } else { a * b.z_axis.y } }
    affine_maps: Affine3A = |a, b| {
        let mut map = a;
        map.translation += b.matrix3.y_axis;
        map.matrix3.x_axis = b.translation;
        map
    }
    bool_vectors: BVec3 = |a, b| { if a == b { !a } else { (a & b) ^ (b | BVec3::new(a.z, b.x, true)) } }
    integer_vectors: IVec3 = |a, b| { if a[1] > b[2] { (a + b) ^ a } else { a * 3 - b } }
    unsigned_vectors: UVec4 = |a, b| { (a | b) & !b }
    byte_vectors: U8Vec3 = |a, b| {
        let c = a + b;
        c * c
    }
    long_vectors: I64Vec2 = |a, b| {
        let mut c = -a;
        c += b;
        if a == b { c } else { 5 - c }
    }
    small_columns: Vector2<u16> = |a, b| { a + Vector2::new(b.y, a.x) * a[1] }
    columns: Vector3<f32> = |a, b| {
        let mut v = a - b;
        v /= b.z;
        v.x = -a[2];
        if a == b { 3.0 * v } else { v * 0.5 }
    }
    rows_of_four: RowVector4<i32> = |a, b| {
        let mut r = a;
        r.w = b[(0, 2)];
        r.x = a.y;
        r
    }
    points: Point3<f64> = |a, b| {
        let way = b - a;
        if way.x < 0.0 { a + way / 2.0 } else { Point3::new(a.z, 1.0, b.x) * a[1] }
    }
    parts_of_rotations: Quaternion<f32> = |a, b| {
        let mut q = a + b * 0.25;
        q.i = b.w;
        q.k -= a.j;
        q
    }
    matrices_by_columns: Matrix3<f32> = |a, b| {
        let mut m = a + b;
        m.m12 = a[(2, 1)] * b.m33 + a[3];
        let mut k = 0;
        while k < 3 {
            m.m31 += b[(k, 0)];
            k += 1;
        }
        -m
    }
    large_matrices: SMatrix<u8, 7, 3> = |a, b| {
        let mut m = a - b;
        let k = (a.data.0[1][3] % 21) as usize;
        m.data.0[2][6] = b[k] + a[(4, 2)];
        m
    }
    of_bytes: Pod<Event> = |a, _b| { a }
}

/// Visits the operators of this module.
pub(super) fn foreign(visitor: &mut impl Visitor) {
    of_other_crates(visitor);
    visitor.visit("sums_of_complex_f32", SumOf::<Complex<f32>>::new());
    visitor.visit("sums_of_matrices", SumOf::<Matrix3<f32>>::new());
}
