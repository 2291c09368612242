//! Linear recurrences: y(k) = a(k) y(k-1) + b(k), each value out of the one before it.
//!
//! A step is an affine map, and steps one after another are their composition, which is associative and does not commute. So the scan of
//! the maps has, at place k, the map from the first value to y(k): what looks like a loop that nobody can share is one.

use warpfold::operators::AffineComposition;
use warpfold::{Device, Error, Scan};

/// All values of the recurrence after `first`; a step is `[a, b]`.
pub fn solve(device: &Device, first: f64, steps: &[[f64; 2]]) -> Result<Vec<f64>, Error> {
    let maps = Scan::<AffineComposition<f64>>::new(device.clone()).inclusive(steps)?;
    Ok(maps.iter().map(|&[a, b]| a * first + b).collect())
}

/// The items, each drawn to the mean of those before it: y(k) = keep y(k-1) + (1 - keep) x(k), from 0.
pub fn smooth(device: &Device, keep: f64, items: &[f64]) -> Result<Vec<f64>, Error> {
    let steps: Vec<[f64; 2]> = items.iter().map(|item| [keep, (1.0 - keep) * item]).collect();
    solve(device, 0.0, &steps)
}

#[test]
fn a_recurrence_is_what_the_loop_makes() {
    // Factors of 1 and -1, and whole numbers: nothing rounds.
    let step = |k: i32| [if k % 3 == 0 { -1.0 } else { 1.0 }, f64::from(k % 7 - 3)];
    let steps: Vec<[f64; 2]> = (0..10_000).map(step).collect();
    let mut value = 5.0;
    let expected: Vec<f64> = steps
        .iter()
        .map(|[a, b]| {
            value = a * value + b;
            value
        })
        .collect();
    assert_eq!(solve(&Device::auto(), 5.0, &steps).expect("scans"), expected);
    let smoothed = smooth(&Device::auto(), 0.9, &[1.0; 1000]).expect("scans");
    assert!((smoothed[999] - 1.0).abs() < 1e-12 && smoothed[0] == 1.0 - 0.9);
}
