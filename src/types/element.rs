//! The elements of an input: of one array, or of several arrays that are read in step.

use cudarc::driver::DevicePtr;

use super::bitmap::{Bit, Bitmap};
use super::device_type::{DeviceType, Kind, Layout, Scalar};

/// What an [`Aggregate`](crate::Aggregate) prepares: an element of an array, or a tuple of elements
/// of 2 to 8 arrays that are read in step. `()` stands for the index alone, without an array.
///
/// The trait is implemented for [`DeviceType`]s and [`Bit`], for tuples of them, and for `()`, and
/// cannot be implemented for other types.
///
/// ```
/// fn arrays<E: warpfold::Element>() -> usize { E::COUNT }
/// assert_eq!((arrays::<()>(), arrays::<f32>(), arrays::<(f32, u8)>()), (0, 1, 2));
/// ```
pub trait Element: Copy + Send + Sync + 'static + sealed::Element {
    /// The number of arrays.
    const COUNT: usize;

    /// Whether the reader of arrays in step reads them: several arrays, or a bitmap.
    #[doc(hidden)]
    const IN_STEP: bool;

    /// The arrays in host memory: a slice, or a tuple of slices.
    #[doc(hidden)]
    type Slices<'a>: Copy + Send + Sync;
    /// The arrays in device memory.
    #[doc(hidden)]
    type Pointers<'a>: Copy;
    /// The device addresses of the arrays.
    #[doc(hidden)]
    type Addresses: Copy + Send + Sync + 'static;

    /// The number of indices, if there is no array.
    #[doc(hidden)]
    fn indices(_: Self::Slices<'_>) -> Option<Indices> {
        None
    }

    /// The layout of an element of each array.
    #[doc(hidden)]
    fn layouts() -> Vec<Layout>;

    /// The element at an index, which is less than the length of every array.
    #[doc(hidden)]
    fn at(slices: Self::Slices<'_>, index: usize) -> Self;

    /// The `N` elements from an index on, which are within every array.
    #[doc(hidden)]
    #[inline]
    fn several<const N: usize>(slices: Self::Slices<'_>, begin: usize) -> [Self; N] {
        std::array::from_fn(|index| Self::at(slices, begin + index))
    }

    /// Visits the arrays in order.
    #[doc(hidden)]
    fn visit_slices<'a>(slices: Self::Slices<'a>, visitor: &mut impl SliceVisitor<'a>);
    #[doc(hidden)]
    fn visit_pointers<'a>(pointers: Self::Pointers<'a>, visitor: &mut impl PointerVisitor<'a>);

    /// The addresses, from a list of as many as there are arrays.
    #[doc(hidden)]
    fn addresses(list: &[u64]) -> Self::Addresses;
}

/// Kernels read memory by the layouts that these traits tell, so only this file implements them.
mod sealed {
    pub trait OneArray {}
    pub trait Element {}
}
impl<T: DeviceType> sealed::OneArray for T {}
impl sealed::OneArray for Bit {}
impl<T: OneArray> sealed::Element for T {}
impl sealed::Element for () {}

/// Indices from `start` to before `end`. None for a negative number, and for one of more than 64
/// bits.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Indices {
    pub start: Option<u64>,
    pub end: Option<u64>,
}

impl Element for () {
    const COUNT: usize = 0;
    const IN_STEP: bool = false;
    type Slices<'a> = Indices;
    type Pointers<'a> = ();
    type Addresses = [u64; 0];

    fn indices(slices: Indices) -> Option<Indices> {
        Some(slices)
    }
    fn layouts() -> Vec<Layout> {
        Vec::new()
    }
    #[inline]
    fn at(_: Indices, _: usize) {}
    fn visit_slices<'a>(_: Indices, _: &mut impl SliceVisitor<'a>) {}
    fn visit_pointers<'a>((): (), _: &mut impl PointerVisitor<'a>) {}
    fn addresses(_: &[u64]) -> [u64; 0] {
        []
    }
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

/// An element of one array: a [`DeviceType`], or a [`Bit`] of a [`Bitmap`]. It cannot be implemented
/// for other types.
///
/// ```
/// fn is_of_one_array<T: warpfold::OneArray>() {}
/// is_of_one_array::<f32>();
/// is_of_one_array::<warpfold::Bit>();
/// ```
pub trait OneArray: Copy + Send + Sync + 'static + sealed::OneArray {
    /// The array in host memory.
    #[doc(hidden)]
    type Slice<'a>: Copy + Send + Sync;
    /// The array in device memory.
    #[doc(hidden)]
    type Pointer<'a>: Copy;

    #[doc(hidden)]
    const IN_STEP: bool;

    #[doc(hidden)]
    fn layout_in_array() -> Layout;

    /// The element at an index, which is less than the length.
    #[doc(hidden)]
    fn of(slice: Self::Slice<'_>, index: usize) -> Self;

    /// The `N` elements from an index on, which are within the array.
    #[doc(hidden)]
    #[inline]
    fn several_of<const N: usize>(slice: Self::Slice<'_>, begin: usize) -> [Self; N] {
        std::array::from_fn(|index| Self::of(slice, begin + index))
    }

    #[doc(hidden)]
    fn visit_slice<'a>(slice: Self::Slice<'a>, visitor: &mut impl SliceVisitor<'a>);
    #[doc(hidden)]
    fn visit_pointer<'a>(pointer: Self::Pointer<'a>, visitor: &mut impl PointerVisitor<'a>);
}

impl<T: DeviceType> OneArray for T {
    type Slice<'a> = &'a [T];
    type Pointer<'a> = &'a dyn DevicePtr<T>;
    const IN_STEP: bool = false;

    fn layout_in_array() -> Layout {
        T::layout()
    }
    #[inline]
    fn of(slice: &[T], index: usize) -> T {
        slice[index]
    }
    #[inline]
    fn several_of<const N: usize>(slice: &[T], begin: usize) -> [T; N] {
        // One check of the length for all.
        let several = &slice[begin..begin + N];
        std::array::from_fn(|index| several[index])
    }
    fn visit_slice<'a>(slice: &'a [T], visitor: &mut impl SliceVisitor<'a>) {
        visitor.slice(slice);
    }
    fn visit_pointer<'a>(pointer: &'a dyn DevicePtr<T>, visitor: &mut impl PointerVisitor<'a>) {
        visitor.pointer(pointer);
    }
}

impl OneArray for Bit {
    type Slice<'a> = Bitmap<&'a [u8]>;
    type Pointer<'a> = Bitmap<&'a dyn DevicePtr<u8>>;
    const IN_STEP: bool = true;

    fn layout_in_array() -> Layout {
        Layout::of::<Self>(Kind::Scalar(Scalar::Bit))
    }
    #[inline]
    fn of(bits: Bitmap<&[u8]>, index: usize) -> Self {
        let bit = bits.offset + index;
        Self(bits.bytes[bit / 8] >> (bit % 8) & 1 == 1)
    }
    fn visit_slice<'a>(bits: Bitmap<&'a [u8]>, visitor: &mut impl SliceVisitor<'a>) {
        visitor.bitmap(bits);
    }
    fn visit_pointer<'a>(bits: Bitmap<&'a dyn DevicePtr<u8>>, visitor: &mut impl PointerVisitor<'a>) {
        visitor.bitmap(bits);
    }
}

impl<T: OneArray> Element for T {
    const COUNT: usize = 1;
    const IN_STEP: bool = T::IN_STEP;
    type Slices<'a> = T::Slice<'a>;
    type Pointers<'a> = T::Pointer<'a>;
    type Addresses = [u64; 1];

    fn layouts() -> Vec<Layout> {
        vec![T::layout_in_array()]
    }
    #[inline]
    fn at(slices: T::Slice<'_>, index: usize) -> T {
        T::of(slices, index)
    }
    #[inline]
    fn several<const N: usize>(slices: T::Slice<'_>, begin: usize) -> [T; N] {
        T::several_of(slices, begin)
    }
    fn visit_slices<'a>(slices: T::Slice<'a>, visitor: &mut impl SliceVisitor<'a>) {
        T::visit_slice(slices, visitor);
    }
    fn visit_pointers<'a>(pointers: T::Pointer<'a>, visitor: &mut impl PointerVisitor<'a>) {
        T::visit_pointer(pointers, visitor);
    }
    fn addresses(list: &[u64]) -> [u64; 1] {
        std::array::from_fn(|index| list[index])
    }
}

macro_rules! tuples {
    ($($count:literal: $($part:ident $index:tt),*;)*) => {$(
        impl<$($part: OneArray),*> sealed::Element for ($($part,)*) {}
        impl<$($part: OneArray),*> Element for ($($part,)*) {
            const COUNT: usize = $count;
            const IN_STEP: bool = true;
            type Slices<'a> = ($($part::Slice<'a>,)*);
            type Pointers<'a> = ($($part::Pointer<'a>,)*);
            type Addresses = [u64; $count];

            fn layouts() -> Vec<Layout> {
                vec![$($part::layout_in_array()),*]
            }
            #[inline]
            fn at(slices: Self::Slices<'_>, index: usize) -> Self {
                ($($part::of(slices.$index, index),)*)
            }
            #[inline]
            #[allow(non_snake_case)]
            fn several<const N: usize>(slices: Self::Slices<'_>, begin: usize) -> [Self; N] {
                $(let $part: [$part; N] = $part::several_of(slices.$index, begin);)*
                std::array::from_fn(|index| ($($part[index],)*))
            }
            fn visit_slices<'a>(slices: Self::Slices<'a>, visitor: &mut impl SliceVisitor<'a>) {
                $($part::visit_slice(slices.$index, visitor);)*
            }
            fn visit_pointers<'a>(pointers: Self::Pointers<'a>, visitor: &mut impl PointerVisitor<'a>) {
                $($part::visit_pointer(pointers.$index, visitor);)*
            }
            fn addresses(list: &[u64]) -> [u64; $count] {
                std::array::from_fn(|index| list[index])
            }
        }
    )*};
}
tuples! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
    7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
