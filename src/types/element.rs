//! The elements of an input: of one array, or of several arrays that are read in step.

use cudarc::driver::DevicePtr;

use super::device_type::{DeviceType, Layout};

/// What an [`Aggregate`](crate::Aggregate) prepares: an element of an array, or a tuple of elements
/// of 2 to 8 arrays that are read in step. `()` stands for the index alone, without an array.
///
/// The trait is implemented for [`DeviceType`]s, for tuples of them, and for `()`.
///
/// ```
/// fn arrays<E: warpfold::Element>() -> usize { E::COUNT }
/// assert_eq!((arrays::<()>(), arrays::<f32>(), arrays::<(f32, u8)>()), (0, 1, 2));
/// ```
pub trait Element: Copy + Send + Sync + 'static {
    /// The number of arrays.
    const COUNT: usize;

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

    /// Visits the arrays in order.
    #[doc(hidden)]
    fn visit_slices<'a>(slices: Self::Slices<'a>, visitor: &mut impl SliceVisitor<'a>);
    #[doc(hidden)]
    fn visit_pointers<'a>(pointers: Self::Pointers<'a>, visitor: &mut impl PointerVisitor<'a>);

    /// The addresses, from a list of as many as there are arrays.
    #[doc(hidden)]
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

impl Element for () {
    const COUNT: usize = 0;
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
}

/// Visits arrays in device memory.
#[doc(hidden)]
pub trait PointerVisitor<'a> {
    fn pointer<T: DeviceType>(&mut self, pointer: &'a dyn DevicePtr<T>);
}

impl<T: DeviceType> Element for T {
    const COUNT: usize = 1;
    type Slices<'a> = &'a [T];
    type Pointers<'a> = &'a dyn DevicePtr<T>;
    type Addresses = [u64; 1];

    fn layouts() -> Vec<Layout> {
        vec![T::layout()]
    }
    #[inline]
    fn at(slices: &[T], index: usize) -> T {
        slices[index]
    }
    fn visit_slices<'a>(slices: &'a [T], visitor: &mut impl SliceVisitor<'a>) {
        visitor.slice(slices);
    }
    fn visit_pointers<'a>(pointers: &'a dyn DevicePtr<T>, visitor: &mut impl PointerVisitor<'a>) {
        visitor.pointer(pointers);
    }
    fn addresses(list: &[u64]) -> [u64; 1] {
        std::array::from_fn(|index| list[index])
    }
}

macro_rules! tuples {
    ($($count:literal: $($part:ident $index:tt),*;)*) => {$(
        impl<$($part: DeviceType),*> Element for ($($part,)*) {
            const COUNT: usize = $count;
            type Slices<'a> = ($(&'a [$part],)*);
            type Pointers<'a> = ($(&'a dyn DevicePtr<$part>,)*);
            type Addresses = [u64; $count];

            fn layouts() -> Vec<Layout> {
                vec![$($part::layout()),*]
            }
            #[inline]
            fn at(slices: Self::Slices<'_>, index: usize) -> Self {
                ($(slices.$index[index],)*)
            }
            fn visit_slices<'a>(slices: Self::Slices<'a>, visitor: &mut impl SliceVisitor<'a>) {
                $(visitor.slice(slices.$index);)*
            }
            fn visit_pointers<'a>(pointers: Self::Pointers<'a>, visitor: &mut impl PointerVisitor<'a>) {
                $(visitor.pointer(pointers.$index);)*
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
