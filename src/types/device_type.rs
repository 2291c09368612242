use std::any::TypeId;

use cudarc::driver::DeviceRepr;

/// Plain old data whose layout Rust and CUDA C++ agree on.
///
/// Write it with `#[derive(DeviceType)]`, for a `#[repr(C)]` or `#[repr(transparent)]` struct whose fields are device
/// types. It is implemented for `i8` to `i64`, `u8` to `u64`, `isize`, `usize`, `bool`, `f32`, `f64`, arrays of device
/// types, and `half::{f16, bf16}` under the feature `half`.
///
/// A type describes itself as data; [`source`](mod@crate::source) turns that into CUDA C++, and the rendered source
/// asserts that both compilers see the same size, alignment and offsets.
///
/// # Safety
///
/// [`layout`](Self::layout) must describe `Self` truly, field by field: a field that is missing or misplaced lets a
/// kernel read what was never written. Any bits that the layout allows are a value of `Self` (of a `bool` 0 and 1): kernels
/// compute with the layout, and know no other rule. [`literal`](Self::literal) and [`same_bits`](Self::same_bits) follow
/// the layout.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a device type",
    label = "its layout is not known to CUDA C++",
    note = "device types are the integers up to 64 bits, `bool`, `f32`, `f64`, arrays of device types, and `#[repr(C)]` structs that derive `DeviceType`"
)]
#[allow(unsafe_code)]
pub unsafe trait DeviceType: DeviceRepr + Copy + Send + Sync + 'static {
    /// What the type looks like in memory.
    fn layout() -> Layout;

    /// The value, bit for bit, in the shape of its layout.
    fn literal(&self) -> Literal;

    /// Whether two values are the same in every field, padding ignored and any NaN equal to any other.
    fn same_bits(a: &Self, b: &Self) -> bool;
}

/// What a [`DeviceType`] looks like in memory, as data.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The Rust type.
    pub id: TypeId,
    /// The Rust type's name, with its path.
    pub name: &'static str,
    /// Bytes, a multiple of `align`.
    pub size: usize,
    /// Bytes, a power of two.
    pub align: usize,
    /// What the bytes are.
    pub kind: Kind,
}

impl Layout {
    /// The layout of `T`, of which only the kind is not known to the compiler.
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

/// The kinds of [`Layout`].
#[derive(Clone, Debug)]
pub enum Kind {
    /// A number or a `bool`.
    Scalar(Scalar),
    /// `[element; length]`.
    Array {
        /// The type of every element.
        element: Box<Layout>,
        /// How many there are, at least one.
        length: usize,
    },
    /// A struct.
    Struct {
        /// In the order of declaration, which is the order of offsets.
        fields: Vec<Field>,
    },
}

/// A field of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name in Rust; `0`, `1`, ... in a tuple struct.
    pub name: &'static str,
    /// Bytes from the start of the struct.
    pub offset: usize,
    /// The field's type.
    pub layout: Layout,
}

/// The scalar device types. `isize` and `usize` are the integers of their width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
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
}

/// A value of a [`DeviceType`], bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// A scalar's bits, zero-extended.
    Scalar(u64),
    /// The elements of an array, or the fields of a struct, in order.
    Sequence(Vec<Literal>),
}

macro_rules! scalars {
    ($($type:ty => $scalar:expr, $bits:expr, $same:expr;)*) => {$(
        // SAFETY: a scalar is one field of its own kind, and CUDA C++ has it at the same size and alignment.
        #[allow(unsafe_code)]
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

// SAFETY: an array is its elements, one after the other, in both languages.
#[allow(unsafe_code)]
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
