//! The elements of an input, and how memory holds them: one array, several arrays that are read in
//! step, bits, or none.

use std::convert::Infallible;
use std::marker::PhantomData;

use cudarc::driver::DevicePtr;

use super::device_type::{
    Arrangement, DeviceType, Held, Indices, Plain, PointerVisitor, Sealed, SliceVisitor,
};
use super::layout::Layout;
use super::preparation::{AsTheyAre, Preparation};

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
    /// The default arrangement: a tuple in arrays in step, a [`Bit`](crate::Bit)
    /// in a [`Bitmap`](crate::Bitmap), all others in an array.
    #[doc(hidden)]
    type Arrangement: Arrangement<Element = Self>;
}

impl<T: DeviceType> Element for T {
    type Arrangement = <T::Holder as Held<T>>::Arrangement;
}

impl Element for () {
    type Arrangement = NoArray;
}

mod sealed {
    pub trait Element {}
}
impl<T: DeviceType> sealed::Element for T {}
impl sealed::Element for () {}

/// The index alone, in no memory.
#[doc(hidden)]
#[derive(Debug)]
pub enum NoArray {}

impl Sealed for NoArray {}
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

/// The arrangement of values that are no elements. None has it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Nowhere<T>(PhantomData<fn() -> T>);

impl<T> Sealed for Nowhere<T> {}
impl<T: Plain> Arrangement for Nowhere<T> {
    type Element = T;
    const COUNT: usize = 0;
    const IN_STEP: bool = false;
    type Slices<'a> = Infallible;
    type Pointers<'a> = Infallible;
    type Addresses = [u64; 0];

    fn layouts() -> Vec<Layout> {
        Vec::new()
    }
    fn at(slices: Infallible, _: usize) -> T {
        match slices {}
    }
    fn visit_slices<'a>(slices: Infallible, _: &mut impl SliceVisitor<'a>) {
        match slices {}
    }
    fn visit_pointers<'a>(pointers: Infallible, _: &mut impl PointerVisitor<'a>) {
        match pointers {}
    }
    fn addresses(_: &[u64]) -> [u64; 0] {
        []
    }
}

/// One array.
#[doc(hidden)]
#[derive(Debug)]
pub struct Array<T>(PhantomData<fn() -> T>);

impl<T: DeviceType> Sealed for Array<T> {}
impl<T: DeviceType> Arrangement for Array<T> {
    type Element = T;
    const COUNT: usize = 1;
    const IN_STEP: bool = false;
    type Slices<'a> = &'a [T];
    type Pointers<'a> = &'a dyn DevicePtr<T>;
    type Addresses = [u64; 1];

    // `'a: 'a`, because a lifetime of the trait's projection is a parameter of the function.
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

#[diagnostic::do_not_recommend]
impl<T: DeviceType> Held<T> for T {
    type Arrangement = Array<T>;
    type OneArray = Array<T>;
    type Choice<Same: Plain, Other: Plain> = Same;
    type Preparation<Other: Preparation> = AsTheyAre;

    fn choice<Same: Plain, Other: Plain>(same: impl FnOnce() -> Same, _: impl FnOnce() -> Other) -> Same {
        same()
    }
    #[inline]
    fn by_choice<Same: Plain, Other: Plain, V>(
        choice: Same,
        same: impl FnOnce(Same) -> V,
        _: impl FnOnce(Other) -> V,
    ) -> V {
        same(choice)
    }
    fn map_choice<Same: Plain, Other: Plain>(
        choice: Same,
        same: impl FnOnce(Same) -> Same,
        _: impl FnOnce(Other) -> Other,
    ) -> Same {
        same(choice)
    }
}

/// Arrays in step: a tuple `P` of arrangements of one array each.
#[doc(hidden)]
#[derive(Debug)]
pub struct InStep<P>(PhantomData<fn() -> P>);

macro_rules! tuples {
    ($($count:literal: $($part:ident $index:tt),*;)*) => {$(
        impl<$($part: Arrangement<Element: DeviceType>),*> Sealed for InStep<($($part,)*)> {}
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
