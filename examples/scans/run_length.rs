//! Run-length encoding: `aaab` is three times `a`, once `b`.
//!
//! The flag of an item is 1 if it differs from the item before it, and so begins a run. The
//! inclusive scan of the flags is the number of each item's run, counted from 1. The first item of
//! a run stores its index under that number. The difference of two adjacent indices is the length
//! of a run.

use warpfold::operators::Sum;
use warpfold::{Device, Error, Scan};

/// The value and the length of each run of equal items.
pub fn encode<T: Copy + PartialEq>(device: &Device, items: &[T]) -> Result<Vec<(T, usize)>, Error> {
    let begins = |at: usize| at == 0 || items[at] != items[at - 1];
    let flags: Vec<u64> = (0..items.len()).map(|at| begins(at).into()).collect();
    let numbers = Scan::<Sum<u64>>::new(device.clone()).inclusive(&flags)?;
    let mut beginnings = vec![items.len(); numbers.last().map_or(0, |&runs| runs as usize) + 1];
    for at in (0..items.len()).filter(|&at| flags[at] == 1) {
        beginnings[numbers[at] as usize - 1] = at;
    }
    Ok(beginnings.windows(2).map(|ends| (items[ends[0]], ends[1] - ends[0])).collect())
}

#[test]
fn runs_are_counted() {
    let encode = |items: &[u8]| encode(&Device::auto(), items).expect("scans");
    assert_eq!(encode(b"aaabccccca"), [(b'a', 3), (b'b', 1), (b'c', 5), (b'a', 1)]);
    assert_eq!(encode(b""), []);
    let random: Vec<u8> = (0..100_000_u32).map(|k| (k.wrapping_mul(2_654_435_761) >> 30) as u8).collect();
    let decoded: Vec<u8> =
        encode(&random).iter().flat_map(|&(value, length)| std::iter::repeat_n(value, length)).collect();
    assert_eq!(decoded, random);
    assert!(encode(&random).windows(2).all(|runs| runs[0].0 != runs[1].0));
}
