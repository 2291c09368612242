use std::any::TypeId;
use std::mem::offset_of;

use super::held::{Describes, Held};

/// Plain old data with the same layout in Rust and CUDA C++.
///
/// Derive it with `#[derive(DeviceType)]` for a `#[repr(C)]` or `#[repr(transparent)]` struct whose
/// fields are device types. The crate implements it for:
///
/// | types | feature |
/// | --- | --- |
/// | `i8` to `i64`, `u8` to `u64`, `isize`, `usize`, `bool`, `f32` and `f64` | |
/// | arrays of device types, tuples of 2 to 8 device types, and [`Wrapping`](std::num::Wrapping) of a number | |
/// | `half::{f16, bf16}` | `half` |
/// | `num_complex::Complex` | `num-complex` |
/// | vectors, matrices, quaternions and affine maps of `glam` 0.34 | `glam` |
/// | `SMatrix` with its vectors, `Point` and `Quaternion` of `nalgebra` 0.35 | `nalgebra` |
/// | `Pod<T>` of a `bytemuck::Pod` type `T` | `bytemuck` |
///
/// A type describes itself as data. The renderer turns the description into CUDA
/// C++. The rendered source asserts that size, alignment and offsets are those of Rust. The offsets of
/// the parts of a tuple are those that rustc chose.
///
/// # Safety
///
/// 1. [`layout`](Self::layout) describes every field of `Self`, at its offset. Otherwise a kernel
///    could read uninitialised memory.
/// 2. All bits that the layout allows are a valid `Self` (for a `bool`: 0 and 1). Kernels compute
///    with the layout and know no other rule. An enum without fields is the exception: translated
///    code has no arithmetic for it, so 0 and the values of Rust are all that a kernel has.
/// 3. [`literal`](Self::literal) and [`same_bits`](Self::same_bits) follow the layout.
///
/// ```
/// use std::mem::offset_of;
/// use warpfold::{DeviceType, Field, Kind, Layout, Literal, Value};
///
/// #[derive(Clone, Copy)]
/// #[repr(C)]
/// struct Point { x: f32, y: f32 }
///
/// impl Value for Point {
///     type Stored = Self;
///     fn from_stored(stored: Self) -> Self { stored }
/// }
/// // SAFETY: the layout lists both fields at their offsets. All bits are a valid `Point`.
/// unsafe impl DeviceType for Point {
///     fn layout() -> Layout {
///         let field = |name, offset| Field { name, offset, layout: f32::layout() };
///         let fields = vec![field("x", offset_of!(Self, x)), field("y", offset_of!(Self, y))];
///         Layout::of::<Self>(Kind::Struct { fields })
///     }
///     fn literal(&self) -> Literal {
///         Literal::Sequence(vec![self.x.literal(), self.y.literal()])
///     }
///     fn same_bits(a: &Self, b: &Self) -> bool {
///         f32::same_bits(&a.x, &b.x) && f32::same_bits(&a.y, &b.y)
///     }
/// }
///
/// assert_eq!(<[Point; 3]>::layout().size, 24);
/// ```
///
/// # A type of another crate
///
/// A struct of yours around it takes its place. Its layout names the fields inside, so that bodies
/// can read them:
///
/// ```
/// use std::mem::offset_of;
/// use warpfold::operators::Max;
/// use warpfold::{Aggregate, Device, DeviceType, Field, Kind, Layout, Literal, Reduction, Value, aggregate};
///
/// mod geometry {
///     /// A vector, with two coordinates.
///     #[derive(Clone, Copy, Debug)]
///     #[repr(C)]
///     pub struct Vector { pub x: f32, pub y: f32 }
/// }
///
/// #[derive(Clone, Copy, Debug)]
/// #[repr(transparent)]
/// struct Vector(geometry::Vector);
///
/// impl Value for Vector {
///     type Stored = Self;
///     fn from_stored(stored: Self) -> Self { stored }
/// }
/// // SAFETY: the layout lists all fields at their offsets. All bits are a valid `Vector`.
/// unsafe impl DeviceType for Vector {
///     fn layout() -> Layout {
///         let field = |name, offset| Field { name, offset, layout: f32::layout() };
///         let fields = vec![
///             field("x", offset_of!(geometry::Vector, x)),
///             field("y", offset_of!(geometry::Vector, y)),
///         ];
///         let layout = Layout::of::<geometry::Vector>(Kind::Struct { fields });
///         Layout::of::<Self>(Kind::Struct { fields: vec![Field { name: "0", offset: 0, layout }] })
///     }
///     fn literal(&self) -> Literal {
///         Literal::Sequence(vec![Literal::Sequence(vec![self.0.x.literal(), self.0.y.literal()])])
///     }
///     fn same_bits(a: &Self, b: &Self) -> bool {
///         f32::same_bits(&a.0.x, &b.0.x) && f32::same_bits(&a.0.y, &b.0.y)
///     }
/// }
///
/// /// The greatest square of a length.
/// #[derive(Clone, Copy, Default)]
/// struct Longest;
///
/// #[aggregate]
/// impl Aggregate for Longest {
///     type Input = Vector;
///     type Monoid = Max<f32>;
///     type Output = f32;
///     fn prepare(&self, _: u64, v: Vector) -> f32 { v.0.x * v.0.x + v.0.y * v.0.y }
///     fn present(&self, longest: f32, _: u64) -> f32 { longest }
/// }
///
/// let vectors = [(3.0, 4.0), (1.0, 0.0)].map(|(x, y)| Vector(geometry::Vector { x, y }));
/// assert_eq!(Reduction::<Longest>::new(Device::auto()).run(&vectors)?, 25.0);
/// # Ok::<(), warpfold::Error>(())
/// ```
///
/// The safe way is a `#[repr(C)]` struct of your own with the same fields, and a conversion.
///
/// `clone_htod` and `alloc` of cudarc require its trait `DeviceRepr`, which `#[derive(DeviceType)]`
/// implements as well. [`Device::upload`](crate::Device::upload) copies any device type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device type",
    label = "its layout is not known to CUDA C++",
    note = "device types are the integers up to 64 bits, `bool`, `f32`, `f64`, arrays and tuples of device types, and `#[repr(C)]` structs that derive `DeviceType`; types of `glam`, `nalgebra`, `num-complex` and `half` need warpfold's feature of that name"
)]
#[allow(unsafe_code)]
pub unsafe trait DeviceType: Value<Stored: Held<Self> + Describes<Self>> {
    /// Whether arrays of it are bitmaps.
    #[doc(hidden)]
    const IS_BIT: bool = false;

    /// The layout of the type in memory.
    fn layout() -> Layout;

    /// The value, bit for bit, in the structure of its layout.
    fn literal(&self) -> Literal;

    /// Whether two values are the same in every field. Padding is ignored, and all NaNs are equal.
    fn same_bits(a: &Self, b: &Self) -> bool;
}

/// A result of an [`Aggregate`](crate::Aggregate).
///
/// A result on the host is of this type. Device memory holds [`Stored`](Self::Stored) instead:
///
/// | result | in device memory |
/// | --- | --- |
/// | a [`DeviceType`] | the type itself |
/// | `Option<V>` of a result | [`Maybe`](crate::Maybe) of `V` in device memory |
/// | a tuple of 2 to 8 results | [`Tuple2`](crate::Tuple2) to [`Tuple8`](crate::Tuple8) of what they are in device memory |
///
/// ```
/// use warpfold::{Maybe, Value};
///
/// fn bytes<V: Value>() -> usize { size_of::<V::Stored>() }
/// assert_eq!(bytes::<f32>(), 4);
/// assert_eq!(bytes::<Option<f64>>(), size_of::<Maybe<f64>>());
/// ```
pub trait Value: Copy + Send + Sync + 'static {
    /// The type in device memory.
    type Stored: DeviceType;

    /// The result that device memory holds as `stored`.
    ///
    /// ```
    /// use warpfold::{Maybe, Value};
    ///
    /// assert_eq!(Option::<f32>::from_stored(Maybe::from(Some(1.5))), Some(1.5));
    /// ```
    fn from_stored(stored: Self::Stored) -> Self;
}

/// The layout of a [`DeviceType`] in memory, as data.
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
    /// One bit of a bitmap: see [`Bit`](crate::Bit). Only arrays that are read have it, and no
    /// item.
    Bit,
}

/// A value of a [`DeviceType`], bit for bit.
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

macro_rules! scalars {
    ($($type:ty => $scalar:expr, $bits:expr, $same:expr;)*) => {$(
        // SAFETY: the layout is that of one scalar, which has the same size and alignment in CUDA
        // C++.
        #[allow(unsafe_code)]
        #[diagnostic::do_not_recommend]
        unsafe impl DeviceType for $type {
            fn layout() -> Layout {
                Layout::of::<Self>(Kind::Scalar($scalar))
            }
            fn literal(&self) -> Literal {
                let bits: fn(Self) -> u64 = $bits;
                Literal::Scalar(bits(*self))
            }
            #[inline]
            fn same_bits(a: &Self, b: &Self) -> bool {
                let same: fn(Self, Self) -> bool = $same;
                same(*a, *b)
            }
        }
    )*};
}

scalars! {
    i8 => Scalar::I8, |x| x as u8 as u64, |a, b| a == b;
    i16 => Scalar::I16, |x| x as u16 as u64, |a, b| a == b;
    i32 => Scalar::I32, |x| x as u32 as u64, |a, b| a == b;
    i64 => Scalar::I64, |x| x as u64, |a, b| a == b;
    u8 => Scalar::U8, |x| x as u64, |a, b| a == b;
    u16 => Scalar::U16, |x| x as u64, |a, b| a == b;
    u32 => Scalar::U32, |x| x as u64, |a, b| a == b;
    u64 => Scalar::U64, |x| x, |a, b| a == b;
    isize => if size_of::<isize>() == 8 { Scalar::I64 } else { Scalar::I32 }, |x| x as usize as u64, |a, b| a == b;
    usize => if size_of::<usize>() == 8 { Scalar::U64 } else { Scalar::U32 }, |x| x as u64, |a, b| a == b;
    bool => Scalar::Bool, |x| x as u64, |a, b| a == b;
    f32 => Scalar::F32, |x| x.to_bits() as u64, |a, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    f64 => Scalar::F64, |x| x.to_bits(), |a, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
}

#[cfg(feature = "half")]
scalars! {
    half::f16 => Scalar::F16, |x| x.to_bits() as u64,
        |a, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    half::bf16 => Scalar::BF16, |x| x.to_bits() as u64,
        |a, b| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
}

// SAFETY: both languages store an array as its elements, in order and without gaps.
#[allow(unsafe_code)]
#[diagnostic::do_not_recommend]
unsafe impl<T: DeviceType, const N: usize> DeviceType for [T; N] {
    fn layout() -> Layout {
        const { assert!(N > 0, "a zero-sized array is not a device type") };
        Layout::of::<Self>(Kind::Array { element: Box::new(T::layout()), length: N })
    }

    fn literal(&self) -> Literal {
        Literal::Sequence(self.iter().map(T::literal).collect())
    }

    #[inline]
    fn same_bits(a: &Self, b: &Self) -> bool {
        a.iter().zip(b).all(|(a, b)| T::same_bits(a, b))
    }
}

macro_rules! tuples {
    ($(($($part:ident $index:tt),*);)*) => {$(
        // SAFETY: the layout has each part, at its offset. All bits that the parts allow are valid.
        #[allow(unsafe_code)]
        #[diagnostic::do_not_recommend]
        unsafe impl<$($part: DeviceType),*> DeviceType for ($($part,)*) {
            fn layout() -> Layout {
                let fields = vec![$(Field {
                    name: stringify!($index),
                    offset: offset_of!(Self, $index),
                    layout: $part::layout(),
                }),*];
                Layout::of::<Self>(Kind::Tuple { fields })
            }
            fn literal(&self) -> Literal {
                Literal::Sequence(vec![$(self.$index.literal()),*])
            }
            #[inline]
            fn same_bits(a: &Self, b: &Self) -> bool {
                $($part::same_bits(&a.$index, &b.$index))&&*
            }
        }
    )*};
}
tuples! {
    (A 0, B 1);
    (A 0, B 1, C 2);
    (A 0, B 1, C 2, D 3);
    (A 0, B 1, C 2, D 3, E 4);
    (A 0, B 1, C 2, D 3, E 4, F 5);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6);
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7);
}
