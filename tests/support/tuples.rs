//! Items that are tuples, of which rustc orders the parts by their size. None has padding, which the executor
//! takes for memory that nobody wrote.

use warpfold::{Aggregate, Monoid, aggregate, monoid};

/// An affine map with a mark: a composition is that of the maps, and the last mark that is
/// not 0.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkedMap;

#[monoid]
impl Monoid for MarkedMap {
    type Item = (u32, u64, u32);
    fn identity(&self) -> (u32, u64, u32) {
        (0, 0, 1)
    }
    fn combine(&self, left: (u32, u64, u32), right: (u32, u64, u32)) -> (u32, u64, u32) {
        let (mark, offset, factor) = right;
        let moved = left.1.wrapping_mul(factor as u64).wrapping_add(offset) & 0xffff_ffff;
        (if mark == 0 { left.0 } else { mark }, moved, left.2.wrapping_mul(factor))
    }
}

/// Maps that depend on the element and its index. The result has the count, and is a tuple, too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Marked;

#[aggregate]
impl Aggregate for Marked {
    type Input = u32;
    type Monoid = MarkedMap;
    type Output = (u64, (u32, u32), u64);
    fn prepare(&self, index: u64, element: u32) -> (u32, u64, u32) {
        let mark = if element & 3 == 0 { 0 } else { index as u32 };
        (mark, element as u64, element ^ (index as u32))
    }
    fn present(&self, map: (u32, u64, u32), count: u64) -> (u64, (u32, u32), u64) {
        let (mark, offset, factor) = map;
        (offset, (mark, factor), count)
    }
}

/// The same maps, of tuples: of arrays in step, or of an array of tuples.
#[derive(Clone, Copy, Debug, Default)]
pub struct MarkedInStep;

#[aggregate]
impl Aggregate for MarkedInStep {
    type Input = (u8, u32);
    type Monoid = MarkedMap;
    type Output = Option<(u32, u32)>;
    fn prepare(&self, index: u64, (mark, element): (u8, u32)) -> (u32, u64, u32) {
        (mark as u32, index, element)
    }
    fn present(&self, map: (u32, u64, u32), count: u64) -> Option<(u32, u32)> {
        if count == 0 { None } else { Some((map.0, map.2 ^ map.1 as u32)) }
    }
}
