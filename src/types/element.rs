//! The elements of an input, and how memory holds them: one array, several arrays that are read in
//! step, bits, or none.

use std::marker::PhantomData;

use cudarc::driver::DevicePtr;

use super::bitmap::{Bit, Bitmap};
use super::device_type::{DeviceType, Layout};
use super::held::Held;

/// What an [`Aggregate`](crate::Aggregate) prepares: a [`DeviceType`], or `()`, which stands for the
/// index alone.
///
/// A tuple is read from arrays in step, `(&a, &b)`, or from one array of tuples: the
/// [`Input`](crate::Input) of a call says which.
///
/// ```
/// fn is_an_element<E: warpfold::Element>() {}
/// is_an_element::<f32>();
/// is_an_element::<(f32, u8)>();
/// is_an_element::<()>();
/// ```
pub trait Element: Copy + Send + Sync + 'static + sealed::Element {
    /// How elements lie where no input says it: a tuple in arrays in step, a [`Bit`] in a
    /// [`Bitmap`], all others in an array.
    #[doc(hidden)]
    type Arrangement: Arrangement<Element = Self>;
}

impl<T: DeviceType> Element for T {
    type Arrangement = <T::Stored as Held<T>>::Arrangement;
}

impl Element for () {
    type Arrangement = NoArray;
}

/// Kernels read memory by the layouts that an arrangement tells, so only this crate implements these
/// traits.
mod sealed {
    pub trait Element {}
    pub trait Arrangement {}
}
impl<T: DeviceType> sealed::Element for T {}
impl sealed::Element for () {}

/// How the memory of an input holds its elements.
#[doc(hidden)]
pub trait Arrangement: 'static + sealed::Arrangement {
    /// The type of an element.
    type Element: Element;

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

/// Indices from `start` to before `end`. None for a negative number, and for one of more than 64
/// bits.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Indices {
    pub start: Option<u64>,
    pub end: Option<u64>,
}

/// The index alone, in no memory.
#[doc(hidden)]
#[derive(Debug)]
pub enum NoArray {}

impl sealed::Arrangement for NoArray {}
impl Arrangement for NoArray {
    type Element = ();
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

/// One array.
#[doc(hidden)]
#[derive(Debug)]
pub struct Array<T>(PhantomData<fn() -> T>);

impl<T: DeviceType> sealed::Arrangement for Array<T> {}
impl<T: DeviceType> Arrangement for Array<T> {
    type Element = T;
    const COUNT: usize = 1;
    const IN_STEP: bool = false;
    type Slices<'a> = &'a [T];
    type Pointers<'a> = &'a dyn DevicePtr<T>;
    type Addresses = [u64; 1];

    fn in_one_array<'a>(slice: &'a [T]) -> Option<&'a [T]>
    where
        'a: 'a,
    {
        Some(slice)
    }
    fn in_one_device_array<'a>(pointer: &'a dyn DevicePtr<T>) -> Option<&'a dyn DevicePtr<T>>
    where
        'a: 'a,
    {
        Some(pointer)
    }
    fn layouts() -> Vec<Layout> {
        const { assert!(!T::IS_BIT, "bits are read from a `Bitmap`, and not from an array of `Bit`") };
        vec![T::layout()]
    }
    #[inline]
    fn at(slice: &[T], index: usize) -> T {
        slice[index]
    }
    #[inline]
    fn several<const N: usize>(slice: &[T], begin: usize) -> [T; N] {
        // One check of the length for all.
        let several = &slice[begin..begin + N];
        std::array::from_fn(|index| several[index])
    }
    fn visit_slices<'a>(slice: &'a [T], visitor: &mut impl SliceVisitor<'a>) {
        visitor.slice(slice);
    }
    fn visit_pointers<'a>(pointer: &'a dyn DevicePtr<T>, visitor: &mut impl PointerVisitor<'a>) {
        visitor.pointer(pointer);
    }
    fn addresses(list: &[u64]) -> [u64; 1] {
        [list[0]]
    }
}

/// The bits of a bitmap.
#[doc(hidden)]
#[derive(Debug)]
pub enum Bits {}

impl sealed::Arrangement for Bits {}
impl Arrangement for Bits {
    type Element = Bit;
    const COUNT: usize = 1;
    const IN_STEP: bool = true;
    type Slices<'a> = Bitmap<&'a [u8]>;
    type Pointers<'a> = Bitmap<&'a dyn DevicePtr<u8>>;
    type Addresses = [u64; 1];

    fn layouts() -> Vec<Layout> {
        vec![Bit::layout()]
    }
    #[inline]
    fn at(bits: Bitmap<&[u8]>, index: usize) -> Bit {
        let bit = bits.offset + index;
        Bit(bits.bytes[bit / 8] >> (bit % 8) & 1 == 1)
    }
    fn visit_slices<'a>(bits: Bitmap<&'a [u8]>, visitor: &mut impl SliceVisitor<'a>) {
        visitor.bitmap(bits);
    }
    fn visit_pointers<'a>(bits: Bitmap<&'a dyn DevicePtr<u8>>, visitor: &mut impl PointerVisitor<'a>) {
        visitor.bitmap(bits);
    }
    fn addresses(list: &[u64]) -> [u64; 1] {
        [list[0]]
    }
}

/// Arrays in step: a tuple `P` of arrangements of one array each.
#[doc(hidden)]
#[derive(Debug)]
pub struct InStep<P>(PhantomData<fn() -> P>);

macro_rules! tuples {
    ($($count:literal: $($part:ident $index:tt),*;)*) => {$(
        impl<$($part: Arrangement<Element: DeviceType>),*> sealed::Arrangement for InStep<($($part,)*)> {}
        impl<$($part: Arrangement<Element: DeviceType>),*> Arrangement for InStep<($($part,)*)> {
            type Element = ($($part::Element,)*);
            const COUNT: usize = {
                assert!($($part::COUNT == 1)&&*, "each of the arrays in step is one array, and no tuple of arrays");
                $count
            };
            const IN_STEP: bool = true;
            type Slices<'a> = ($($part::Slices<'a>,)*);
            type Pointers<'a> = ($($part::Pointers<'a>,)*);
            type Addresses = [u64; $count];

            fn layouts() -> Vec<Layout> {
                [$($part::layouts()),*].concat()
            }
            #[inline]
            fn at(slices: Self::Slices<'_>, index: usize) -> Self::Element {
                ($($part::at(slices.$index, index),)*)
            }
            #[inline]
            #[allow(non_snake_case)]
            fn several<const N: usize>(slices: Self::Slices<'_>, begin: usize) -> [Self::Element; N] {
                $(let $part: [$part::Element; N] = $part::several(slices.$index, begin);)*
                std::array::from_fn(|index| ($($part[index],)*))
            }
            fn visit_slices<'a>(slices: Self::Slices<'a>, visitor: &mut impl SliceVisitor<'a>) {
                $($part::visit_slices(slices.$index, visitor);)*
            }
            fn visit_pointers<'a>(pointers: Self::Pointers<'a>, visitor: &mut impl PointerVisitor<'a>) {
                $($part::visit_pointers(pointers.$index, visitor);)*
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
