use std::iter::zip;
use std::ops::Range;

use super::block_prefixes::Edges;
use super::*;
use crate::cpu::reduce::tests::{Halves, Maps, Triangles};
use crate::operators::{AffineComposition, Matrix2Product, Sum};
use crate::{DeviceType, tree};

/// Bits that depend on the whole index, so that different products of items differ.
fn mixed(index: usize) -> u64 {
    let bits = (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (bits ^ (bits >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// The levels of lanes of a block of `items` items.
fn depth<T: DeviceType>(items: usize, vectors: Vectors) -> usize {
    match uses_lanes::<T>(vectors) {
        true => (0..4).take_while(|&level| items >> (3 * level) >= tile_items::<T>()).count(),
        false => 0,
    }
}

/// Sweeps several blocks with the same memory. None of them is the first block of the input.
fn is_the_scan_of_a_later_block<M: Monoid>(operator: &M, all: &[M::Item], inclusive: &[M::Item])
where
    M::Item: std::fmt::Debug,
{
    let (block, tile) = (block_items::<M::Item>(true), tile_items::<M::Item>());
    let exclusive = tree::exclusive_scan(operator, &all[..2 * block]);
    for vectors in Vectors::lesser().chain([Vectors::detected()]) {
        for streams in [false, true] {
            let mut levels = Levels::with(operator, block, streams, vectors);
            for length in [block, 21 * tile + 255, 8 * tile + 77, block, 9 * tile, tile, 11 * tile, 3, block]
            {
                let items = &all[block..][..length.min(block)];
                for (prefix, expected) in [(Prefix::Inclusive, inclusive), (Prefix::Exclusive, &exclusive)] {
                    let value = levels.up(items);
                    assert_eq!(levels.depth(), depth::<M::Item>(items.len(), vectors));
                    let after = (items.len() == block).then(|| operator.combine(inclusive[block - 1], value));
                    let edges = Edges { before: Some(inclusive[block - 1]), after };
                    let mut places = items.to_vec();
                    // SAFETY: the same items were swept up, and there are as many places.
                    unsafe { levels.down(prefix, edges, Some(items), as_places(&mut places)) };
                    let expected = &expected[block..][..items.len()];
                    let differs =
                        zip(&places, expected).position(|(got, expected)| !M::Item::same_bits(got, expected));
                    assert_eq!(differs, None, "{prefix:?} of {length} items, {vectors:?}");
                }
            }
        }
    }
}

fn is_the_scan_at_every_edge<M: Monoid>(operator: M, item: fn(usize) -> M::Item)
where
    M::Item: std::fmt::Debug,
{
    let [block, largest_block] = [false, true].map(block_items::<M::Item>);
    let edges = [block, 2 * block, 3 * block, 4 * block, 5 * block];
    let tile = tile_items::<M::Item>();
    let after = [1, 9, 16, tile - 1, tile, tile + 3, tile + 9, 8 * tile + 77, 11 * tile, 21 * tile + 255];
    let around = edges
        .into_iter()
        .flat_map(|edge| after.map(|after| edge + after).into_iter().chain([edge - 1, edge]));
    let all: Vec<M::Item> = (0..6 * block).map(item).collect();
    let inclusive = tree::inclusive_scan(&operator, &all);
    let exclusive = tree::exclusive_scan(&operator, &all);
    is_the_scan_of_a_later_block(&operator, &all, &inclusive);
    for length in (0..70).chain(after).chain(around).filter(|&length| length <= all.len()) {
        let items = &all[..length];
        for (prefix, expected) in [(Prefix::Inclusive, &inclusive), (Prefix::Exclusive, &exclusive)] {
            let check = |got: &[M::Item], how: &str| {
                assert_eq!(got.len(), length);
                let differs =
                    zip(got, expected).position(|(got, expected)| !M::Item::same_bits(got, expected));
                assert_eq!(differs, None, "{prefix:?} of {length} items, {how}");
            };
            check(&scan(&operator, prefix, items, &Items), "new memory");
            let mut places = vec![operator.identity(); length];
            scan_into(&operator, prefix, items, &Items, &mut places);
            check(&places, "given memory");
            for skipped in [0, 1, 3] {
                let (outside, line) = (operator.identity(), 64);
                let mut room = vec![outside; length + 3 * line + skipped];
                let first = line + room[line..].as_ptr().align_offset(line).min(line) + skipped;
                let places = &mut room[first..][..length];
                // SAFETY: only items are written to them.
                unsafe { scan_blocks(&operator, prefix, Some(items), &Items, as_places(places), true) };
                check(&room[first..][..length], "past the caches");
                let mut others = room[..first].iter().chain(&room[first + length..]);
                assert!(others.all(|place| M::Item::same_bits(place, &outside)), "{length} items");
            }
            let mut places = items.to_vec();
            scan_in_place(&operator, prefix, &mut places);
            check(&places, "in place");
            for vectors in Vectors::lesser().filter(|_| (tile..=largest_block).contains(&length)) {
                let streaming = [0, 1, 3].map(|skipped| (true, false, skipped));
                for (streams, in_place, skipped) in
                    [(false, false, 0), (false, true, 0)].into_iter().chain(streaming)
                {
                    let mut levels = Levels::with(&operator, length, streams, vectors);
                    let value = levels.up(items);
                    assert_eq!(levels.depth(), depth::<M::Item>(length, vectors));
                    let edges = Edges { before: None, after: length.is_power_of_two().then_some(value) };
                    let (outside, line) = (operator.identity(), 64);
                    let mut room = vec![outside; length + line + skipped];
                    let first = room.as_ptr().align_offset(line).min(line) + skipped;
                    let places = &mut room[first..][..length];
                    if in_place {
                        places.copy_from_slice(items);
                    }
                    let from = (!in_place).then_some(items);
                    // SAFETY: the same items were swept up, and there are as many places.
                    unsafe { levels.down(prefix, edges, from, as_places(places)) };
                    check(places, &format!("{vectors:?}, streams: {streams}, in place: {in_place}"));
                    let mut others = room[..first].iter().chain(&room[first + length..]);
                    assert!(others.all(|place| M::Item::same_bits(place, &outside)), "{length} items");
                }
            }
        }
    }
}

#[test]
fn places_are_prefixes() {
    is_the_scan_at_every_edge(Sum::<f32>::new(), |i| (i.wrapping_mul(0x9e37_79b9) % 1000) as f32 / 7.0);
    is_the_scan_at_every_edge(AffineComposition::<u32>::new(), |i| [mixed(i) as u32 | 1, i as u32]);
    is_the_scan_at_every_edge(AffineComposition::<u64>::new(), |i| [mixed(i) | 1, i as u64]);
    is_the_scan_at_every_edge(AffineComposition::<u8>::new(), |i| [mixed(i) as u8 | 1, i as u8]);
    is_the_scan_at_every_edge(Matrix2Product::<u32>::new(), |i| {
        [[mixed(i) as u32 | 1, 2], [i as u32, mixed(i + 1) as u32 | 1]]
    });
    is_the_scan_at_every_edge(Triangles::<u8>::new(), |i| [i as u8, mixed(i) as u8, mixed(i + 1) as u8]);
    is_the_scan_at_every_edge(Triangles::<u32>::new(), |i| [i as u32, mixed(i) as u32, mixed(i + 1) as u32]);
    is_the_scan_at_every_edge(Maps::<4>, |i| [[mixed(i) as u32 | 1, i as u32]; 4]);
    is_the_scan_at_every_edge(AffineComposition::<u16>::new(), |i| [mixed(i) as u16 | 1, i as u16]);
    is_the_scan_at_every_edge(Sum::<f64>::new(), |i| mixed(i) as f64 / 3.0);
    is_the_scan_at_every_edge(Matrix2Product::<u8>::new(), |i| {
        [[mixed(i) as u8 | 1, 2], [i as u8, mixed(i + 1) as u8 | 1]]
    });
}

/// Blocks of these items that bypass the caches have four levels of lanes. Other blocks have fewer.
#[test]
fn items_of_one_small_word_are_prefixes() {
    is_the_scan_at_every_edge(Halves::<u8>::new(), |i| mixed(i) as u8 | 0x10);
    is_the_scan_at_every_edge(Halves::<u16>::new(), |i| mixed(i) as u16 | 0x100);
}

#[test]
fn items_too_large_for_lanes_are_prefixes() {
    is_the_scan_at_every_edge(Maps::<5>, |i| [[mixed(i) as u32 | 1, i as u32]; 5]);
}

/// The first item has no prefix before it, not even the identity.
#[test]
fn the_identity_is_in_no_other_place() {
    const MARK: u32 = 1 << 31;
    /// An operator whose identity leaves a mark in results.
    #[derive(Clone, Copy)]
    struct Marked;
    impl Monoid for Marked {
        type Item = u32;
        fn identity(&self) -> u32 {
            MARK
        }
        fn combine(&self, left: u32, right: u32) -> u32 {
            (left.wrapping_add(right) & !MARK) | ((left | right) & MARK)
        }
    }
    is_the_scan_at_every_edge(Marked, |i| mixed(i) as u32 & !MARK);
}

/// The operator is only a semigroup. It has no identity, and requires that operands are neighbours.
#[test]
fn no_two_values_are_combined_but_neighbours() {
    #[derive(Clone, Copy)]
    struct Joined;
    impl Monoid for Joined {
        /// The first index, and the index after the last.
        type Item = [u32; 2];
        fn identity(&self) -> [u32; 2] {
            panic!("it has none")
        }
        fn combine(&self, left: [u32; 2], right: [u32; 2]) -> [u32; 2] {
            assert_eq!(left[1], right[0], "neighbours");
            [left[0], right[1]]
        }
    }
    let block = block_items::<[u32; 2]>(false) as u32;
    let tile = tile_items::<[u32; 2]>() as u32;
    for length in [1, 7, 8, 9, 500, tile, 8 * tile, 9 * tile + 77, block, 3 * block + 5 * tile + 3] {
        let items: Vec<[u32; 2]> = (0..length).map(|i| [i, i + 1]).collect();
        let expected: Vec<[u32; 2]> = (1..=length).map(|end| [0, end]).collect();
        assert_eq!(scan(&Joined, Prefix::Inclusive, &items[..], &Items), expected, "{length} items");
        let mut places = items.clone();
        scan_in_place(&Joined, Prefix::Inclusive, &mut places);
        assert_eq!(places, expected, "{length} items in place");
        // SAFETY: only items are written to them.
        unsafe {
            scan_blocks(&Joined, Prefix::Inclusive, Some(&items[..]), &Items, as_places(&mut places), true)
        };
        assert_eq!(places, expected, "{length} items past the caches");
        assert_eq!(crate::cpu::bracket(&Joined, &items[..]), [0, length], "{length} items reduced");
    }
}

/// Blocks may end in any order. There are more threads than a small machine has processors.
#[test]
fn blocks_come_when_they_come() {
    fn check<M: Monoid>(operator: M, item: fn(usize) -> M::Item) {
        let items: Vec<M::Item> =
            (0..100 * block_items::<M::Item>(false) + 11 * tile_items::<M::Item>() + 9).map(item).collect();
        let expected = tree::inclusive_scan(&operator, &items);
        for threads in [1, 2, 3, 16, 16] {
            let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            let scanned = threads.install(|| scan(&operator, Prefix::Inclusive, &items[..], &Items));
            let differs =
                zip(&scanned, &expected).position(|(got, expected)| !M::Item::same_bits(got, expected));
            assert_eq!(differs, None);
        }
    }
    check(AffineComposition::<u32>::new(), |i| [mixed(i) as u32 | 1, i as u32]);
    check(Sum::<f64>::new(), |i| mixed(i) as f64 / 3.0);
}

/// Elements that are not items are read on the up-sweep, and again on the down-sweep.
#[test]
fn elements_become_items() {
    /// Numbers. Each becomes a map.
    struct AsMaps<'a>(&'a [u8]);
    impl Elements<[u32; 2]> for AsMaps<'_> {
        fn length(&self) -> usize {
            self.0.len()
        }
        fn items<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<[u32; 2]>) -> &'a [[u32; 2]] {
            room.clear();
            room.extend(self.0[range].iter().map(|&number| [u32::from(number) | 1, number.into()]));
            room
        }
    }
    let operator = AffineComposition::<u32>::new();
    let block = block_items::<[u32; 2]>(false);
    let numbers: Vec<u8> = (0..9 * block + 77).map(|index| mixed(index) as u8).collect();
    let all = AsMaps(&numbers);
    let mut room = Vec::new();
    let items = all.items(0..numbers.len(), &mut room);
    let (inclusive, exclusive) =
        (tree::inclusive_scan(&operator, items), tree::exclusive_scan(&operator, items));
    for length in [0, 1, 9, block - 1, block, block + 1, 5 * block, numbers.len()] {
        let elements = AsMaps(&numbers[..length]);
        for (prefix, expected) in [(Prefix::Inclusive, &inclusive), (Prefix::Exclusive, &exclusive)] {
            assert_eq!(scan(&operator, prefix, &elements, &Items), expected[..length]);
            let mut places = vec![[0; 2]; length];
            scan_into(&operator, prefix, &elements, &Items, &mut places);
            assert_eq!(places, expected[..length]);
        }
    }
}

/// Only values that the definition combines are combined. An incomplete block has no value.
#[test]
fn a_last_part_is_combined_with_nothing_else() {
    #[derive(Clone, Copy)]
    struct Checked;
    impl Monoid for Checked {
        type Item = i32;
        fn identity(&self) -> i32 {
            0
        }
        fn combine(&self, left: i32, right: i32) -> i32 {
            left.checked_add(right).expect("the definition's sums are in range")
        }
    }
    let block = block_items::<i32>(false);
    let mut items = vec![0; block];
    items[0] = i32::MAX;
    items.extend([-1, 0, 1]);
    assert_eq!(scan(&Checked, Prefix::Inclusive, &items[..], &Items), tree::inclusive_scan(&Checked, &items));
    items.extend(vec![0; 11 * tile_items::<i32>()]);
    assert_eq!(scan(&Checked, Prefix::Inclusive, &items[..], &Items), tree::inclusive_scan(&Checked, &items));
}

/// A panic in an operator reaches the caller, and no thread waits for the one that panicked.
#[test]
fn a_panic_ends_all_threads() {
    /// Panics at one combination.
    #[derive(Clone, Copy)]
    struct Panics {
        left_from: u32,
        right: u32,
    }
    impl Monoid for Panics {
        type Item = u32;
        fn identity(&self) -> u32 {
            0
        }
        fn combine(&self, left: u32, right: u32) -> u32 {
            assert!(left < self.left_from || right != self.right, "as it should");
            left + right
        }
    }
    let mut items = vec![1; 1_000_000];
    items[100_001] = 3;
    for streams in [false, true] {
        let block = block_items::<u32>(streams) as u32;
        // On the up-sweep, for the values of blocks, and on the down-sweep.
        for (left_from, right) in [(0, 3), (block, block), (5 * block, 1)] {
            let panics = Panics { left_from, right };
            for threads in [1, 2, 4] {
                let threads = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                let mut places = vec![0; items.len()];
                // SAFETY: only items are written to them.
                let places = unsafe { as_places(&mut places) };
                let elements = Some(&items[..]);
                // SAFETY: elements are given.
                let mut scan =
                    || unsafe { scan_blocks(&panics, Prefix::Inclusive, elements, &Items, places, streams) };
                let scanned = || threads.install(&mut scan);
                let panic =
                    std::panic::catch_unwind(std::panic::AssertUnwindSafe(scanned)).expect_err("it panics");
                assert_eq!(panic.downcast_ref::<&str>(), Some(&"as it should"));
            }
        }
    }
}
