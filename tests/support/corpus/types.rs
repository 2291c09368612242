//! Types with methods, associated functions and operators of their own.

use std::mem::offset_of;
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, Mul, MulAssign, Neg, Not, Rem, Shl, Sub, SubAssign,
};

use proptest::prelude::*;
use warpfold::{DeviceType, Field, Kind, Layout, Literal, Monoid, Value, device, monoid};

use super::{Edge, Visitor};

/// A point, with methods of every kind of receiver.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Point {
    x: f32,
    y: f32,
}

impl Edge for Point {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(x, y)| Self { x, y }).boxed()
    }
}

#[device]
impl Point {
    /// A constant of the type, and functions without a receiver.
    const UNIT: f32 = 1.0;

    fn new(x: f32, y: f32) -> Self {
        Self { x, y }
    }
    fn both(value: f32) -> Point {
        Self::new(value, value)
    }
    fn dot(self, other: Self) -> f32 {
        self.x * other.x + self.y * other.y
    }
    fn length(&self) -> f32 {
        self.dot(*self).sqrt()
    }
    fn towards(&self, other: &Point, share: f32) -> Point {
        let Point { x, y } = *other;
        Point::new(self.x + (x - self.x) * share, self.y + (y - self.y) * share)
    }
    fn normalized(mut self) -> Self {
        let length = self.length();
        if length > Self::UNIT {
            self.x /= length;
            self.y /= length;
        }
        self
    }
    /// Names that numbers have, too.
    fn min(self, other: Self) -> Self {
        if other.length() < self.length() { other } else { self }
    }
    fn abs(&self) -> Self {
        Point::new(self.x.abs(), self.y.abs())
    }
    fn sqrt(self) -> f32 {
        Self::length(&self).sqrt()
    }
    /// A free function of the same name as a method.
    fn shrunk(self) -> Self {
        Self::new(shrunk(self.x), shrunk(self.y))
    }
    fn generic<T: Into<f32> + DeviceType>(self, share: T) -> Self
    where
        T: num_traits::AsPrimitive<f32>,
    {
        Self::new(self.x * share.as_(), self.y)
    }
    fn lanes<const N: usize>(self) -> [f32; N] {
        let mut lanes = [self.x; N];
        lanes[N - 1] = self.y;
        lanes
    }
}

#[device]
fn shrunk(x: f32) -> f32 {
    x * 0.5
}

#[device]
impl Add for Point {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { x: self.x + other.x, y: self.y + other.y }
    }
}

#[device]
impl Sub for Point {
    type Output = Point;
    fn sub(self, Point { x, y }: Point) -> Self::Output {
        Point { x: self.x - x, y: self.y - y }
    }
}

#[device]
impl Mul<f32> for Point {
    type Output = Point;
    fn mul(self, factor: f32) -> Point {
        Point::new(self.x * factor, self.y * factor)
    }
}

#[device]
impl Mul<Point> for f32 {
    type Output = Point;
    fn mul(self, point: Point) -> Point {
        point * self
    }
}

#[device]
impl Mul for Point {
    type Output = f32;
    fn mul(self, other: Point) -> f32 {
        self.dot(other)
    }
}

#[device]
impl Neg for Point {
    type Output = Self;
    fn neg(self) -> Self {
        Self::new(-self.x, -self.y)
    }
}

#[device]
impl PartialEq for Point {
    fn eq(&self, other: &Self) -> bool {
        self.x == other.x && self.y == other.y
    }
}

#[device]
impl AddAssign for Point {
    fn add_assign(&mut self, other: Self) {
        self.x += other.x;
        self.y += other.y
    }
}

#[device]
impl SubAssign for Point {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

#[device]
impl MulAssign<f32> for Point {
    fn mul_assign(&mut self, factor: f32) {
        let Point { x, y } = *self;
        *self = Self { x: x * factor, ..*self };
        self.y = y * factor;
    }
}

/// A word of bits.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(transparent)]
pub struct Bits(u32);

impl Edge for Bits {
    fn strategy() -> BoxedStrategy<Self> {
        Edge::strategy().prop_map(Self).boxed()
    }
}

macro_rules! of_bits {
    ($($operator:ident $function:ident $symbol:tt;)*) => {$(
        #[device]
        impl $operator for Bits {
            type Output = Self;
            fn $function(self, other: Self) -> Self {
                Self(self.0 $symbol other.0)
            }
        }
    )*};
}
of_bits! {
    BitAnd bitand &;
    BitOr bitor |;
    BitXor bitxor ^;
}

#[device]
impl Not for Bits {
    type Output = Bits;
    fn not(self) -> Self::Output {
        Bits(!self.0)
    }
}

#[device]
impl Shl<u32> for Bits {
    type Output = Bits;
    fn shl(self, count: u32) -> Bits {
        Bits(self.0 << count % 32)
    }
}

#[device]
impl Rem<u32> for Bits {
    type Output = u32;
    fn rem(self, by: u32) -> u32 {
        self.0 % by
    }
}

/// A complex number of any floats.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Complex<T: DeviceType> {
    re: T,
    im: T,
}

impl<T: Edge + DeviceType> Edge for Complex<T> {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(re, im)| Self { re, im }).boxed()
    }
}

#[device]
impl<T: num_traits::Float + DeviceType> Complex<T> {
    fn conjugate(self) -> Self {
        Self { re: self.re, im: -self.im }
    }
    fn norm_squared(&self) -> T {
        self.re * self.re + self.im * self.im
    }
    fn sum_of<const N: usize>(terms: [Self; N]) -> Self {
        let mut sum = terms[0];
        for k in 1..N {
            sum = sum + terms[k];
        }
        sum
    }
}

#[device]
impl<T: num_traits::Float + DeviceType> Add for Complex<T> {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { re: self.re + other.re, im: self.im + other.im }
    }
}

#[device]
impl<T: num_traits::Float + DeviceType> Mul for Complex<T> {
    type Output = Complex<T>;
    fn mul(self, other: Self) -> Self::Output {
        Complex { re: self.re * other.re - self.im * other.im, im: self.re * other.im + self.im * other.re }
    }
}

#[device]
impl<T: num_traits::Float + DeviceType> Div<T> for Complex<T> {
    type Output = Complex<T>;
    fn div(self, by: T) -> Complex<T> {
        Complex { re: self.re / by, im: self.im / by }
    }
}

/// Products of complex numbers, by generic code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Products<T>(std::marker::PhantomData<T>);

#[monoid]
impl<T: num_traits::Float + Edge + DeviceType> Monoid for Products<T> {
    type Item = Complex<T>;
    fn identity(&self) -> Complex<T> {
        Edge::example()
    }
    fn combine(&self, a: Complex<T>, b: Complex<T>) -> Complex<T> {
        let product = a * b.conjugate() + Complex::sum_of([a, b, a]);
        if product.norm_squared() < a.norm_squared() { product } else { product / a.re }
    }
}

corpus! { own:
    methods: Point = |a, b| { a.towards(&b, 0.25).normalized().shrunk() }
    methods_with_names_of_numbers: Point = |a, b| {
        let least = a.min(b).abs();
        Point::new(least.sqrt(), least.x.abs().sqrt())
    }
    functions_of_a_type: Point = |a, b| {
        let [x, _, y] = Point::lanes::<3>(a);
        Point::new(x, Point::both(y).dot(b)).towards(&Point::both(Point::UNIT), b.length())
    }
    methods_with_type_arguments: Point = |a, b| { Point::generic(a.generic(2_u8), b.x) }
    sums_of_points: Point = |a, b| { a + b * 2.0 - 0.5 * a + -b * (a * b) }
    compared_points: [Point; 2] = |a, b| {
        let same = a[0] == b[0] || a[1] != b[1];
        if same && !(a[0] != a[0]) { a } else { b }
    }
    assigned_points: [Point; 2] = |a, b| {
        let mut sums = a;
        for k in 0..2 {
            sums[k] += b[1 - k];
            sums[k] -= a[0];
        }
        let mut last = sums[1];
        last *= sums[0].x;
        sums[1] = last;
        sums
    }
    operators_of_bits: Bits = |a, b| { !(a & b) | (a ^ b) << Bits(a.0 >> 3) % 32 }
}

/// An enum, and structs that derive their comparisons.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, DeviceType)]
#[repr(i16)]
pub enum Place {
    Low = -3,
    Zero = 0,
    High = 700,
}

impl Edge for Place {
    fn strategy() -> BoxedStrategy<Self> {
        prop_oneof![Just(Self::Low), Just(Self::Zero), Just(Self::High)].boxed()
    }
}

#[device]
impl Place {
    fn opposite(self) -> Self {
        match self {
            Place::Low => Place::High,
            Self::High => Self::Low,
            Place::Zero => self,
        }
    }
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, DeviceType)]
#[repr(C)]
pub struct Ranked {
    rank: f32,
    kind: Place,
    of: i64,
}

impl Edge for Ranked {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy(), Edge::strategy())
            .prop_map(|(rank, kind, of)| Self { rank, kind, of })
            .boxed()
    }
}

#[device]
#[derive(Clone, Copy, Debug, PartialEq, DeviceType)]
#[repr(C)]
pub struct Labelled<T: DeviceType> {
    at: [T; 2],
    label: u8,
}

impl<T: Edge + DeviceType> Edge for Labelled<T> {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), 0..3_u8).prop_map(|(at, label)| Self { at, label }).boxed()
    }
}

#[device]
impl std::ops::Index<usize> for Point {
    type Output = f32;
    fn index(&self, place: usize) -> &Self::Output {
        match place {
            0 => &self.x,
            _ => {
                let _ = place;
                &self.y
            }
        }
    }
}

#[device]
impl<T: DeviceType> std::ops::Index<Place> for Labelled<T> {
    type Output = T;
    fn index(&self, kind: Place) -> &T {
        if kind == Place::Low { &self.at[0] } else { &self.at[1] }
    }
}

#[device]
impl PartialOrd for Point {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.length().partial_cmp(&other.length())
    }
}

/// Its points may be equal in order and yet differ.
#[device]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, DeviceType)]
#[repr(C)]
pub struct Farther {
    point: Point,
    label: i8,
}

impl Edge for Farther {
    fn strategy() -> BoxedStrategy<Self> {
        let point = (0..3_u8, 0..3_u8).prop_map(|(x, y)| Point::new(x.into(), y.into()));
        let any = prop_oneof![point, Edge::strategy()];
        (any, 0..3_i8).prop_map(|(point, label)| Self { point, label }).boxed()
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Pair2 {
    x: f32,
    y: f32,
}

#[device]
impl Pair2 {
    fn first(&self) -> Option<f32> {
        if self.x < self.y { Some(self.x) } else { None }
    }
}

#[derive(Clone, Copy, DeviceType)]
#[repr(C)]
struct Wrapped {
    inner: Pair2,
}

/// Its negation is a number.
#[derive(Clone, Copy, DeviceType)]
#[repr(transparent)]
struct Sign(i32);

#[device]
impl Neg for Sign {
    type Output = i16;
    fn neg(self) -> i16 {
        self.0.signum() as i16
    }
}

#[device]
fn ratio(a: i32, b: i32) -> Option<i32> {
    if b == 0 || b == -1 { None } else { Some(a / b) }
}

#[device]
fn least_of(a: Option<f32>, b: Option<f32>) -> Option<f32> {
    match (a, b) {
        (Some(a), Some(b)) if b < a => Some(b),
        (Some(_), _) => a,
        (None, b) => b,
    }
}

corpus! { more:
    enums: Place = |a, b| {
        match (a, b) {
            (Place::Low, Place::Low) => Place::Zero,
            (Place::High, other) if other as i16 > 0 => a.opposite(),
            _ if a < b && a != Place::Low => a,
            _ => if a as i64 + b as i64 == 697 { Place::High } else { b },
        }
    }
    derived_comparisons: Ranked = |a, b| {
        let rank = if a == b { 1.0 } else { a.rank };
        if a < b || b >= a { Ranked { rank, ..b } } else if a.kind > b.kind { a } else { Ranked { kind: a.kind.opposite(), ..a } }
    }
    derived_comparisons_of_arrays: Labelled<f64> = |a, b| {
        if a == b { a } else if a.at != b.at { Labelled { label: 9, ..a } } else { b }
    }
    derived_order_of_an_order: Farther = |a, b| {
        if a < b { b } else if a >= b { a } else { Farther { label: -1, ..a } }
    }
    ordered_points: [Point; 2] = |a, b| {
        let first = if a[0] <= b[0] { a[0] } else { b[0] };
        let order = a[1].x.partial_cmp(&b[1].x);
        match order {
            Some(std::cmp::Ordering::Less) => [first, a[1]],
            Some(_) => [first, b[1]],
            None => a,
        }
    }
    options: [i32; 5] = |a, b| {
        let mut out = a;
        if let Some(quotient) = ratio(a[0], b[0] % 3) { out[0] = quotient; } else { out[1] = 7 }
        let first = ratio(a[1], b[1] % 2);
        out[1] += first.unwrap_or(b[2]);
        if first.is_none() { out[2] = b[2]; } else if let Some(0 | 1) = ratio(b[2], 2) { out[2] = a[2] - 1 }
        let mut rest = a[3];
        while let Some(less) = ratio(rest, 3) {
            if less == 0 || less == 7 { break; }
            rest = less;
        }
        out[3] = rest;
        let Some(mut last) = ratio(a[4], b[4] % 2) else { return out };
        last += 1;
        out[4] = last;
        out
    }
    options_of_floats: [f32; 2] = |a, b| {
        let none: Option<f32> = None;
        let found = least_of(if a[0] > 0.0 { Some(a[0]) } else { none }, Some(b[0]));
        let Some(least) = least_of(found, none) else { return b; };
        [least, if found.is_some() { a[1] } else { b[1] }]
    }
    indexed_types: Labelled<f64> = |a, b| {
        let point = Point::new(a.at[0] as f32, 2.0);
        let kind = if a.label > 1 { Place::High } else { Place::Low };
        let x = a[kind] * b[Place::Zero];
        Labelled { at: [x, point[a.label as usize] as f64], ..a }
    }
    options_of_tuples: [u32; 3] = |a, b| {
        let both = if a[0] > b[0] { Some((a[0], b[1])) } else { None };
        let (first, second) = both.unwrap_or((7, 9));
        let Some(pair) = both else { return [first, second, 0] };
        if let Some((x, y)) = both { [x, y, pair.0] } else { [pair.0, pair.1, first] }
    }
    structs_that_are_matched: [f32; 2] = |a, b| {
        let Some(x) = Wrapped { inner: Pair2 { x: a[0], y: b[0] } }.inner.first() else { return b };
        [x, if matches!(Wrapped { inner: Pair2 { x, y: b[1] } }.inner.first(), Some(0.0..)) { a[1] } else { x }]
    }
    negated_before_a_cast: [f64; 2] = |a, b| {
        let point = Point::new(a[0] as f32, b[0] as f32);
        [(-Sign(a[1] as i32)) as f64, (-point).x as f64]
    }
    refutable_lets: [u8; 3] = |a, b| {
        let [3 | 4, first, ..] = a else { return b };
        let 7.. = b[0] else { return [first; 3] };
        [first, b[0], 1]
    }
}

/// A type of another crate, in a struct of this one.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Foreign(geometry::Vector);

mod geometry {
    /// A vector without a `DeviceType`.
    #[derive(Clone, Copy, Debug)]
    #[repr(C)]
    pub struct Vector {
        pub x: f32,
        pub y: f32,
    }
}

impl Value for Foreign {
    type Stored = Self;
    fn from_stored(stored: Self) -> Self {
        stored
    }
}
// SAFETY: the layout lists all fields at their offsets. All bits are a valid value.
unsafe impl DeviceType for Foreign {
    fn layout() -> Layout {
        let field = |name, offset| Field { name, offset, layout: f32::layout() };
        let fields =
            vec![field("x", offset_of!(geometry::Vector, x)), field("y", offset_of!(geometry::Vector, y))];
        let layout = Layout::of::<geometry::Vector>(Kind::Struct { fields });
        Layout::of::<Self>(Kind::Struct { fields: vec![Field { name: "0", offset: 0, layout }] })
    }
    fn literal(&self) -> Literal {
        Literal::Sequence(vec![Literal::Sequence(vec![self.0.x.literal(), self.0.y.literal()])])
    }
    fn same_bits(a: &Self, b: &Self) -> bool {
        f32::same_bits(&a.0.x, &b.0.x) && f32::same_bits(&a.0.y, &b.0.y)
    }
}

impl Edge for Foreign {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(x, y)| Self(geometry::Vector { x, y })).boxed()
    }
}

corpus! { foreign:
    of_another_crate: Foreign = |a, b| {
        let mut sum = a;
        sum.0.x += b.0.y;
        if sum.0.x < b.0.x { sum } else { b }
    }
}

/// Visits the operators of this module.
pub(super) fn types(visitor: &mut impl Visitor) {
    own(visitor);
    more(visitor);
    foreign(visitor);
    visitor.visit("products_of_f32", Products::<f32>::default());
    visitor.visit("products_of_f64", Products::<f64>::default());
}
