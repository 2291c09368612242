//! Comparison up to rounding, and magnitudes of items.

use crate::{DeviceType, Kind, Layout, Literal, Scalar};

/// Whether two values of one type are equal, where finite floats may differ by at most `most`.
pub(super) fn close(layout: &Layout, a: &Literal, b: &Literal, most: f64) -> bool {
    match (a, b) {
        (Literal::Scalar(x), Literal::Scalar(y)) => match (float(layout, *x), float(layout, *y)) {
            (Some(x), Some(y)) if x.is_finite() && y.is_finite() => (x - y).abs() <= most,
            (Some(x), Some(y)) => x == y || (x.is_nan() && y.is_nan()),
            _ => x == y,
        },
        (Literal::Sequence(xs), Literal::Sequence(ys)) => xs
            .iter()
            .zip(ys)
            .enumerate()
            .all(|(i, (x, y))| part(layout, i).is_some_and(|part| close(part, x, y, most))),
        _ => false,
    }
}

fn part(layout: &Layout, index: usize) -> Option<&Layout> {
    match &layout.kind {
        Kind::Scalar(_) => None,
        Kind::Array { element, .. } => Some(element),
        Kind::Struct { fields } | Kind::Tuple { fields } => fields.get(index).map(|field| &field.layout),
    }
}

fn float(layout: &Layout, bits: u64) -> Option<f64> {
    match layout.kind {
        Kind::Scalar(Scalar::F32) => Some(f32::from_bits(bits as u32).into()),
        Kind::Scalar(Scalar::F64) => Some(f64::from_bits(bits)),
        #[cfg(feature = "half")]
        Kind::Scalar(Scalar::F16) => Some(half::f16::from_bits(bits as u16).into()),
        #[cfg(feature = "half")]
        Kind::Scalar(Scalar::BF16) => Some(half::bf16::from_bits(bits as u16).into()),
        _ => None,
    }
}

/// The largest absolute value among the finite floats of an item.
fn magnitude<T: DeviceType>(item: &T) -> f64 {
    fn largest(layout: &Layout, literal: &Literal) -> f64 {
        match literal {
            Literal::Scalar(bits) => {
                float(layout, *bits).map(f64::abs).filter(|value| value.is_finite()).unwrap_or(0.0)
            }
            Literal::Sequence(parts) => parts
                .iter()
                .enumerate()
                .filter_map(|(i, literal)| part(layout, i).map(|layout| largest(layout, literal)))
                .fold(0.0, f64::max),
        }
    }
    largest(&T::layout(), &item.literal())
}

/// The sum of the items' magnitudes: a magnitude for operators that add.
///
/// ```
/// use warpfold::laws::sum_of_magnitudes;
///
/// assert_eq!(sum_of_magnitudes(&[1.5, -2.0, 0.25]), 3.75);
/// // The magnitude of an array is that of its largest element.
/// assert_eq!(sum_of_magnitudes(&[[3.0, -4.0], [0.5, 0.0]]), 4.5);
/// ```
pub fn sum_of_magnitudes<T: DeviceType>(items: &[T]) -> f64 {
    items.iter().map(magnitude).sum()
}

/// The product of `1 + 2m` over the items' magnitudes `m`: a magnitude for operators that multiply,
/// matrices included.
///
/// ```
/// use warpfold::laws::product_of_magnitudes;
///
/// // (1 + 2 * 0.5) * (1 + 2 * 1.0)
/// assert_eq!(product_of_magnitudes(&[0.5, -1.0]), 6.0);
/// ```
pub fn product_of_magnitudes<T: DeviceType>(items: &[T]) -> f64 {
    items.iter().map(|item| 1.0 + 2.0 * magnitude(item)).product()
}
