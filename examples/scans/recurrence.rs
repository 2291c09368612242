//! Linear recurrences: y(k) = a(k) y(k-1) + b(k).
//!
//! A step is an affine map. Consecutive steps compose to one affine map. Composition is associative
//! and does not commute. The inclusive scan of the maps holds, at index k, the map from the first
//! value to y(k). So a loop that looks sequential runs in parallel.

use warpfold::operators::AffineComposition;
use warpfold::{Device, Error, Scan};

/// All values of the recurrence after `first`. A step is `[a, b]`.
pub fn solve(device: &Device, first: f64, steps: &[[f64; 2]]) -> Result<Vec<f64>, Error> {
    let maps = Scan::<AffineComposition<f64>>::new(device.clone()).inclusive(steps)?;
    Ok(maps.iter().map(|&[a, b]| a * first + b).collect())
}

/// Exponential smoothing: y(k) = keep y(k-1) + (1 - keep) x(k), starting from 0.
pub fn smooth(device: &Device, keep: f64, items: &[f64]) -> Result<Vec<f64>, Error> {
    let steps: Vec<[f64; 2]> = items.iter().map(|item| [keep, (1.0 - keep) * item]).collect();
    solve(device, 0.0, &steps)
}

#[test]
fn a_recurrence_is_what_the_loop_makes() {
    // The factors are 1 and -1 and the summands are integers, so nothing is rounded.
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
