//! A block's way up and down, level by level.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use super::lanes::{Lanes, tile_items};
use super::runs::Runs;
use super::turns::Edges;
use crate::cpu::vectors::{Vectors, has_lanes};
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
        match self.vectors {
            Vectors::Portable => self.up_with::<{ Vectors::Portable.bytes() }>(items),
            // SAFETY: the processor has what it is compiled for.
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2 => unsafe { self.up_with_avx2(items) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512 => unsafe { self.up_with_avx512(items) },
        }
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
        // SAFETY: the caller's promise, and the processor has what it is compiled for.
        unsafe {
            match self.vectors {
                Vectors::Portable => {
                    self.down_with::<{ Vectors::Portable.bytes() }>(prefix, edges, items, places);
                }
                #[cfg(target_arch = "x86_64")]
                Vectors::Avx2 => self.down_with_avx2(prefix, edges, items, places),
                #[cfg(target_arch = "x86_64")]
                Vectors::Avx512 => self.down_with_avx512(prefix, edges, items, places),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn up_with_avx2(&mut self, items: &[M::Item]) -> M::Item {
        self.up_with::<{ Vectors::Avx2.bytes() }>(items)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn down_with_avx2(
        &mut self,
        prefix: Prefix,
        edges: Edges<M::Item>,
        items: Option<&[M::Item]>,
        places: &mut [MaybeUninit<M::Item>],
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.down_with::<{ Vectors::Avx2.bytes() }>(prefix, edges, items, places) };
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    fn up_with_avx512(&mut self, items: &[M::Item]) -> M::Item {
        self.up_with::<{ Vectors::Avx512.bytes() }>(items)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn down_with_avx512(
        &mut self,
        prefix: Prefix,
        edges: Edges<M::Item>,
        items: Option<&[M::Item]>,
        places: &mut [MaybeUninit<M::Item>],
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.down_with::<{ Vectors::Avx512.bytes() }>(prefix, edges, items, places) };
    }

    #[inline(always)]
    fn up_with<const BYTES: usize>(&mut self, items: &[M::Item]) -> M::Item {
        self.depth = 0;
        let mut items = items;
        let mut lanes = self.lanes.iter_mut();
        if has_lanes(BYTES) {
            while items.len() >= tile_items::<M::Item>() {
                let Some(lanes) = lanes.next() else { break };
                items = lanes.up::<BYTES>(self.operator, items);
                self.depth += 1;
            }
        }
        self.runs.up(items)
    }

    /// # Safety
    ///
    /// As for [`down`](Self::down).
    #[inline(always)]
    unsafe fn down_with<const BYTES: usize>(
        &mut self,
        prefix: Prefix,
        edges: Edges<M::Item>,
        items: Option<&[M::Item]>,
        places: &mut [MaybeUninit<M::Item>],
    ) {
        let Some(last) = self.depth.checked_sub(1) else {
            return self.runs.down(prefix, edges, places);
        };
        let lanes = &mut self.lanes;
        let ends = lanes[last].values_and_ends(self.operator, edges.before).1;
        self.runs.down(Prefix::Inclusive, edges, ends);
        if has_lanes(BYTES) {
            for level in (1..=last).rev() {
                let (below, above) = lanes.split_at_mut(level);
                let (values, ends) = below[level - 1].values_and_ends(self.operator, edges.before);
                // SAFETY: they are what went up there, whose own ends were written before.
                unsafe {
                    above[0].down::<BYTES>(self.operator, Prefix::Inclusive, Some(values), ends, false)
                };
            }
            // SAFETY: as above, or the caller's promise.
            unsafe { lanes[0].down::<BYTES>(self.operator, prefix, items, places, self.streams) };
        }
    }
}
