//! The reader of one array, or of several arrays in step.

use std::ops::Range;

use super::elements::Elements;
use crate::types::SliceVisitor;
use crate::{Bitmap, DeviceAggregate, DeviceType, Element, Error, Item};

impl<Item: Sync> Elements<Item> for [Item] {
    fn length(&self) -> usize {
        self.len()
    }

    fn items<'a>(&'a self, range: Range<usize>, _: &'a mut Vec<Item>) -> &'a [Item] {
        &self[range]
    }
}

/// Elements that an aggregate prepares.
pub(crate) struct Prepared<'p, 'a, A: DeviceAggregate> {
    aggregate: &'p A,
    slices: <A::Input as Element>::Slices<'a>,
    length: usize,
    /// The number of elements that become one item.
    per_item: usize,
}

impl<'p, 'a, A: DeviceAggregate> Prepared<'p, 'a, A> {
    /// Elements of arrays that have this length ([`length_of`]). Each becomes an item.
    pub(crate) fn each(aggregate: &'p A, slices: <A::Input as Element>::Slices<'a>, length: usize) -> Self {
        Self { aggregate, slices, length, per_item: 1 }
    }

    /// The same for a reduction: if the aggregate accumulates, many elements become one item.
    pub(crate) fn for_reduction(
        aggregate: &'p A,
        slices: <A::Input as Element>::Slices<'a>,
        length: usize,
    ) -> Self {
        let per_item = if A::ACCUMULATES { ACCUMULATED } else { 1 };
        Self { aggregate, slices, length, per_item }
    }
}

/// Elements that are accumulated to one item. So many that the combination of the items takes
/// little time.
const ACCUMULATED: usize = 256;

/// The length of the arrays, which is the same for all.
pub(crate) fn length_of<E: Element>(slices: E::Slices<'_>) -> Result<usize, Error> {
    if let Some(indices) = E::indices(slices) {
        let start = match indices.start {
            Some(0) => None,
            start => Some(start.map_or_else(|| "a negative number".to_owned(), |start| start.to_string())),
        };
        return match (start, indices.end) {
            (Some(start), _) => Err(Error::IndexStart { start }),
            (None, Some(end)) => Ok(end as usize),
            (None, None) => Err(Error::InputLength { length: usize::MAX, most: usize::MAX - 1 }),
        };
    }
    let mut lengths = Lengths { expected: None, count: 0, wrong: None };
    E::visit_slices(slices, &mut lengths);
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

impl<A: DeviceAggregate> Elements<Item<A>> for Prepared<'_, '_, A> {
    fn length(&self) -> usize {
        self.length.div_ceil(self.per_item)
    }

    fn items<'a>(&'a self, range: Range<usize>, room: &'a mut Vec<Item<A>>) -> &'a [Item<A>] {
        if let Some(items) = A::as_items(self.slices) {
            return &items[range];
        }
        let element = |index| A::Input::at(self.slices, index);
        let prepare = |index| self.aggregate.prepare(index as u64, element(index));
        room.clear();
        if A::ACCUMULATES && self.per_item > 1 {
            let accumulate = |item, index| self.aggregate.accumulate(item, index as u64, element(index));
            room.extend(range.map(|number| {
                let begin = number * self.per_item;
                let end = self.length.min(begin + self.per_item);
                (begin + 1..end).fold(prepare(begin), accumulate)
            }));
        } else {
            room.extend(range.map(prepare));
        }
        room
    }
}
