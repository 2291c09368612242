//! Stream compaction: copies the wanted items to adjacent places, in order.
//!
//! The flag of an item is 1 if the item is wanted, and else 0. The exclusive scan of the flags
//! counts the wanted items before each item. This count is the item's index in the result, so all
//! items can be moved in parallel.

use warpfold::operators::Sum;
use warpfold::{Device, Error, Scan};

/// The items for which `wanted` returns true.
pub fn keep<T: Copy + Default>(
    device: &Device,
    items: &[T],
    wanted: impl Fn(&T) -> bool,
) -> Result<Vec<T>, Error> {
    let flags: Vec<u64> = items.iter().map(|item| wanted(item).into()).collect();
    let places = Scan::<Sum<u64>>::new(device.clone()).exclusive(&flags)?;
    let count = places.last().zip(flags.last()).map_or(0, |(place, flag)| place + flag);
    let mut kept = vec![T::default(); count as usize];
    for ((item, &place), &flag) in items.iter().zip(&places).zip(&flags) {
        if flag == 1 {
            kept[place as usize] = *item;
        }
    }
    Ok(kept)
}

#[test]
fn what_is_wanted_is_kept_in_order() {
    let numbers: Vec<u32> = (0..100_000).map(|k: u32| k.wrapping_mul(2_654_435_761) >> 7).collect();
    for modulus in [1, 2, 3, 1000, 1 << 30] {
        let expected: Vec<u32> = numbers.iter().copied().filter(|number| number % modulus == 0).collect();
        let kept = keep(&Device::auto(), &numbers, |number| number % modulus == 0).expect("scans");
        assert_eq!(kept, expected, "multiples of {modulus}");
    }
    assert!(keep(&Device::auto(), &[0_u32; 0], |_| true).expect("scans").is_empty());
}
