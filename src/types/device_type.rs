//! `DeviceType` and `Value`, with the traits of how inputs and device memory hold a value. The traits
//! refer to each other, so they share a file.

use cudarc::driver::DevicePtr;

use super::bitmap::Bitmap;
use super::layout::{Layout, Literal, Type};
use super::preparation::Preparation;

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
/// # Generic code
///
/// Device memory holds the results of type `T` as [`T::Stored`](Value::Stored), which for a tuple is another
/// type. A function that writes them to a `CudaSlice<T>` needs the bound `T: DeviceType + Value<Stored = T>`.
///
/// `clone_htod` and `alloc` of cudarc require its trait `DeviceRepr`, which `#[derive(DeviceType)]`
/// implements as well. [`Device::upload`](crate::Device::upload) copies any device type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device type",
    label = "its layout is not known to CUDA C++",
    note = "device types are the integers up to 64 bits, `bool`, `f32`, `f64`, arrays and tuples of device types, and `#[repr(C)]` structs that derive `DeviceType`; types of `glam`, `nalgebra`, `num-complex` and `half` need warpfold's feature of that name"
)]
#[allow(unsafe_code)]
pub unsafe trait DeviceType: Value + Described + InMemory {
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
/// | a [`DeviceType`] that is no tuple | the type itself |
/// | `Option<V>` of a result | [`Maybe`](crate::Maybe) of `V` in device memory |
/// | `Ordering`, [`Bit`](crate::Bit) | `i8`, `bool` |
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

/// Describes a variable of type `T` as data. The type that device memory holds in place of `T` implements it.
#[doc(hidden)]
pub trait Describes<T> {
    /// The type of a variable, as data.
    fn described() -> Type;
    /// The value of a variable, as data.
    fn literal_of(value: &T) -> Literal;
}

#[diagnostic::do_not_recommend]
impl<T: DeviceType> Describes<T> for T {
    fn described() -> Type {
        Type::Value(T::layout())
    }
    fn literal_of(value: &T) -> Literal {
        value.literal()
    }
}

/// A type of variables in kernels. As a bound of its own it makes rustc report one error, and not two, for a
/// wrong type.
#[doc(hidden)]
pub trait Described: Value {
    /// The type that describes the variable.
    type By: Describes<Self>;
}
#[diagnostic::do_not_recommend]
impl<V: Value<Stored: Describes<V>>> Described for V {
    type By = V::Stored;
}

/// A [`DeviceType`], with the type that device memory holds in its place. A bound of its own for the same reason.
#[doc(hidden)]
pub trait InMemory: Value {
    /// The type that device memory holds.
    type Holder: Held<Self>;
}
#[diagnostic::do_not_recommend]
impl<V: Value<Stored: Held<V>>> InMemory for V {
    type Holder = V::Stored;
}

/// The type that device memory holds in place of a [`DeviceType`] `T`: `T` itself, or another type.
#[doc(hidden)]
pub trait Held<T: 'static>: Sized {
    /// The default arrangement of elements of type `T`.
    type Arrangement: Arrangement<Element = T>;
    /// The same for an array among arrays in step.
    type OneArray: Arrangement<Element = T>;
    /// `Same` if device memory holds `T` itself, and `Other` otherwise.
    type Choice<Same: Plain, Other: Plain>: Plain;
    /// How items of type `T` that are elements become items: not at all if device memory holds `T` itself.
    type Preparation<Other: Preparation>: Preparation;

    /// Makes a choice.
    fn choice<Same: Plain, Other: Plain>(
        same: impl FnOnce() -> Same,
        other: impl FnOnce() -> Other,
    ) -> Self::Choice<Same, Other>;

    /// Calls the function of the value that was chosen.
    fn by_choice<Same: Plain, Other: Plain, V>(
        choice: Self::Choice<Same, Other>,
        same: impl FnOnce(Same) -> V,
        other: impl FnOnce(Other) -> V,
    ) -> V;

    /// Replaces the value that was chosen.
    fn map_choice<Same: Plain, Other: Plain>(
        choice: Self::Choice<Same, Other>,
        same: impl FnOnce(Same) -> Same,
        other: impl FnOnce(Other) -> Other,
    ) -> Self::Choice<Same, Other>;

    /// Calls one of two functions.
    fn choose<V>(same: impl FnOnce() -> V, other: impl FnOnce() -> V) -> V {
        Self::by_choice(Self::choice(|| (), || ()), |()| same(), |()| other())
    }
}

/// The bounds that operators and aggregates have.
#[doc(hidden)]
pub trait Plain: Copy + Send + Sync + 'static {}
impl<T: Copy + Send + Sync + 'static> Plain for T {}

/// How the memory of an input holds its elements.
#[doc(hidden)]
pub trait Arrangement: 'static + Sealed {
    /// The type of an element.
    type Element: Copy + Send + Sync + 'static;

    /// The number of arrays.
    const COUNT: usize;

    /// Whether the reader of arrays in step reads them: several arrays, or a bitmap.
    const IN_STEP: bool;

    /// The arrays in host memory: a slice, or a tuple of slices.
    type Slices<'a>: Copy + Send + Sync;
    /// The arrays in device memory.
    type Pointers<'a>: Copy;
    /// The device addresses of the arrays.
    type Addresses: Copy + Send + Sync + 'static;

    /// The number of indices, if there is no array.
    fn indices(_: Self::Slices<'_>) -> Option<Indices> {
        None
    }

    /// The elements, if they lie in one array.
    fn in_one_array<'a>(_: Self::Slices<'a>) -> Option<&'a [Self::Element]> {
        None
    }

    /// The same in device memory.
    fn in_one_device_array<'a>(_: Self::Pointers<'a>) -> Option<&'a dyn DevicePtr<Self::Element>> {
        None
    }

    /// The layout of an element of each array.
    fn layouts() -> Vec<Layout>;

    /// The element at an index, which is less than the length of every array.
    fn at(slices: Self::Slices<'_>, index: usize) -> Self::Element;

    /// The `N` elements from an index on, which are within every array.
    #[inline]
    fn several<const N: usize>(slices: Self::Slices<'_>, begin: usize) -> [Self::Element; N] {
        std::array::from_fn(|index| Self::at(slices, begin + index))
    }

    /// Visits the arrays in order.
    fn visit_slices<'a>(slices: Self::Slices<'a>, visitor: &mut impl SliceVisitor<'a>);
    fn visit_pointers<'a>(pointers: Self::Pointers<'a>, visitor: &mut impl PointerVisitor<'a>);

    /// The addresses, from a list of as many as there are arrays.
    fn addresses(list: &[u64]) -> Self::Addresses;
}

/// Indices from `start` to before `end`. None for a negative number, and for one of more than 64
/// bits.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Indices {
    pub start: Option<u64>,
    pub end: Option<u64>,
}

/// Visits arrays in host memory.
#[doc(hidden)]
pub trait SliceVisitor<'a> {
    fn slice<T: DeviceType>(&mut self, slice: &'a [T]);
    fn bitmap(&mut self, bitmap: Bitmap<&'a [u8]>);
}

/// Visits arrays in device memory.
#[doc(hidden)]
pub trait PointerVisitor<'a> {
    fn pointer<T: DeviceType>(&mut self, pointer: &'a dyn DevicePtr<T>);
    fn bitmap(&mut self, bitmap: Bitmap<&'a dyn DevicePtr<u8>>);
}

/// Kernels read memory by the layouts that an arrangement tells, so only this crate implements it.
#[doc(hidden)]
pub trait Sealed {}

/// The functions of a type that device memory holds as another one.
macro_rules! held_as_another {
    () => {
        type Choice<Same: super::device_type::Plain, Other: super::device_type::Plain> = Other;
        type Preparation<Other: super::preparation::Preparation> = Other;

        fn choice<Same: super::device_type::Plain, Other: super::device_type::Plain>(
            _: impl FnOnce() -> Same,
            other: impl FnOnce() -> Other,
        ) -> Other {
            other()
        }
        #[inline]
        fn by_choice<Same: super::device_type::Plain, Other: super::device_type::Plain, Made>(
            choice: Other,
            _: impl FnOnce(Same) -> Made,
            other: impl FnOnce(Other) -> Made,
        ) -> Made {
            other(choice)
        }
        fn map_choice<Same: super::device_type::Plain, Other: super::device_type::Plain>(
            choice: Other,
            _: impl FnOnce(Same) -> Same,
            other: impl FnOnce(Other) -> Other,
        ) -> Other {
            other(choice)
        }
    };
}
pub(super) use held_as_another;
