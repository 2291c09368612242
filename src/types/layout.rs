//! Layouts and values of device types, as data.

use std::any::TypeId;

/// The layout of a [`DeviceType`](crate::DeviceType) in memory, as data.
///
/// ```
/// use warpfold::{DeviceType, Layout};
///
/// let layout: Layout = <[f64; 3]>::layout();
/// assert_eq!((layout.name, layout.size, layout.align), ("[f64; 3]", 24, 8));
/// ```
#[derive(Clone, Debug)]
pub struct Layout {
    /// The Rust type.
    pub id: TypeId,
    /// The Rust type's name, with its path.
    pub name: &'static str,
    /// Size in bytes, a multiple of `align`.
    pub size: usize,
    /// Alignment in bytes, a power of two.
    pub align: usize,
    /// The structure of the type.
    pub kind: Kind,
}

impl Layout {
    /// The layout of `T` with this kind. The compiler knows the other fields.
    ///
    /// ```
    /// use warpfold::{Kind, Layout, Scalar};
    ///
    /// #[repr(transparent)]
    /// struct Celsius(f32);
    ///
    /// let layout = Layout::of::<Celsius>(Kind::Scalar(Scalar::F32));
    /// assert_eq!((layout.size, layout.align), (4, 4));
    /// ```
    pub fn of<T: 'static>(kind: Kind) -> Self {
        Self {
            id: TypeId::of::<T>(),
            name: std::any::type_name::<T>(),
            size: size_of::<T>(),
            align: align_of::<T>(),
            kind,
        }
    }
}

/// The structure of a [`Layout`].
///
/// ```
/// use warpfold::{DeviceType, Kind};
///
/// match <[u16; 4]>::layout().kind {
///     Kind::Array { element, length } => assert_eq!((element.size, length), (2, 4)),
///     kind => panic!("not an array: {kind:?}"),
/// }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Kind {
    /// A number or a `bool`.
    Scalar(Scalar),
    /// `[element; length]`.
    Array {
        /// The type of every element.
        element: Box<Layout>,
        /// Number of elements, at least 1.
        length: usize,
    },
    /// A struct.
    Struct {
        /// The fields in the order of declaration, which is the order of offsets.
        fields: Vec<Field>,
    },
    /// A tuple.
    Tuple {
        /// The parts in order. The order of their offsets may be another.
        fields: Vec<Field>,
    },
}

/// A field of a struct.
///
/// ```
/// use warpfold::{DeviceType, Kind};
///
/// #[derive(Clone, Copy, DeviceType)]
/// #[repr(C)]
/// struct Sample { time: f64, value: f32 }
///
/// let Kind::Struct { fields } = Sample::layout().kind else { panic!("not a struct") };
/// assert_eq!((fields[0].name, fields[0].offset), ("time", 0));
/// assert_eq!((fields[1].name, fields[1].offset), ("value", 8));
/// ```
#[derive(Clone, Debug)]
pub struct Field {
    /// The name in Rust; `0`, `1`, ... in a tuple or a tuple struct.
    pub name: &'static str,
    /// Offset in bytes from the start of the struct.
    pub offset: usize,
    /// The field's type.
    pub layout: Layout,
}

/// The scalar device types. `isize` and `usize` are the integers of their width.
///
/// ```
/// use warpfold::{DeviceType, Kind, Scalar};
///
/// assert!(matches!(bool::layout().kind, Kind::Scalar(Scalar::Bool)));
/// assert!(matches!(i32::layout().kind, Kind::Scalar(Scalar::I32)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[non_exhaustive]
pub enum Scalar {
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Bool,
    F32,
    F64,
    F16,
    BF16,
    /// One bit of a bitmap: see [`Bit`](crate::Bit). In an array it is one bit, and
    /// elsewhere a byte.
    Bit,
}

/// A value of a [`DeviceType`](crate::DeviceType), bit for bit.
///
/// ```
/// use warpfold::{DeviceType, Literal};
///
/// let bits = Literal::Sequence(vec![Literal::Scalar(0x3f80_0000), Literal::Scalar(0x8000_0000)]);
/// assert_eq!([1.0_f32, -0.0].literal(), bits);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Literal {
    /// A scalar's bits, zero-extended.
    Scalar(u64),
    /// The elements of an array, or the fields of a struct, in order.
    Sequence(Vec<Literal>),
}

/// The type of a value inside a body.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub enum Type {
    /// A device type that is no tuple.
    Value(Layout),
    /// A tuple. Its layout is private to the generated code.
    Tuple(Vec<Type>),
}

impl Type {
    /// The type of a variable that holds what memory has in this layout.
    pub(crate) fn of(layout: &Layout) -> Self {
        match &layout.kind {
            Kind::Tuple { fields } => {
                Self::Tuple(fields.iter().map(|field| Self::of(&field.layout)).collect())
            }
            _ => Self::Value(layout.clone()),
        }
    }

    /// Whether memory of this layout holds it.
    pub(crate) fn is_of(&self, layout: &Layout) -> bool {
        match (self, &layout.kind) {
            (Self::Tuple(parts), Kind::Tuple { fields }) => {
                parts.len() == fields.len()
                    && parts.iter().zip(fields).all(|(part, field)| part.is_of(&field.layout))
            }
            (Self::Value(of), _) => of.id == layout.id,
            _ => false,
        }
    }
}
