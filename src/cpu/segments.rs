//! Reductions of segments on the CPU.
//!
//! Threads take parts of the results, one after the other, and reduce the segments of a part. If
//! there are few segments, all threads reduce one long segment after the other. Columns are reduced
//! in another order (`columns.rs`).

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::columns::Columns;
use super::read::{Elements, FEW, Prepared, prefetch_ahead, prefetch_next};
use super::reduce::{Brackets, bracket};
use super::threads::on_threads;
use super::vectors::{Compiled, Registers, Vectors};
use crate::types::{Arrangement, Segments};
use crate::{DeviceAggregate, Monoid};

/// Bytes of the elements of a part.
const PART_BYTES: usize = 256 << 10;
/// Bytes of elements that are prefetched at once.
const AHEAD_BYTES: usize = 256;
/// Fewest bytes of a segment, on average, for which elements are prefetched. For shorter ones the check of
/// each segment takes longer than it saves.
const LEAST_PREFETCHED: usize = 128;
/// Fewest segments for each thread, if each is reduced by one thread.
const SEGMENTS_OF_THREAD: u64 = 4;
/// Bytes of a segment among others from which on all threads reduce it.
const LONG_BYTES: usize = 4 << 20;
/// Parts for each thread if segments have different lengths, and most segments of a part.
const PARTS_OF_THREAD: usize = 64;
const MOST_OF_PART: usize = 4096;
/// Numbers that a thread checks at once.
const CHECKED_AT_ONCE: usize = 1 << 16;

/// Writes the result of each segment.
pub(crate) fn segments<A: DeviceAggregate, R: Arrangement<Element = A::Input>>(
    aggregate: &A,
    slices: R::Slices<'_>,
    segments: Segments,
    places: &mut [MaybeUninit<A::Output>],
) {
    if segments.stride != 1 || segments.length == 0 {
        return Columns::<A, R> { aggregate, slices, segments }.reduce(places);
    }
    let (length, pitch) = (segments.length as usize, segments.pitch as usize);
    let range_of = move |segment: usize| segment * pitch..segment * pitch + length;
    let is_long = length > LONG_BYTES / size_of::<A::Input>().max(1);
    if is_long || length > FEW && segments.count < SEGMENTS_OF_THREAD * rayon::current_num_threads() as u64 {
        for (segment, place) in places.iter_mut().enumerate() {
            place.write(by_all_threads::<A, R>(aggregate, slices, range_of(segment)));
        }
        return;
    }
    let of_part = (PART_BYTES / (length * size_of::<A::Input>().max(1))).max(1);
    by_parts(Each::<A, R, _> { aggregate, slices, range_of, longest: usize::MAX }, of_part, places);
}

/// Writes the result of each range of elements.
pub(crate) fn ranges<A: DeviceAggregate, R: Arrangement<Element = A::Input>>(
    aggregate: &A,
    slices: R::Slices<'_>,
    range_of: impl Fn(usize) -> Range<usize> + Copy + Sync,
    places: &mut [MaybeUninit<A::Output>],
) {
    let longest = LONG_BYTES / size_of::<A::Input>().max(1);
    let of_part = (places.len() / (PARTS_OF_THREAD * rayon::current_num_threads())).clamp(1, MOST_OF_PART);
    let longer = by_parts(Each::<A, R, _> { aggregate, slices, range_of, longest }, of_part, places);
    for index in longer {
        places[index].write(by_all_threads::<A, R>(aggregate, slices, range_of(index)));
    }
}

/// The first of `count` numbers that is wrong.
pub(crate) fn first_wrong(count: usize, is_right: &(dyn Fn(usize) -> bool + Sync)) -> Option<usize> {
    let (next, first) = (AtomicUsize::new(0), AtomicUsize::new(usize::MAX));
    let work = || loop {
        let begin = next.fetch_add(CHECKED_AT_ONCE, Ordering::Relaxed);
        if begin >= count.min(first.load(Ordering::Relaxed)) {
            return;
        }
        if let Some(wrong) = (begin..count.min(begin + CHECKED_AT_ONCE)).find(|&number| !is_right(number)) {
            first.fetch_min(wrong, Ordering::Relaxed);
        }
    };
    on_threads(count.div_ceil(CHECKED_AT_ONCE), &work);
    let first = first.into_inner();
    (first < count).then_some(first)
}

fn by_all_threads<A: DeviceAggregate, R: Arrangement<Element = A::Input>>(
    aggregate: &A,
    slices: R::Slices<'_>,
    range: Range<usize>,
) -> A::Output {
    let elements = Prepared::<A, R>::for_reduction(aggregate, slices, range.len()).from(range.start);
    aggregate.present(bracket(&aggregate.monoid(), &elements), range.len() as u64)
}

/// Ranges of elements that are reduced, each by one thread.
struct Each<'p, 'a, A, R: Arrangement, F> {
    aggregate: &'p A,
    slices: R::Slices<'a>,
    range_of: F,
    /// Longer ones are left out.
    longest: usize,
}

impl<A, R: Arrangement, F: Copy> Clone for Each<'_, '_, A, R, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, R: Arrangement, F: Copy> Copy for Each<'_, '_, A, R, F> {}

/// Writes the places of all ranges that are not too long, and returns the others. A part has `of_part`
/// places.
fn by_parts<
    A: DeviceAggregate,
    R: Arrangement<Element = A::Input>,
    F: Fn(usize) -> Range<usize> + Copy + Sync,
>(
    each: Each<'_, '_, A, R, F>,
    of_part: usize,
    places: &mut [MaybeUninit<A::Output>],
) -> Vec<usize> {
    let count = places.len().div_ceil(of_part);
    let longer = Mutex::new(Vec::new());
    let parts = Mutex::new(places.chunks_mut(of_part).enumerate());
    let work = || {
        let operator = each.aggregate.monoid();
        let mut brackets = Brackets::new(&operator, true);
        let mut room = Vec::new();
        loop {
            let next = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((part, places)) = next else { return };
            let first = part * of_part;
            let (begin, end) = ((each.range_of)(first).start, (each.range_of)(first + places.len() - 1).end);
            let bytes = end.saturating_sub(begin).saturating_mul(size_of::<A::Input>());
            let (operator, vectors) = (&operator, Vectors::detected());
            match bytes / places.len() < LEAST_PREFETCHED {
                true => vectors.run(Short::<_, _, _, false> { each, operator, first, places: &mut *places }),
                false => vectors.run(Short::<_, _, _, true> { each, operator, first, places: &mut *places }),
            }
            let count_of_part = places.len();
            for (index, place) in places.iter_mut().enumerate() {
                let range = (each.range_of)(first + index);
                let count = range.len();
                if count > each.longest {
                    longer.lock().unwrap_or_else(PoisonError::into_inner).push(first + index);
                } else if count > FEW {
                    if index + 1 < count_of_part {
                        prefetch_next::<R>(each.slices, (each.range_of)(first + index + 1));
                    }
                    let elements =
                        Prepared::<A, R>::for_reduction(each.aggregate, each.slices, count).from(range.start);
                    let item = brackets.of(&elements, 0..elements.length(), &mut room);
                    place.write(each.aggregate.present(item, count as u64));
                }
            }
        }
    };
    on_threads(count, &work);
    longer.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// The ranges of few elements of a part. With `PREFETCHES`, their elements are prefetched.
struct Short<'r, 'p, 'a, A: DeviceAggregate, R: Arrangement, F, const PREFETCHES: bool> {
    each: Each<'p, 'a, A, R, F>,
    operator: &'r A::Monoid,
    /// The first range of the part.
    first: usize,
    places: &'r mut [MaybeUninit<A::Output>],
}

impl<A, R, F: Fn(usize) -> Range<usize>, const PREFETCHES: bool> Compiled
    for Short<'_, '_, '_, A, R, F, PREFETCHES>
where
    A: DeviceAggregate,
    R: Arrangement<Element = A::Input>,
{
    type Output = ();
    #[inline(always)]
    fn run<const BYTES: usize>(self, _: Registers<BYTES>) {
        let Self { each: Each::<A, R, _> { aggregate, slices, range_of, .. }, operator, first, places } =
            self;
        let at_once = (AHEAD_BYTES / size_of::<A::Input>().max(1)).max(1);
        let mut ahead = 0;
        for (index, place) in places.iter_mut().enumerate() {
            let range = range_of(first + index);
            let count = range.len();
            if PREFETCHES && range.start >= ahead {
                ahead = range.start + at_once;
                prefetch_ahead::<R>(slices, range.start..ahead);
            }
            let item = match count {
                0 => operator.identity(),
                1..=FEW => Prepared::<A, R>::for_reduction(aggregate, slices, count)
                    .from(range.start)
                    .bracket_of_few(operator),
                _ => continue,
            };
            place.write(aggregate.present(item, count as u64));
        }
    }
}

/// Values as places for results.
///
/// # Safety
///
/// Only values are written to the places.
pub(crate) unsafe fn as_places<T: Copy>(places: &mut [T]) -> &mut [MaybeUninit<T>] {
    let (first, length) = (places.as_mut_ptr().cast(), places.len());
    // SAFETY: the same memory, to which only values are written, as the caller promises.
    unsafe { std::slice::from_raw_parts_mut(first, length) }
}
