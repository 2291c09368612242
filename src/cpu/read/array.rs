//! The reader of one array, or of several arrays in step.

use std::ops::Range;

use super::elements::{BLOCK_BYTES, Elements};
use crate::cpu::prefetch;
use crate::cpu::units::{RUN, items_of, items_of_bytes};
use crate::language::accumulates;
use crate::types::{Arrangement, SliceVisitor};
use crate::{Bitmap, DeviceAggregate, DeviceType, Error, Item, Monoid};

impl<Item: Sync> Elements<Item> for [Item] {
    fn length(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn items<'a>(&'a self, range: Range<usize>, _: &'a mut Vec<Item>) -> &'a [Item] {
        &self[range]
    }
}

/// Elements that lie like `R`, and that an aggregate prepares.
pub(crate) struct Prepared<'p, 'a, A, R: Arrangement> {
    aggregate: &'p A,
    slices: R::Slices<'a>,
    /// The place of the first element in the arrays. Its index is 0.
    first: usize,
    length: usize,
    /// The number of elements that become one item.
    per_item: usize,
}

impl<'p, 'a, A: DeviceAggregate, R: Arrangement<Element = A::Input>> Prepared<'p, 'a, A, R> {
    /// Elements of arrays that have this length ([`length_of`]). Each becomes an item.
    pub(crate) fn each(aggregate: &'p A, slices: R::Slices<'a>, length: usize) -> Self {
        Self { aggregate, slices, first: 0, length, per_item: 1 }
    }

    /// The same for a reduction: a run of elements becomes one item, by the bracket of their items
    /// in registers. If the aggregate accumulates, more elements do.
    pub(crate) fn for_reduction(aggregate: &'p A, slices: R::Slices<'a>, length: usize) -> Self {
        let per_item = match A::ACCUMULATES {
            true => ACCUMULATED,
            // Without optimisation, one element after the other is faster. So it is if elements are the items.
            false if cfg!(debug_assertions) || A::as_places_of_items(&mut []).is_some() => 1,
            false if A::HAS_BRACKET => LONG_RUN,
            false => RUN,
        };
        Self { aggregate, slices, first: 0, length, per_item }
    }

    /// The elements from `first` on, whose indices count from 0.
    #[inline(always)]
    pub(crate) fn from(self, first: usize) -> Self {
        Self { first, ..self }
    }

    /// The bracket of all elements: at least one, and at most [`FEW`]. By a binary counter of units in
    /// registers, and then of parts of a unit, from the smallest to the largest.
    #[inline(always)]
    pub(crate) fn bracket_of_few(&self, operator: &A::Monoid) -> Item<A> {
        if accumulates::<A>(self.length) {
            return self.accumulated(0, self.length);
        }
        // Without a counter, which takes longer than few elements.
        match self.length {
            1 => return self.item(0),
            2 => return self.whole::<2>(operator, 0),
            4 => return self.whole::<4>(operator, 0),
            8 => return self.whole::<8>(operator, 0),
            UNIT => return self.whole::<UNIT>(operator, 0),
            _ => {}
        }
        let (units, rest) = (self.length / UNIT, self.length % UNIT);
        let op = |left, right| operator.combine(left, right);
        let join = |left, value: Option<Item<A>>| Some(value.map_or(left, |value| op(left, value)));
        // Where the part of `count` elements begins.
        let begin = |count: usize| units * UNIT + (rest & !(2 * count - 1));
        let mut value = None;
        if rest & 1 != 0 {
            value = Some(self.item(begin(1)));
        }
        if rest & 2 != 0 {
            value = join(self.whole::<2>(operator, begin(2)), value);
        }
        if rest & 4 != 0 {
            value = join(self.whole::<4>(operator, begin(4)), value);
        }
        if rest & 8 != 0 {
            value = join(self.whole::<8>(operator, begin(8)), value);
        }
        if units > 0 {
            let mut digits = [None; LEVELS];
            for unit in 0..units {
                let (mut value, mut level) = (self.whole::<UNIT>(operator, unit * UNIT), 0);
                while let (1, Some(left)) = (unit >> level & 1, digits[level]) {
                    value = op(left, value);
                    level += 1;
                }
                digits[level] = Some(value);
            }
            for (level, digit) in digits.into_iter().enumerate() {
                if let (1, Some(left)) = (units >> level & 1, digit) {
                    value = join(left, value);
                }
            }
        }
        value.unwrap_or_else(|| unreachable!("there is an element"))
    }

    /// The bracket of a power of two of elements.
    #[inline(always)]
    fn whole<const COUNT: usize>(&self, operator: &A::Monoid, begin: usize) -> Item<A> {
        let elements = R::several::<COUNT>(self.slices, self.first + begin);
        self.aggregate.bracket(operator, begin as u64, elements)
    }

    #[inline(always)]
    fn item(&self, index: usize) -> Item<A> {
        self.aggregate.prepare(index as u64, R::at(self.slices, self.first + index))
    }

    /// Appends the brackets of as many whole runs as there are lanes. The lanes are independent, so
    /// the compiler vectorises the loop over them.
    ///
    /// With a function that this loop and [`whole`](Self::whole) share, a minimum and maximum took 1.4
    /// times as long.
    #[inline(always)]
    fn runs(&self, operator: &A::Monoid, begin: usize, room: &mut Vec<Item<A>>) {
        let elements: [A::Input; LANES * RUN] = R::several(self.slices, self.first + begin);
        let op = |left, right| operator.combine(left, right);
        // Any item, so that the loop writes to initialised memory, whose length the compiler knows.
        let mut values = [self.item(begin); LANES];
        for (lane, value) in values.iter_mut().enumerate() {
            let at = |index: usize| {
                let place = lane * RUN + index;
                self.aggregate.prepare((begin + place) as u64, elements[place])
            };
            let abcd = op(op(at(0), at(1)), op(at(2), at(3)));
            let efgh = op(op(at(4), at(5)), op(at(6), at(7)));
            *value = op(abcd, efgh);
        }
        room.extend_from_slice(&values);
    }

    /// The bracket of at least one element.
    fn short_run(&self, operator: &A::Monoid, begin: usize, count: usize) -> Item<A> {
        match count {
            1 => return self.item(begin),
            RUN => return self.whole::<RUN>(operator, begin),
            _ => {}
        }
        let left = count.next_power_of_two() / 2;
        let right = self.short_run(operator, begin + left, count - left);
        operator.combine(self.short_run(operator, begin, left), right)
    }

    /// The elements of at least one, accumulated.
    #[inline(always)]
    fn accumulated(&self, begin: usize, end: usize) -> Item<A> {
        let accumulate = |item, index| {
            self.aggregate.accumulate(item, index as u64, R::at(self.slices, self.first + index))
        };
        (begin + 1..end).fold(self.item(begin), accumulate)
    }
}

/// Elements of a unit of few elements, and the most few elements.
const UNIT: usize = 16;
pub(crate) const FEW: usize = 1023;
/// Binary digits of the number of their units.
const LEVELS: usize = (FEW / UNIT).ilog2() as usize + 1;
/// Runs side by side, and the largest element of which they are, in bytes.
const LANES: usize = 16;
const LARGEST_IN_LANES: usize = 16;
/// The longest range. No memory bounds it, and a GPU counts the blocks of 2^12 indices by 32 bits.
const MOST_INDICES: usize = if usize::BITS < 64 { usize::MAX - 1 } else { 1 << 44 };
/// Elements that are accumulated to one item. So many that the combination of the items takes
/// little time. A power of two.
const ACCUMULATED: usize = 256;
/// Elements of one item of an aggregate with `HAS_BRACKET`.
const LONG_RUN: usize = 64;

/// Prefetches as many elements of each array as a range has, some distance after it.
#[inline(always)]
pub(crate) fn prefetch_ahead<R: Arrangement>(slices: R::Slices<'_>, range: Range<usize>) {
    R::visit_slices(slices, &mut Prefetch::<false>(range));
}

/// Prefetches the first elements of a range, which is used next.
#[inline(always)]
pub(crate) fn prefetch_next<R: Arrangement>(slices: R::Slices<'_>, range: Range<usize>) {
    R::visit_slices(slices, &mut Prefetch::<true>(range));
}

/// Prefetches elements of arrays: those of a range, or those some distance after it.
struct Prefetch<const OF_RANGE: bool>(Range<usize>);

impl<const OF_RANGE: bool> SliceVisitor<'_> for Prefetch<OF_RANGE> {
    #[inline(always)]
    fn slice<T: DeviceType>(&mut self, slice: &[T]) {
        let Some(items) = slice.get(self.0.clone()) else { return };
        match OF_RANGE {
            true => prefetch::next(items),
            false => prefetch::prefetch_ahead(items, slice),
        }
    }
    // The bytes of a bitmap are few.
    #[inline(always)]
    fn bitmap(&mut self, _: Bitmap<&[u8]>) {}
}

/// The length of the arrays, which is the same for all.
pub(crate) fn length_of<R: Arrangement>(slices: R::Slices<'_>) -> Result<usize, Error> {
    if let Some(indices) = R::indices(slices) {
        let start = match indices.start {
            Some(0) => None,
            start => Some(start.map_or_else(|| "a negative number".to_owned(), |start| start.to_string())),
        };
        return match (start, indices.end) {
            (Some(start), _) => Err(Error::IndexStart { start }),
            (None, Some(end)) if end <= MOST_INDICES as u64 => Ok(end as usize),
            (None, end) => {
                let length = end.and_then(|end| usize::try_from(end).ok()).unwrap_or(usize::MAX);
                Err(Error::InputLength { length, most: MOST_INDICES })
            }
        };
    }
    let mut lengths = Lengths { expected: None, count: 0, wrong: None };
    R::visit_slices(slices, &mut lengths);
    let expected = lengths.expected.unwrap_or(0);
    match lengths.wrong {
        Some((array, length)) => Err(Error::UnequalLengths { array, length, expected }),
        None => Ok(expected),
    }
}

/// The length of the first array, and the first array of another length.
struct Lengths {
    expected: Option<usize>,
    count: usize,
    wrong: Option<(usize, usize)>,
}

impl Lengths {
    fn next(&mut self, length: usize) {
        if length != *self.expected.get_or_insert(length) {
            self.wrong.get_or_insert((self.count, length));
        }
        self.count += 1;
    }
}

impl SliceVisitor<'_> for Lengths {
    fn slice<T: DeviceType>(&mut self, slice: &[T]) {
        self.next(slice.len());
    }
    fn bitmap(&mut self, bitmap: Bitmap<&[u8]>) {
        self.next(bitmap.length);
    }
}

impl<A: DeviceAggregate, R: Arrangement<Element = A::Input>> Elements<Item<A>> for Prepared<'_, '_, A, R> {
    fn length(&self) -> usize {
        self.length.div_ceil(self.per_item)
    }

    fn block(&self) -> usize {
        match self.per_item {
            1 => items_of::<Item<A>>(BLOCK_BYTES),
            // The index alone has no bytes.
            per_item => {
                items_of_bytes(BLOCK_BYTES, size_of::<A::Input>().max(1)).max(2 * per_item) / per_item
            }
        }
    }

    #[inline(always)]
    fn items<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<Item<A>>) -> &'a [Item<A>] {
        if let Some(items) = A::as_items::<R>(self.slices) {
            return &items[self.first..][range];
        }
        let operator = self.aggregate.monoid();
        let (first, end) = (range.start * self.per_item, self.length.min(range.end * self.per_item));
        room.clear();
        room.reserve(range.len());
        match self.per_item {
            1 => room.extend(range.map(|index| self.item(index))),
            RUN if !A::ACCUMULATES => {
                let whole = first + (end - first) / RUN * RUN;
                let mut begin = first;
                while begin + LANES * RUN <= whole {
                    let next = begin + LANES * RUN;
                    prefetch_ahead::<R>(self.slices, self.first + begin..self.first + next);
                    if const { R::COUNT == 1 && size_of::<A::Input>() <= LARGEST_IN_LANES } {
                        self.runs(&operator, begin, room);
                    } else {
                        room.extend(
                            (begin..next).step_by(RUN).map(|begin| self.whole::<RUN>(&operator, begin)),
                        );
                    }
                    begin = next;
                }
                room.extend((begin..whole).step_by(RUN).map(|begin| self.whole::<RUN>(&operator, begin)));
                if whole < end {
                    room.push(self.short_run(&operator, whole, end - whole));
                }
            }
            LONG_RUN if !A::ACCUMULATES => {
                let whole = first + (end - first) / LONG_RUN * LONG_RUN;
                for begin in (first..whole).step_by(LONG_RUN) {
                    prefetch_ahead::<R>(self.slices, self.first + begin..self.first + begin + LONG_RUN);
                    room.push(self.whole::<LONG_RUN>(&operator, begin));
                }
                if whole < end {
                    room.push(self.short_run(&operator, whole, end - whole));
                }
            }
            per_item => room.extend(
                (first..end)
                    .step_by(per_item)
                    .map(|begin| self.accumulated(begin, end.min(begin + per_item))),
            ),
        }
        room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregates::{ArgMax, Filtered, Masked, TopK, Variance};
    use crate::cpu;
    use crate::tree;
    use crate::types::{Indices, NoArray};

    #[crate::device(type = IsNumber)]
    fn is_number(x: f32) -> bool {
        !x.is_nan()
    }

    /// Compares the bracket of the first elements, of every count, with that of their items.
    fn brackets_are_right<A: DeviceAggregate<Arrangement = R>, R: Arrangement<Element = A::Input>>(
        aggregate: A,
        slices: R::Slices<'_>,
        length: usize,
    ) {
        let operator = aggregate.monoid();
        for count in 1..=length {
            let items: Vec<Item<A>> =
                (0..count).map(|index| aggregate.prepare(index as u64, R::at(slices, index))).collect();
            let bracket =
                cpu::bracket(&operator, &Prepared::<A, R>::for_reduction(&aggregate, slices, count));
            let few = Prepared::<A, R>::for_reduction(&aggregate, slices, count).bracket_of_few(&operator);
            let expected = tree::bracket(&operator, &items);
            assert!(DeviceType::same_bits(&bracket, &expected), "{count} elements");
            assert!(DeviceType::same_bits(&few, &expected), "{count} elements, by units");
        }
    }

    #[test]
    fn parts_that_accumulate_have_the_bits_of_the_bracket() {
        type Three = (Variance<f32>, TopK<f32, 3>, ArgMax<f32>);
        let numbers: Vec<f32> = (0..300_u32).map(|k| (k * 7919 % 1009) as f32 / 7.0).collect();
        let few_missing: Vec<f32> =
            numbers.iter().enumerate().map(|(k, &x)| if k % 100 == 3 { f32::NAN } else { x }).collect();
        let marks: Vec<bool> = (0..300).map(|k| k < 128 || k % 3 > 0).collect();
        brackets_are_right(Three::default(), &numbers, 300);
        brackets_are_right(ArgMax::<f32>::default(), &numbers, 300);
        brackets_are_right(
            (Filtered(IsNumber, Three::default()), ArgMax::<f32>::default()),
            &few_missing,
            300,
        );
        brackets_are_right(Masked::<Three>::default(), (&numbers, &marks), 300);
    }

    #[test]
    fn a_range_has_an_end() {
        let length = |end| length_of::<NoArray>(Indices { start: Some(0), end });
        assert!(matches!(length(Some(MOST_INDICES as u64)), Ok(MOST_INDICES)));
        for end in [Some(MOST_INDICES as u64 + 1), Some(u64::MAX), None] {
            assert!(matches!(length(end), Err(Error::InputLength { most: MOST_INDICES, .. })));
        }
    }
}
