//! The division of a matrix into its rows or its columns.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use cudarc::driver::DevicePtrMut;

use super::parts::Division;
use super::{Reduction, Rows, Slices, Stored};
use crate::cuda::{Elements, SegmentKernel};
use crate::source::ArraysOf;
use crate::types::Segments;
use crate::{DeviceAggregate, Error, cpu};

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

impl<A: DeviceAggregate> Division<A> for Matrix {
    fn count(&self, length: u64) -> Result<u64, Error> {
        Ok(self.segments(length)?.count)
    }

    fn is_on_host(&self) -> bool {
        true
    }

    fn reduce_on_cpu(&self, aggregate: &A, slices: Slices<'_, A>, places: &mut [MaybeUninit<A::Output>]) {
        let length = cpu::length_of::<A::Input>(slices).map(|length| self.segments(length as u64));
        let Ok(Ok(segments)) = length else { unreachable!("the shape was checked") };
        cpu::segments(aggregate, slices, segments, places);
    }

    fn enqueue(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ArraysOf<A::Preparation>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
        _waits: bool,
    ) -> Result<(), Error> {
        let segments = self.segments(elements.length())?;
        kernel.reduce_into(&reduction.operator(Some(segments.length)), segments, elements, places)
    }

    unsafe fn record(
        &self,
        reduction: &Reduction<A>,
        kernel: &SegmentKernel,
        elements: impl Elements<Reader = ArraysOf<A::Preparation>>,
        places: &mut dyn DevicePtrMut<Stored<A>>,
    ) -> Result<(), Error> {
        let segments = self.segments(elements.length())?;
        let operator = reduction.operator(Some(segments.length));
        // SAFETY: the caller keeps the contract of this function.
        unsafe { kernel.record_into(&operator, segments, elements, places) }
    }
}
