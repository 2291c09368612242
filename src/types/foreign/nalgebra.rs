//! Vectors, matrices, points and quaternions of `nalgebra`. The fields have the names that its
//! `Deref` gives them: `x` to `b` of a vector, and `m11`, `m21`, ... of a matrix, column by column.

use nalgebra::{Point, Quaternion, SMatrix, Scalar};

use crate::{DeviceType, Field, Kind, Layout, Literal, Value};

/// The most rows and columns with names.
const NAMED: usize = 6;
const COORDINATES: [&str; NAMED] = ["x", "y", "z", "w", "a", "b"];
/// The entry in row `r` and column `c`, from 0, at `c * NAMED + r`.
const ENTRIES: [&str; NAMED * NAMED] = [
    "m11", "m21", "m31", "m41", "m51", "m61", //
    "m12", "m22", "m32", "m42", "m52", "m62", //
    "m13", "m23", "m33", "m43", "m53", "m63", //
    "m14", "m24", "m34", "m44", "m54", "m64", //
    "m15", "m25", "m35", "m45", "m55", "m65", //
    "m16", "m26", "m36", "m46", "m56", "m66", //
];

/// The names of the entries in memory. None for a larger matrix.
fn names(rows: usize, columns: usize) -> Option<Vec<&'static str>> {
    match rows.min(columns) {
        _ if rows.max(columns) > NAMED => None,
        1 => Some(COORDINATES[..rows * columns].to_vec()),
        _ => {
            let columns = (0..columns).map(|column| &ENTRIES[column * NAMED..][..rows]);
            Some(columns.flatten().copied().collect())
        }
    }
}

/// A struct of entries without gaps.
fn entries<S: 'static, T: DeviceType>(names: &[&'static str]) -> Layout {
    let fields = names.iter().enumerate().map(|(position, name)| Field {
        name,
        offset: position * size_of::<T>(),
        layout: T::layout(),
    });
    Layout::of::<S>(Kind::Struct { fields: fields.collect() })
}

fn literal<T: DeviceType>(entries: &[T]) -> Literal {
    Literal::Sequence(entries.iter().map(T::literal).collect())
}

fn same_bits<T: DeviceType>(a: &[T], b: &[T]) -> bool {
    a.iter().zip(b).all(|(a, b)| T::same_bits(a, b))
}

impl<T: DeviceType + Scalar, const R: usize, const C: usize> Value for SMatrix<T, R, C> {
    type Stored = Self;
    fn from_stored(stored: Self) -> Self {
        stored
    }
}

// SAFETY: the entries lie in memory column by column, without gaps. All bits that their layouts allow
// are a matrix.
#[allow(unsafe_code)]
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType + Scalar, const R: usize, const C: usize> DeviceType for SMatrix<T, R, C> {
    fn layout() -> Layout {
        const { assert!(R > 0 && C > 0, "a matrix without entries is not a device type") };
        match names(R, C) {
            Some(names) => entries::<Self, T>(&names),
            None => {
                // The two structs are `Matrix { data: ArrayStorage(columns), .. }`.
                let one = |name, layout| Kind::Struct { fields: vec![Field { name, offset: 0, layout }] };
                let storage =
                    Layout::of::<nalgebra::ArrayStorage<T, R, C>>(one("0", <[[T; R]; C]>::layout()));
                Layout::of::<Self>(one("data", storage))
            }
        }
    }

    fn literal(&self) -> Literal {
        match names(R, C) {
            Some(_) => literal(self.as_slice()),
            None => Literal::Sequence(vec![Literal::Sequence(vec![self.data.0.literal()])]),
        }
    }

    #[inline]
    fn same_bits(a: &Self, b: &Self) -> bool {
        same_bits(a.as_slice(), b.as_slice())
    }
}

/// Implements `DeviceType` for a type that is the vector of its coordinates.
macro_rules! of_coordinates {
    ($([$($generics:tt)*] $type:ty, $names:expr;)*) => {$(
        impl<T: DeviceType + Scalar, $($generics)*> Value for $type {
            type Stored = Self;
            fn from_stored(stored: Self) -> Self {
                stored
            }
        }

        // SAFETY: the coordinates lie in memory in order, without gaps. All bits that their layouts
        // allow are a valid value.
        #[allow(unsafe_code)]
        #[diagnostic::do_not_recommend]
        unsafe impl<T: DeviceType + Scalar, $($generics)*> DeviceType for $type {
            fn layout() -> Layout {
                entries::<Self, T>($names)
            }
            fn literal(&self) -> Literal {
                literal(self.coords.as_slice())
            }
            #[inline]
            fn same_bits(a: &Self, b: &Self) -> bool {
                same_bits(a.coords.as_slice(), b.coords.as_slice())
            }
        }
    )*};
}
of_coordinates! {
    [const D: usize] Point<T, D>, {
        const { assert!(D > 0 && D <= NAMED, "a point has 1 to 6 coordinates as a device type") };
        &COORDINATES[..D]
    };
    [] Quaternion<T>, &["i", "j", "k", "w"];
}

#[cfg(test)]
mod tests {
    use nalgebra::{Matrix2x3, Quaternion, Vector2};

    use super::*;

    /// The entry under a name of the layout, which nalgebra gives by the same name.
    fn at<T: DeviceType>(value: &T, name: &str) -> Literal {
        let Kind::Struct { fields } = T::layout().kind else { panic!("not a struct") };
        let position = fields.iter().position(|field| field.name == name).expect("the name");
        let Literal::Sequence(parts) = value.literal() else { panic!("not a sequence") };
        parts[position].clone()
    }

    #[test]
    fn names_are_those_of_deref() {
        let m = Matrix2x3::new(1, 2, 3, 4, 5, 6);
        assert_eq!(
            [at(&m, "m11"), at(&m, "m21"), at(&m, "m13")],
            [m.m11, m.m21, m.m13].map(|x: i32| x.literal())
        );
        let v = Vector2::new(1_u8, 2);
        assert_eq!([at(&v, "x"), at(&v, "y")], [v.x.literal(), v.y.literal()]);
        let q = Quaternion::new(1.0_f32, 2.0, 3.0, 4.0);
        assert_eq!([at(&q, "i"), at(&q, "w")], [q.i.literal(), q.w.literal()]);
    }

    #[test]
    fn a_large_matrix_is_an_array_of_columns() {
        type Large = SMatrix<u8, 7, 2>;
        let layout = Large::layout();
        assert_eq!((layout.size, layout.align), (14, 1));
        let Kind::Struct { fields } = layout.kind else { panic!("not a struct") };
        assert_eq!(fields[0].name, "data");
    }
}
