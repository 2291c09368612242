use std::marker::PhantomData;

use super::*;
use crate::operators::{AffineComposition, Integer, Matrix2Product, Number, Sum};
use crate::tree;

/// `N` affine maps. Not commutative.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Maps<const N: usize>;

impl<const N: usize> Monoid for Maps<N> {
    type Item = [[u32; 2]; N];
    fn identity(&self) -> Self::Item {
        [[1, 0]; N]
    }
    fn combine(&self, left: Self::Item, right: Self::Item) -> Self::Item {
        std::array::from_fn(|k| AffineComposition::new().combine(left[k], right[k]))
    }
}

/// An affine map in one integer, with one coefficient in each half. Not commutative.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Halves<T>(PhantomData<T>);

impl<T> Halves<T> {
    pub(in crate::cpu) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Integer> Monoid for Halves<T> {
    type Item = T;
    fn identity(&self) -> T {
        T::ONE << (4 * size_of::<T>())
    }
    fn combine(&self, left: T, right: T) -> T {
        let bits = 4 * size_of::<T>();
        let lower = (T::ONE << bits) - T::ONE;
        let [[a, b], [c, d]] = [left, right].map(|map| [map >> bits, map & lower]);
        (a.times(c) << bits) | (b.times(c).plus(d) & lower)
    }
}

/// Upper triangular 3 x 3 matrices with ones on the diagonal, stored as three numbers. Not
/// commutative.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Triangles<T>(PhantomData<T>);

impl<T> Triangles<T> {
    pub(in crate::cpu) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T: Integer> Monoid for Triangles<T> {
    type Item = [T; 3];
    fn identity(&self) -> [T; 3] {
        [T::ZERO; 3]
    }
    fn combine(&self, [a, b, c]: [T; 3], [d, e, f]: [T; 3]) -> [T; 3] {
        [a.plus(d), b.plus(e), c.plus(f).plus(a.times(e))]
    }
}

/// An odd number. Multiplication by it is invertible, so every item affects the result.
fn odd(index: usize) -> u64 {
    (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29) | 1
}

fn affine<T: Integer>(index: usize) -> [T; 2] {
    let half = |value: u64| T::from(value & 0x7f).expect("it has seven bits");
    [half(odd(index)), half(odd(index) >> 20)]
}

fn is_the_bracket_at_every_edge<M: Monoid>(operator: M, item: fn(usize) -> M::Item) {
    let items_of = |bytes: usize| items_of::<M::Item>(bytes);
    let block = Elements::<M::Item>::block(&[][..]);
    let mut lengths: Vec<usize> = (0..70).collect();
    let tile = tile_items::<M::Item>();
    let edges = [RUN, tile, RUN * tile, items_of(PART_BYTES), block];
    for edge in edges {
        for multiple in [1, 2, 3, 5] {
            lengths.extend([edge * multiple - 1, edge * multiple, edge * multiple + 1]);
        }
        lengths.extend([edge + 9, edge + tile + 17]);
    }
    let all: Vec<M::Item> = (0..6 * block).map(item).collect();
    let suit = rows::fits_lanes(&M::Item::layout());
    let mut of_many_blocks = Brackets::new(&operator, suit);
    for length in lengths.into_iter().filter(|&length| length <= all.len()) {
        let (items, expected) = (&all[..length], tree::bracket(&operator, &all[..length]));
        let check = |got: M::Item, what: &str| {
            assert!(M::Item::same_bits(&got, &expected), "{length} items, {what}");
        };
        check(bracket(&operator, items), "blocks");
        if length > 0 {
            check(of_many_blocks.bracket(items), "one thread");
            for vectors in Vectors::lesser() {
                let mut brackets = Brackets { vectors, ..Brackets::new(&operator, suit) };
                check(brackets.bracket(items), &format!("{vectors:?}"));
            }
            check(Brackets::new(&operator, false).bracket(items), "pairs");
        }
    }
}

/// Each level is allocated once: threads whose vectors grow wait for each other in the allocator.
#[test]
fn no_level_grows() {
    grows_not(1_u32);
    grows_not(1_u8);
}

fn grows_not<T: Number>(item: T) {
    let tile = tile_items::<T>();
    for length in [2, 9, tile - 1, tile, 8 * tile + 77, 64 * tile - 1, 77 * tile + 3] {
        let (operator, items) = (Sum::<T>::new(), vec![item; length]);
        let mut brackets = Brackets::new(&operator, true);
        if !brackets.vectors.have_lanes() {
            continue;
        }
        brackets.bracket(&items);
        let mut values = length;
        for level in &brackets.levels {
            let expected = if values == 1 { 0 } else { values.div_ceil(RUN).min(tile) };
            assert_eq!(level.capacity(), expected, "{length} items");
            values = values.div_ceil(RUN);
        }
    }
}

#[test]
fn words_of_every_size_are_the_bracket() {
    is_the_bracket_at_every_edge(AffineComposition::<u8>::new(), affine);
    is_the_bracket_at_every_edge(AffineComposition::<u16>::new(), affine);
    is_the_bracket_at_every_edge(AffineComposition::<u32>::new(), affine);
    is_the_bracket_at_every_edge(AffineComposition::<u64>::new(), affine);
    is_the_bracket_at_every_edge(Halves::<u8>::new(), |i| odd(i) as u8);
    is_the_bracket_at_every_edge(Halves::<u16>::new(), |i| odd(i) as u16);
}

#[test]
fn floats_are_added_in_the_order_of_the_bracket() {
    is_the_bracket_at_every_edge(Sum::<f32>::new(), |i| (odd(i) >> 40) as f32 / 3.0);
    is_the_bracket_at_every_edge(Sum::<f64>::new(), |i| (odd(i) >> 11) as f64 / 3.0);
}

#[test]
fn items_of_many_words_are_the_bracket() {
    is_the_bracket_at_every_edge(Matrix2Product::<u8>::new(), |i| [affine(i), affine(i + 1)]);
    is_the_bracket_at_every_edge(Matrix2Product::<u16>::new(), |i| [affine(i), affine(i + 1)]);
    is_the_bracket_at_every_edge(Triangles::<u8>::new(), |i| {
        odd(i).to_le_bytes()[..3].try_into().expect("three")
    });
    is_the_bracket_at_every_edge(Triangles::<u32>::new(), |i| [odd(i) as u32, i as u32, odd(i + 1) as u32]);
    is_the_bracket_at_every_edge(Maps::<3>, |i| std::array::from_fn(|k| affine(3 * i + k)));
    is_the_bracket_at_every_edge(Maps::<4>, |i| std::array::from_fn(|k| affine(4 * i + k)));
}

#[test]
fn items_too_large_for_lanes_are_the_bracket() {
    is_the_bracket_at_every_edge(Maps::<5>, |i| std::array::from_fn(|k| affine(5 * i + k)));
    is_the_bracket_at_every_edge(Maps::<32>, |i| std::array::from_fn(|k| affine(32 * i + k)));
}

#[test]
fn padding_keeps_items_out_of_lanes() {
    #[derive(Clone, Copy, DeviceType)]
    #[repr(C)]
    struct Padded {
        small: u8,
        large: u32,
    }
    assert!(!rows::fits_lanes(&Padded::layout()));
    assert!(rows::fits_lanes(&<[[f32; 2]; 2]>::layout()));
}
