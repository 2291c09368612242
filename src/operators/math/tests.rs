use super::*;
use crate::DeviceType;

/// The rules of the standard, one at a time.
fn decided(a: f32, b: f32, numbers_first: bool, smaller: bool) -> f32 {
    if a.is_nan() {
        return if numbers_first { b } else { a };
    }
    if b.is_nan() {
        return if numbers_first { a } else { b };
    }
    let key = |x: f32| (x, if x == 0.0 { !x.is_sign_negative() } else { true });
    if (key(b) < key(a)) == smaller && key(a) != key(b) { b } else { a }
}

#[test]
fn every_pair_is_decided_as_the_standard_says() {
    let mut values = vec![0.0, f32::MIN_POSITIVE, f32::from_bits(1), 1.0, 1.5, f32::MAX, f32::INFINITY];
    values.extend([f32::NAN, f32::from_bits(0x7fc0_1234)]);
    values.extend(values.clone().into_iter().map(|value| -value));
    for &a in &values {
        for &b in &values {
            let same = |got: f32, numbers_first, smaller| {
                let expected = decided(a, b, numbers_first, smaller);
                assert!(DeviceType::same_bits(&got, &expected), "{a:?} and {b:?}: {got:?}, not {expected:?}");
            };
            same(minimum(a, b), false, true);
            same(maximum(a, b), false, false);
            same(minimum_number(a, b), true, true);
            same(maximum_number(a, b), true, false);
            let twice = |of: fn(f64, f64) -> f64| of(a.into(), b.into()) as f32;
            same(twice(minimum), false, true);
            same(twice(maximum), false, false);
            same(twice(minimum_number), true, true);
            same(twice(maximum_number), true, false);
        }
    }
}
