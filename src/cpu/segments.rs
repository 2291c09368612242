//! Reductions of segments on the CPU.
//!
//! Threads take parts of the results, one after the other, and reduce the segments of a part. If
//! there are few segments, all threads reduce one long segment after the other. Columns are reduced
//! in another order (`columns.rs`).

use std::mem::MaybeUninit;
use std::sync::{Mutex, PoisonError};

use super::columns::Columns;
use super::read::{Elements, Prepared};
use super::reduce::{Brackets, bracket};
use super::threads::on_threads;
use super::vectors::{Compiled, Registers, Vectors};
use crate::types::Segments;
use crate::{Aggregate, DeviceAggregate, Element, Item};

/// Bytes of the elements of a part.
const PART_BYTES: usize = 256 << 10;
/// Most elements of a segment that is reduced without memory for items.
const FEW: usize = 32;
/// Fewest segments for each thread, if each is reduced by one thread.
const SEGMENTS_OF_THREAD: u64 = 4;

type Slices<'a, A> = <<A as Aggregate>::Input as Element>::Slices<'a>;

/// The result of each segment.
pub(crate) fn segments<A: DeviceAggregate>(
    aggregate: &A,
    slices: Slices<'_, A>,
    segments: Segments,
) -> Vec<A::Output> {
    let count = segments.count as usize;
    let mut results = Vec::with_capacity(count);
    reduce(aggregate, slices, segments, &mut results.spare_capacity_mut()[..count]);
    // SAFETY: every place was written.
    unsafe { results.set_len(count) };
    results
}

/// The same, into a place for each.
pub(crate) fn segments_into<A: DeviceAggregate>(
    aggregate: &A,
    slices: Slices<'_, A>,
    segments: Segments,
    places: &mut [A::Output],
) {
    let (first, length) = (places.as_mut_ptr().cast(), places.len());
    // SAFETY: only results are written to the places, and they need no drop.
    let places = unsafe { std::slice::from_raw_parts_mut(first, length) };
    reduce(aggregate, slices, segments, places);
}

/// Writes every place.
fn reduce<A: DeviceAggregate>(
    aggregate: &A,
    slices: Slices<'_, A>,
    segments: Segments,
    places: &mut [MaybeUninit<A::Output>],
) {
    if segments.stride != 1 || segments.length == 0 {
        return Columns { aggregate, slices, segments }.reduce(places);
    }
    let (length, pitch) = (segments.length as usize, segments.pitch as usize);
    let elements = |segment: usize| Prepared::for_reduction(aggregate, slices, length).from(segment * pitch);
    let threads = rayon::current_num_threads() as u64;
    if length > FEW && segments.count < SEGMENTS_OF_THREAD * threads {
        let operator = aggregate.monoid();
        for (segment, place) in places.iter_mut().enumerate() {
            let item = bracket(&operator, &elements(segment));
            place.write(aggregate.present(item, segments.length));
        }
        return;
    }
    let of_part = (PART_BYTES / (length * size_of::<A::Input>().max(1))).max(1);
    let parts = Mutex::new(places.chunks_mut(of_part).enumerate());
    let work = || {
        let operator = aggregate.monoid();
        let mut brackets = Brackets::new(&operator, true);
        let mut room = Vec::new();
        loop {
            let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((part, places)) = next else { return };
            let first = part * of_part;
            if length <= FEW {
                Vectors::detected().run(ShortSegments {
                    aggregate,
                    operator: &operator,
                    slices,
                    segments,
                    first,
                    places,
                });
                continue;
            }
            for (index, place) in places.iter_mut().enumerate() {
                let elements = elements(first + index);
                let item = brackets.of(&elements, 0..elements.length(), &mut room);
                place.write(aggregate.present(item, segments.length));
            }
        }
    };
    on_threads(segments.count.div_ceil(of_part as u64) as usize, &work);
}

/// A part of few elements for each result.
struct ShortSegments<'p, 'a, A: DeviceAggregate> {
    aggregate: &'p A,
    operator: &'p A::Monoid,
    slices: Slices<'a, A>,
    segments: Segments,
    /// The first segment of the part.
    first: usize,
    places: &'p mut [MaybeUninit<A::Output>],
}

impl<A: DeviceAggregate> Compiled for ShortSegments<'_, '_, A> {
    type Output = ();
    #[inline(always)]
    fn run<const BYTES: usize>(self, _: Registers<BYTES>) {
        let Self { aggregate, operator, slices, segments, first, places } = self;
        for (index, place) in places.iter_mut().enumerate() {
            let begin = (first + index) * segments.pitch as usize;
            let elements = Prepared::for_reduction(aggregate, slices, segments.length as usize).from(begin);
            let item: Item<A> = elements.bracket_of_few(operator);
            place.write(aggregate.present(item, segments.length));
        }
    }
}
