//! Reductions of columns on the CPU.
//!
//! A thread takes a part of the matrix: adjacent columns, and a power of two of rows. It reduces the
//! part from top to bottom, eight rows at a time, by a binary counter of rows of values. So memory is
//! read row by row, and the loops over columns are vectorised. If columns have several parts, the
//! values of the parts are reduced at the end.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::reduce::bracket;
use super::threads::on_threads;
use super::units::RUN;
use super::vectors::{Compiled, Registers, Vectors};
use crate::types::{Arrangement, Segments};
use crate::{DeviceAggregate, Item, Monoid};

/// Bytes of the elements of a row of a part. Their values stay in a cache.
const PART_BYTES: usize = 4 << 10;
/// Parts for each thread, if the matrix has as many.
const PARTS_OF_THREAD: usize = 4;
/// Fewest rows of a part, if the matrix has as many.
const LEAST_ROWS: usize = 64;

/// A matrix whose columns are reduced.
pub(super) struct Columns<'p, 'a, A, R: Arrangement> {
    pub(super) aggregate: &'p A,
    pub(super) slices: R::Slices<'a>,
    pub(super) segments: Segments,
}

impl<A, R: Arrangement> Clone for Columns<'_, '_, A, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, R: Arrangement> Copy for Columns<'_, '_, A, R> {}

impl<A: DeviceAggregate, R: Arrangement<Element = A::Input>> Columns<'_, '_, A, R> {
    /// Writes the result of each column to its place.
    pub(super) fn reduce(&self, places: &mut [MaybeUninit<A::Output>]) {
        let operator = self.aggregate.monoid();
        let (columns, rows) = (self.segments.count as usize, self.segments.length as usize);
        let present = |item| self.aggregate.present(item, self.segments.length);
        if rows == 0 {
            for place in places {
                place.write(present(operator.identity()));
            }
            return;
        }
        let of_part = (PART_BYTES / size_of::<A::Input>().max(1)).clamp(1, columns);
        let (blocks, parts) = (columns.div_ceil(of_part), PARTS_OF_THREAD * rayon::current_num_threads());
        let mut of_chunk = rows.next_power_of_two();
        while of_chunk > LEAST_ROWS && blocks * rows.div_ceil(of_chunk) < parts {
            of_chunk /= 2;
        }
        let chunks = rows.div_ceil(of_chunk);
        let (next, values) = (AtomicUsize::new(0), Mutex::new(vec![None; blocks * chunks]));
        let work = || {
            let mut counter = RowCounter::default();
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                if part >= blocks * chunks {
                    return;
                }
                let (block, chunk) = (part % blocks, part / blocks);
                let columns = block * of_part..columns.min((block + 1) * of_part);
                let rows = chunk * of_chunk..rows.min((chunk + 1) * of_chunk);
                let part_values = Vectors::detected().run(Part {
                    of: *self,
                    operator: &operator,
                    columns,
                    rows,
                    counter: &mut counter,
                });
                values.lock().unwrap_or_else(PoisonError::into_inner)[part] = Some(part_values);
            }
        };
        on_threads(blocks * chunks, &work);
        let values = values.into_inner().unwrap_or_else(PoisonError::into_inner);
        let values: Vec<Vec<Item<A>>> = values.into_iter().flatten().collect();
        let mut of_column = Vec::with_capacity(chunks);
        for (column, place) in places.iter_mut().enumerate() {
            let (block, within) = (column / of_part, column % of_part);
            of_column.clear();
            of_column.extend((0..chunks).map(|chunk| values[chunk * blocks + block][within]));
            place.write(present(bracket(&operator, &of_column[..])));
        }
    }
}

/// A binary counter of rows of values: digit k has the values of 2^k rows.
struct RowCounter<T> {
    digits: Vec<Vec<T>>,
    rows: usize,
    /// Memory for the values of the next rows.
    spare: Vec<Vec<T>>,
}

impl<T> Default for RowCounter<T> {
    fn default() -> Self {
        Self { digits: Vec::new(), rows: 0, spare: Vec::new() }
    }
}

impl<T: Copy> RowCounter<T> {
    /// Adds the values of the next 2^`level` rows.
    #[inline(always)]
    fn push(&mut self, level: usize, mut values: Vec<T>, combine: &impl Fn(T, T) -> T) {
        let mut digit = level;
        while self.rows >> digit & 1 == 1 {
            combine_each(&self.digits[digit], &mut values, combine);
            digit += 1;
        }
        while self.digits.len() <= digit {
            self.digits.push(Vec::new());
        }
        self.spare.push(std::mem::replace(&mut self.digits[digit], values));
        self.rows += 1 << level;
    }

    /// The values of all rows. The counter is empty afterwards.
    #[inline(always)]
    fn take(&mut self, combine: &impl Fn(T, T) -> T) -> Vec<T> {
        let lowest = self.rows.trailing_zeros() as usize;
        let mut values = std::mem::take(&mut self.digits[lowest]);
        for digit in lowest + 1..self.digits.len() {
            if self.rows >> digit & 1 == 1 {
                combine_each(&self.digits[digit], &mut values, combine);
            }
        }
        self.rows = 0;
        values
    }
}

/// Combines each value with the one to its left.
#[inline(always)]
fn combine_each<T: Copy>(left: &[T], values: &mut [T], combine: &impl Fn(T, T) -> T) {
    let left = &left[..values.len()];
    for (value, &left) in values.iter_mut().zip(left) {
        *value = combine(left, *value);
    }
}

/// A part of a matrix.
struct Part<'r, 'p, 'a, A: DeviceAggregate, R: Arrangement> {
    of: Columns<'p, 'a, A, R>,
    operator: &'r A::Monoid,
    columns: Range<usize>,
    rows: Range<usize>,
    counter: &'r mut RowCounter<Item<A>>,
}

impl<A: DeviceAggregate, R: Arrangement<Element = A::Input>> Compiled for Part<'_, '_, '_, A, R> {
    type Output = Vec<Item<A>>;
    #[inline(always)]
    fn run<const BYTES: usize>(self, _: Registers<BYTES>) -> Vec<Item<A>> {
        let Self { of: Columns { aggregate, slices, segments }, operator, columns, rows, counter } = self;
        let stride = segments.stride as usize;
        let item =
            |row: usize, column: usize| aggregate.prepare(row as u64, R::at(slices, row * stride + column));
        if A::ACCUMULATES {
            let mut values: Vec<Item<A>> = columns.clone().map(|column| item(rows.start, column)).collect();
            for row in rows.start + 1..rows.end {
                for (value, column) in values.iter_mut().zip(columns.clone()) {
                    *value = aggregate.accumulate(*value, row as u64, R::at(slices, row * stride + column));
                }
            }
            return values;
        }
        let combine = |left, right| operator.combine(left, right);
        let mut row = rows.start;
        while row < rows.end {
            let mut values = counter.spare.pop().unwrap_or_default();
            values.clear();
            if row + RUN <= rows.end {
                values.extend(columns.clone().map(|column| {
                    let at = |index: usize| item(row + index, column);
                    let abcd = combine(combine(at(0), at(1)), combine(at(2), at(3)));
                    combine(abcd, combine(combine(at(4), at(5)), combine(at(6), at(7))))
                }));
                counter.push(RUN.ilog2() as usize, values, &combine);
                row += RUN;
            } else {
                values.extend(columns.clone().map(|column| item(row, column)));
                counter.push(0, values, &combine);
                row += 1;
            }
        }
        counter.take(&combine)
    }
}
