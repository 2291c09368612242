//! Cuts a sausage into pieces of given lengths. At which positions are the cuts?
//!
//! A cut is at the sum of the lengths of all pieces up to it, so the inclusive scan of the lengths
//! gives all cuts. One cook can measure the pieces in sequence. Many cooks at once need the scan.

use warpfold::operators::Sum;
use warpfold::{Device, Error, Scan};

/// The ends of the pieces, and the length that is left. Pieces beyond the end of the sausage end
/// with it.
pub fn cut(device: &Device, length: u32, pieces: &[u32]) -> Result<(Vec<u32>, u32), Error> {
    let mut cuts = Scan::<Sum<u32>>::new(device.clone()).inclusive(pieces)?;
    cuts.iter_mut().for_each(|cut| *cut = length.min(*cut));
    let left = length - cuts.last().unwrap_or(&0);
    Ok((cuts, left))
}

#[test]
fn ten_guests_are_served() {
    let (cuts, left) = cut(&Device::auto(), 100, &[3, 5, 2, 7, 28, 4, 3, 0, 8, 1]).expect("scans");
    assert_eq!(cuts, [3, 8, 10, 17, 45, 49, 52, 52, 60, 61]);
    assert_eq!(left, 39);
    assert_eq!(cut(&Device::auto(), 10, &[6, 6, 6]).expect("scans"), (vec![6, 10, 10], 0));
    assert_eq!(cut(&Device::auto(), 10, &[]).expect("scans"), (vec![], 10));
}
