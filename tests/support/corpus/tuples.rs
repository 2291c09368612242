//! Tuples as items, and inside items.

use proptest::prelude::*;
use warpfold::operators::{Both, Optional, Reversed, Segmented};
use warpfold::{DeviceMonoid, DeviceOperator, DeviceType, Monoid, device, device_code, monoid};

use super::{Edge, Visitor};

#[device]
fn swapped(pair: (f32, u32)) -> (u32, f32) {
    (pair.1, pair.0)
}

#[device]
fn first_of<T: DeviceType, U: DeviceType>(pair: (T, U)) -> T {
    pair.0
}

/// A struct with tuples as fields, of which rustc orders the parts.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(C)]
pub struct Tagged {
    tag: (u8, u32, u16),
    values: [(i16, f64); 2],
}

impl Edge for Tagged {
    fn strategy() -> BoxedStrategy<Self> {
        (Edge::strategy(), Edge::strategy()).prop_map(|(tag, values)| Self { tag, values }).boxed()
    }
}

/// A struct with a tuple as its only field.
#[derive(Clone, Copy, Debug, DeviceType)]
#[repr(transparent)]
pub struct Wrapped((f32, u8));

impl Edge for Wrapped {
    fn strategy() -> BoxedStrategy<Self> {
        Edge::strategy().prop_map(Self).boxed()
    }
}

#[device]
impl Tagged {
    fn first(&self) -> (i16, f64) {
        self.values[0]
    }
    fn with(mut self, value: (i16, f64)) -> Self {
        self.values[1] = value;
        self
    }
}

const LARGEST: (u8, u64) = (u8::MAX, 1 << 40);

corpus! { tuples:
    largest_with_its_index: (f32, u32) = |a, b| {
        if b.0 > a.0 { b } else { a }
    }
    reordered_parts: (u8, f64, u16, u32, bool, i8, u64, f32) = |a, b| {
        let (tag, x, .., rest) = a;
        (tag ^ b.0, x + b.1, a.2 | b.2, a.3.wrapping_add(b.3), a.4 != b.4, b.5, a.6 & b.6, rest * 2.0)
    }
    a_part_that_changes: (u8, u64) = |a, b| {
        let mut a = a;
        a.0 = a.0.wrapping_add(b.0);
        a.1 ^= b.1;
        if a.1 == 0 { LARGEST } else { a }
    }
    a_tuple_in_a_tuple: ((u16, u64), u8) = |a, b| {
        let ((x, y), z) = a;
        let inner = (x.wrapping_add(b.0.0), y ^ b.0.1);
        (inner, first_of((z, 1_u32)))
    }
    arrays_of_tuples: [(u8, f32); 3] = |a, b| {
        let mut sum = a;
        for k in 0..3 {
            sum[k] = (a[k].0 ^ b[2 - k].0, a[k].1 + b[k].1);
        }
        let mut all = [sum[0]; 3];
        all[1] = sum[2];
        all
    }
    fields_that_are_tuples: Tagged = |a, b| {
        let Tagged { tag: (low, word, high), values } = a;
        let changed = b.with(a.first());
        let tag = if changed.values[1].0 == values[0].0 { (low, word, high) } else { b.tag };
        Tagged { tag, ..changed }
    }
    functions_of_tuples: (f32, u32) = |a, b| {
        let (bits, x) = swapped(a);
        let both = (x, bits ^ b.1);
        match both {
            (_, 0) => b,
            (x, n) if n > 7 => (x * 0.5, n),
            other => other,
        }
    }
    an_option_of_a_tuple: (u8, i32) = |a, b| {
        let chosen = if a.1 < b.1 { Some(a) } else { None };
        match chosen {
            Some((tag, n)) => (tag, n.wrapping_sub(1)),
            None => b,
        }
    }
    compared_tuples: (f32, u32) = |a, b| {
        if a < b { b } else if a == b { (0.5, a.1) } else { a }
    }
    compared_tuples_in_tuples: ((u8, f32), [i16; 2], bool) = |a, b| {
        let mark = a.1 != b.1 && a.0 >= b.0;
        if a.0 > b.0 { (a.0, b.1, mark) } else { (b.0, a.1, !mark) }
    }
    a_struct_around_a_tuple: Wrapped = |a, b| {
        let Wrapped((x, mark)) = b;
        Wrapped((a.0.0 + x, mark ^ a.0.1))
    }
    new_tuples_in_an_array: [(f32, u8); 3] = |a, b| {
        let mut all = [(a[0].0 * 2.0, b[1].1); 3];
        all[2] = (b[2].0, 7);
        all
    }
    loops_over_tuples: (u16, u32) = |a, b| {
        let mut state = a;
        let mut steps = 0_u16;
        while steps < 4 {
            state = (state.0.rotate_left(3), state.1.wrapping_mul(3).wrapping_add(b.1));
            steps += 1;
        }
        core::mem::swap(&mut state.0, &mut steps);
        state
    }
}

/// An operator of tuples that is written by hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct ByHand;

impl Monoid for ByHand {
    type Item = (u8, u32);
    fn identity(&self) -> (u8, u32) {
        (0, 0)
    }
    fn combine(&self, a: (u8, u32), b: (u8, u32)) -> (u8, u32) {
        if b.0 > a.0 { b } else { (a.0, a.1 ^ b.1) }
    }
}

impl DeviceMonoid for ByHand {
    const EXACT: bool = true;
    fn device_operator() -> DeviceOperator {
        // SAFETY: the body terminates, uses only its parameters and returns a valid tuple.
        let body = unsafe {
            device_code!("if (b._0 > a._0) return b; Item& both = a; both._1 ^= b._1; return both;")
        };
        DeviceOperator::new::<(u8, u32)>("a", "b", body)
    }
}

/// Operators around one whose items are tuples.
pub(super) fn combined(visitor: &mut impl Visitor) {
    let (inner, other) = (largest_with_its_index {}, reordered_parts {});
    visitor.visit("tuples_by_hand", ByHand);
    visitor.visit("reversed_tuples_by_hand", Reversed(ByHand));
    visitor.visit("optional_tuples", Optional(inner));
    visitor.visit("both_of_tuples", Both(inner, other));
    visitor.visit("reversed_tuples", Reversed(other));
    visitor.visit("segmented_tuples", Segmented(a_tuple_in_a_tuple {}));
}
