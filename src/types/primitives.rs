//! Numbers and arrays as device types.

use super::device_type::DeviceType;
use super::layout::{Kind, Layout, Literal, Scalar};

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
