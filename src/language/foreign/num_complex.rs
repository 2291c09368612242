use std::ops::Neg;

use num_complex::Complex;
use num_traits::{Float, Num};

use super::{bodies, by_fields, methods, of_parts};
use crate::DeviceType;
use crate::language::callee::{KnownMethod, Operator, hash, op, translated};
use crate::language::function::Translated;
use crate::language::primitive::Primitive;

by_fields! {
    #[generics(T: Number)]
    Add Sub AddAssign SubAssign: Complex<T>, Complex<T> => Complex<T>
}
by_fields! { #[generics(T: Number)] Neg: Complex<T>, () => Complex<T> }
by_fields! { #[generics(T: Number)] PartialEq: Complex<T>, Complex<T> => bool }
by_fields! { #[generics(T: Number)] Mul Div MulAssign DivAssign: Complex<T>, T => Complex<T> }
by_fields! { Mul: f32, Complex<f32> => Complex<f32> }
by_fields! { Mul: f64, Complex<f64> => Complex<f64> }

methods! {
    #[generics(T: Number)] "new" Complex<T> = of_parts::<T, Self>("new", &bodies::NEW_2);
    #[generics(T: Number + Neg<Output = T>)] "conj" Complex<T> = translated!(conjugate::<T>);
    #[generics(T: Number)] "norm_sqr" Complex<T> = translated!(square::<T>);
    #[generics(T: Number)] "scale" Complex<T> = translated!(scaled::<T>);
    #[generics(T: Number)] "unscale" Complex<T> = translated!(unscaled::<T>);
    #[generics(T: Number + Neg<Output = T>)] "inv" Complex<T> = translated!(inverse::<T>);
    #[generics(T: Number + Float)] "norm" Complex<T> = translated!(length::<T>);
    #[generics(T: Number + Float)] "arg" Complex<T> = translated!(angle::<T>);
}

#[allow(dead_code)]
#[crate::device]
fn conjugate<T: Number + Neg<Output = T>>(z: Complex<T>) -> Complex<T> {
    Complex { re: z.re, im: -z.im }
}

#[allow(dead_code)]
#[crate::device]
fn square<T: Number>(z: Complex<T>) -> T {
    z.re * z.re + z.im * z.im
}

#[allow(dead_code)]
#[crate::device]
fn scaled<T: Number>(z: Complex<T>, by: T) -> Complex<T> {
    z * by
}

#[allow(dead_code)]
#[crate::device]
fn unscaled<T: Number>(z: Complex<T>, by: T) -> Complex<T> {
    z / by
}

#[allow(dead_code)]
#[crate::device]
fn inverse<T: Number + Neg<Output = T>>(z: Complex<T>) -> Complex<T> {
    let square = square(z);
    Complex { re: z.re / square, im: -z.im / square }
}

#[allow(dead_code)]
#[crate::device]
fn length<T: Number + Float>(z: Complex<T>) -> T {
    z.re.hypot(z.im)
}

#[allow(dead_code)]
#[crate::device]
fn angle<T: Number + Float>(z: Complex<T>) -> T {
    z.im.atan2(z.re)
}

macro_rules! functions {
    ($($operator:ident $right:ty => $function:ident;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: Number> Operator<op::$operator, $right> for Complex<T> {
            const FUNCTION: Option<Translated> = translated!($function::<T>);
        }
    )*};
}
functions! {
    Mul Complex<T> => product;
    MulAssign Complex<T> => product;
    Div Complex<T> => quotient;
    DivAssign Complex<T> => quotient;
    Add T => plus_real;
    AddAssign T => plus_real;
    Sub T => minus_real;
    SubAssign T => minus_real;
}

#[allow(dead_code)]
#[crate::device]
fn product<T: Number>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    Complex { re: a.re * b.re - a.im * b.im, im: a.re * b.im + a.im * b.re }
}

#[allow(dead_code)]
#[crate::device]
fn quotient<T: Number>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let square = b.re * b.re + b.im * b.im;
    let re = a.re * b.re + a.im * b.im;
    let im = a.im * b.re - a.re * b.im;
    Complex { re: re / square, im: im / square }
}

#[allow(dead_code)]
#[crate::device]
fn plus_real<T: Number>(a: Complex<T>, b: T) -> Complex<T> {
    Complex { re: a.re + b, im: a.im }
}

#[allow(dead_code)]
#[crate::device]
fn minus_real<T: Number>(a: Complex<T>, b: T) -> Complex<T> {
    Complex { re: a.re - b, im: a.im }
}

/// The parts of a complex number.
pub trait Number: Primitive + DeviceType + Default + Num {}
impl<T: Primitive + DeviceType + Default + Num> Number for T {}
