//! The CPU backend: the same primitives, in parallel, with the same bits.

#![allow(unsafe_code)]

mod columns;
mod lanes;
mod prefetch;
mod read;
mod reduce;
mod rows;
mod scan;
mod segments;
mod threads;
mod transposition;
mod units;
mod vectors;

pub(crate) use self::read::{Prepared, length_of};
pub(crate) use self::reduce::bracket;
pub(crate) use self::scan::{PresentedBy, scan, scan_in_place, scan_into};
pub(crate) use self::segments::{as_places, first_wrong, ranges, segments};
