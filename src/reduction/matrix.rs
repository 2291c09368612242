//! A matrix, and its division into rows or columns.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use cudarc::driver::DevicePtrMut;

use super::parts::Division;
use super::{Reduction, Stored};
use crate::cuda::{Elements, SegmentKernel};
use crate::source::ReaderOf;
use crate::types::{Arrangement, Segments};
use crate::{DeviceAggregate, Error, Explanation, cpu};

/// The rows of a matrix in row-major order: how many elements each has, and how far apart they
/// begin.
///
/// A number of columns is enough where rows follow each other without gaps. Otherwise
/// [`with_pitch`](Self::with_pitch) gives the distance.
///
/// ```
/// use warpfold::{Device, Reduction, Rows, operators::Sum};
///
/// let sums = Reduction::<Sum<u32>>::new(Device::auto());
/// assert_eq!(sums.rows(&[1, 2, 3, 4, 5, 6], 3)?, [6, 15]);
/// // Every third element is padding.
/// assert_eq!(sums.rows(&[1, 2, 0, 4, 5, 0], Rows::of(2).with_pitch(3))?, [3, 9]);
/// # Ok::<(), warpfold::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows {
    columns: usize,
    pitch: usize,
}

impl Rows {
    /// Rows of `columns` elements each, without gaps.
    ///
    /// ```
    /// assert_eq!(warpfold::Rows::of(3), 3.into());
    /// ```
    pub const fn of(columns: usize) -> Self {
        Self { columns, pitch: columns }
    }

    /// The same with `pitch` elements from the begin of a row to the begin of the next. The
    /// elements between rows are not read. The last row needs no padding.
    ///
    /// ```
    /// let rows = warpfold::Rows::of(1000).with_pitch(1024);
    /// ```
    #[must_use]
    pub const fn with_pitch(self, pitch: usize) -> Self {
        Self { pitch, ..self }
    }

    /// The columns of an input of this length.
    pub(crate) fn columns(self, length: u64) -> Result<Segments, Error> {
        let rows = self.segments(length)?;
        Ok(Segments { count: rows.length, length: rows.count, pitch: 1, stride: rows.pitch })
    }

    /// The rows of an input of this length.
    pub(crate) fn segments(self, length: u64) -> Result<Segments, Error> {
        let Self { columns, pitch } = self;
        if columns == 0 {
            return Err(Error::NoColumns);
        }
        if pitch < columns {
            return Err(Error::ShortPitch { pitch, columns });
        }
        let (of_row, distance) = (columns as u64, pitch as u64);
        let (whole, rest) = (length / distance, length % distance);
        let rows = |count| Segments { count, length: of_row, pitch: distance, stride: 1 };
        match rest {
            0 => Ok(rows(whole)),
            _ if rest == of_row => Ok(rows(whole + 1)),
            _ => Err(Error::IncompleteRow { length, columns, pitch }),
        }
    }
}

impl From<usize> for Rows {
    fn from(columns: usize) -> Self {
        Self::of(columns)
    }
}

/// The parts of a matrix.
#[derive(Clone, Copy)]
pub(super) enum Matrix {
    Rows(Rows),
    Columns(Rows),
}

impl Matrix {
    /// The parts of an input of this length.
    fn segments(self, length: u64) -> Result<Segments, Error> {
        match self {
            Self::Rows(rows) => rows.segments(length),
            Self::Columns(rows) => rows.columns(length),
        }
    }
}

impl<A: DeviceAggregate> Reduction<A> {
    pub(super) fn explain_matrix(&self, length: u64, matrix: Matrix) -> Result<Explanation, Error> {
        let segments = matrix.segments(length)?;
        self.explained(length, |stream| {
            self.segment_kernel::<A::Arrangement>(stream)?.explain::<A::Operator, ReaderOf<A>>(segments)
        })
    }
}

// SAFETY: `cpu::segments` writes every place.
unsafe impl<A: DeviceAggregate> Division<A> for Matrix {
    fn count(&self, length: u64) -> Result<u64, Error> {
        Ok(self.segments(length)?.count)
    }

    fn is_on_host(&self) -> bool {
        true
    }

    fn reduce_on_cpu<R: Arrangement<Element = A::Input>>(
        &self,
        aggregate: &A,
        slices: R::Slices<'_>,
        places: &mut [MaybeUninit<A::Output>],
    ) {
        let length = cpu::length_of::<R>(slices).map(|length| self.segments(length as u64));
        let Ok(Ok(segments)) = length else { unreachable!("the shape was checked") };
        cpu::segments::<A, R>(aggregate, slices, segments, places);
    }

    fn enqueue<R: Arrangement<Element = A::Input>>(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ReaderOf<A, R>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
        _waits: bool,
    ) -> Result<(), Error> {
        let segments = self.segments(elements.length())?;
        kernel.reduce_into(&reduction.operator(Some(segments.length)), segments, elements, places)
    }

    unsafe fn record<R: Arrangement<Element = A::Input>>(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ReaderOf<A, R>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
    ) -> Result<(), Error> {
        let segments = self.segments(elements.length())?;
        let operator = reduction.operator(Some(segments.length));
        // SAFETY: the caller keeps the contract of this function.
        unsafe { kernel.record_into(&operator, segments, elements, places) }
    }
}
