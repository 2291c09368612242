//! Offsets: where segments of an input begin and end.

use super::device_type::{Arrangement, DeviceType};
use super::element::Element;

mod sealed {
    pub trait Offset {}
    pub trait Offsets {}
}

/// The type of an offset: `u32`, `i32`, `u64`, `i64` or `usize`. It cannot be implemented for other
/// types.
///
/// ```
/// fn is_offset<T: warpfold::Offset>() {}
/// is_offset::<u32>();
/// is_offset::<usize>();
/// ```
pub trait Offset: DeviceType + sealed::Offset {
    #[doc(hidden)]
    const IS_SIGNED: bool;

    /// None if the offset is negative.
    #[doc(hidden)]
    fn place(self) -> Option<u64>;
}

macro_rules! offsets {
    ($($type:ident $is_signed:literal;)*) => {$(
        impl sealed::Offset for $type {}
        impl Offset for $type {
            const IS_SIGNED: bool = $is_signed;
            #[inline]
            fn place(self) -> Option<u64> {
                u64::try_from(self).ok()
            }
        }
    )*};
}
offsets! { u32 false; i32 true; u64 false; i64 true; usize false; }

/// What gives the segments of an input: n + 1 ascending offsets of n segments, or in step the offsets
/// where segments begin and where they end. It cannot be implemented for other types.
///
/// ```
/// fn are_offsets<T: warpfold::Offsets>() {}
/// are_offsets::<u32>();
/// are_offsets::<(i64, i64)>();
/// ```
pub trait Offsets: Element + sealed::Offsets {
    #[doc(hidden)]
    type Offset: Offset;

    /// Whether begins and ends are two arrays.
    #[doc(hidden)]
    const IN_PAIRS: bool;

    /// Where a segment begins and ends. None if an offset is negative.
    #[doc(hidden)]
    fn bounds<R: Arrangement<Element = Self>>(
        slices: R::Slices<'_>,
        segment: usize,
    ) -> (Option<u64>, Option<u64>);
}

impl<T: Offset> sealed::Offsets for T {}
impl<T: Offset> Offsets for T {
    type Offset = T;
    const IN_PAIRS: bool = false;
    #[inline]
    fn bounds<R: Arrangement<Element = T>>(
        slices: R::Slices<'_>,
        segment: usize,
    ) -> (Option<u64>, Option<u64>) {
        (R::at(slices, segment).place(), R::at(slices, segment + 1).place())
    }
}

impl<T: Offset> sealed::Offsets for (T, T) {}
impl<T: Offset> Offsets for (T, T) {
    type Offset = T;
    const IN_PAIRS: bool = true;
    #[inline]
    fn bounds<R: Arrangement<Element = (T, T)>>(
        slices: R::Slices<'_>,
        segment: usize,
    ) -> (Option<u64>, Option<u64>) {
        let (begin, end) = R::at(slices, segment);
        (begin.place(), end.place())
    }
}
