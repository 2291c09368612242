//! A block's way up and down, level by level.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use super::lanes::{Lanes, tile_items};
use super::runs::Runs;
use super::turns::Edges;
use crate::cpu::vectors::{Compiled, Vectors, has_lanes};
use crate::cpu::{RUN, rows};
use crate::tree::Prefix;
use crate::{DeviceType, Monoid};

/// As often at most, values of runs fill lanes.
const DEPTH: usize = 4;

/// Whether items of that type do, with these vectors.
pub(super) fn go_in_lanes<T: DeviceType>(vectors: Vectors) -> bool {
    rows::suit(&T::layout()) && vectors.have_lanes()
}

/// A block on its way up and down: a tile of runs of eight items at once, and then the values of runs in the same way, as long as they fill
/// lanes; and one run at a time.
pub(super) struct Levels<'a, M: Monoid> {
    operator: &'a M,
    vectors: Vectors,
    /// Of items, of values of runs of items, and so on, as far as they fill lanes, if they go there.
    lanes: Vec<Lanes<'a, M>>,
    /// Those that the block went up.
    depth: usize,
    runs: Runs<'a, M>,
    /// Whether lanes write past the caches.
    streams: bool,
}

impl<'a, M: Monoid> Levels<'a, M> {
    /// For blocks of so many items at most.
    pub(super) fn new(operator: &'a M, most: usize, streams: bool) -> Self {
        Self::with(operator, most, streams, Vectors::detected())
    }

    pub(super) fn with(operator: &'a M, most: usize, streams: bool, vectors: Vectors) -> Self {
        let in_lanes = go_in_lanes::<M::Item>(vectors);
        let levels = (0..if in_lanes { DEPTH } else { 0 }).map(|level| most / RUN.pow(level as u32));
        let fill_lanes = |&most: &usize| most >= tile_items::<M::Item>();
        let lanes = levels.take_while(fill_lanes).map(|most| Lanes::new(operator, most)).collect();
        Self { operator, vectors, lanes, depth: 0, runs: Runs::new(operator), streams }
    }

    /// Returns the value of the block, if it is whole.
    pub(super) fn up(&mut self, items: &[M::Item]) -> M::Item {
        self.vectors.run(Up { levels: self, items })
    }

    /// # Safety
    ///
    /// The items are those that [went up](Self::up), and if there are none the places hold them. There are as many places.
    pub(super) unsafe fn down(
        &mut self,
        prefix: Prefix,
        edges: Edges<M::Item>,
        items: Option<&[M::Item]>,
        places: &mut [MaybeUninit<M::Item>],
    ) {
        self.vectors.run(Down { levels: self, prefix, edges, items, places });
    }
}

struct Up<'l, 'a, M: Monoid> {
    levels: &'l mut Levels<'a, M>,
    items: &'l [M::Item],
}

impl<M: Monoid> Compiled for Up<'_, '_, M> {
    type Output = M::Item;
    #[inline(always)]
    fn run<const BYTES: usize>(self) -> M::Item {
        let Self { levels, mut items } = self;
        levels.depth = 0;
        let mut lanes = levels.lanes.iter_mut();
        if has_lanes(BYTES) {
            while items.len() >= tile_items::<M::Item>() {
                let Some(lanes) = lanes.next() else { break };
                items = lanes.up::<BYTES>(levels.operator, items);
                levels.depth += 1;
            }
        }
        levels.runs.up(items)
    }
}

/// Only [`Levels::down`] makes one, whose caller promises what it has to.
struct Down<'l, 'a, M: Monoid> {
    levels: &'l mut Levels<'a, M>,
    prefix: Prefix,
    edges: Edges<M::Item>,
    items: Option<&'l [M::Item]>,
    places: &'l mut [MaybeUninit<M::Item>],
}

impl<M: Monoid> Compiled for Down<'_, '_, M> {
    type Output = ();
    #[inline(always)]
    fn run<const BYTES: usize>(self) {
        let Self { levels, prefix, edges, items, places } = self;
        let Some(last) = levels.depth.checked_sub(1) else {
            return levels.runs.down(prefix, edges, places);
        };
        let lanes = &mut levels.lanes;
        let ends = lanes[last].values_and_ends(levels.operator, edges.before).1;
        levels.runs.down(Prefix::Inclusive, edges, ends);
        if has_lanes(BYTES) {
            for level in (1..=last).rev() {
                let (below, above) = lanes.split_at_mut(level);
                let (values, ends) = below[level - 1].values_and_ends(levels.operator, edges.before);
                // SAFETY: they are what went up there, whose own ends were written before.
                unsafe {
                    above[0].down::<BYTES>(levels.operator, Prefix::Inclusive, Some(values), ends, false)
                };
            }
            // SAFETY: as above, or the caller's promise.
            unsafe { lanes[0].down::<BYTES>(levels.operator, prefix, items, places, levels.streams) };
        }
    }
}
