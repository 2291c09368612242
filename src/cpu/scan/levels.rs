//! The up-sweep and the down-sweep of a block.
//!
//! Both go tile by tile. Values are swept up as soon as they fill a tile. The prefixes at the ends
//! of runs are computed just before the tile that needs them.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use super::block_prefixes::Edges;
use super::lanes::{Lanes, tile_items};
use super::runs::Runs;
use super::stream::{Line, Output};
use crate::cpu::prefetch;
use crate::cpu::rows::{self, Rows, Word, as_places, in_words_of, words_of_items, words_of_places};
use crate::cpu::transposition::restore;
use crate::cpu::units::RUN;
use crate::cpu::vectors::{Compiled, Registers, Vectors, has_lanes_of};
use crate::tree::Prefix;
use crate::{DeviceType, Monoid};

/// Most words of an item whose rows may stay in registers.
const REGISTER_WORDS: usize = 2;

/// Most levels of lanes.
const DEPTH: usize = 4;

/// Whether items of type `T` are processed in lanes with these vectors.
pub(super) fn uses_lanes<T: DeviceType>(vectors: Vectors) -> bool {
    rows::fits_lanes(&T::layout()) && vectors.have_lanes()
}

/// The sweeps of a block. A level processes tiles of runs of eight, in lanes. The values of its
/// runs are the items of the level above. Where they do not fill the lanes, `runs` processes one
/// run at a time.
pub(super) struct Levels<'a, M: Monoid> {
    operator: &'a M,
    vectors: Vectors,
    /// The levels of lanes: items, values of runs of items, and so on. None if items do not fit the
    /// lanes.
    lanes: Vec<Lanes<'a, M>>,
    /// Levels of lanes that the current block uses.
    depth: usize,
    runs: Runs<'a, M>,
    /// Whether the output bypasses the caches.
    streams: bool,
    /// The staging buffer of such an output.
    lines: Vec<Line>,
}

impl<'a, M: Monoid> Levels<'a, M> {
    /// Allocates the levels for blocks of at most `most` items.
    pub(super) fn new(operator: &'a M, most: usize, streams: bool) -> Self {
        Self::with(operator, most, streams, Vectors::detected())
    }

    pub(super) fn with(operator: &'a M, most: usize, streams: bool, vectors: Vectors) -> Self {
        let in_lanes = uses_lanes::<M::Item>(vectors);
        let levels = (0..if in_lanes { DEPTH } else { 0 }).map(|level| most / RUN.pow(level as u32));
        let fill_lanes = |&most: &usize| most >= tile_items::<M::Item>();
        // SAFETY: `in_lanes` is true only if the items fit the lanes.
        let lanes = levels.take_while(fill_lanes).map(|most| unsafe { Lanes::new(operator, most) }).collect();
        Self { operator, vectors, lanes, depth: 0, runs: Runs::new(operator), streams, lines: Vec::new() }
    }

    /// Levels of lanes that the block uses.
    #[cfg(test)]
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Sweeps a block up. Returns its value, if it is whole.
    pub(super) fn up(&mut self, items: &[M::Item]) -> M::Item {
        self.vectors.run(Up { levels: self, items })
    }

    /// Sweeps a block down.
    ///
    /// # Safety
    ///
    /// There are as many items, and as many places, as in the last [`up`](Self::up). Without items,
    /// the places hold them. Other items than in the last `up` give other results.
    pub(super) unsafe fn down(
        &mut self,
        prefix: Prefix,
        edges: Edges<M::Item>,
        items: Option<&[M::Item]>,
        places: &mut [MaybeUninit<M::Item>],
    ) {
        assert!(items.is_some() || !self.streams, "what goes past the caches does not come from there");
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
    fn run<const BYTES: usize>(self, registers: Registers<BYTES>) -> M::Item {
        let Self { levels: Levels { operator, lanes, depth, runs, .. }, mut items } = self;
        lanes.iter_mut().for_each(Lanes::clear);
        if const { has_lanes_of::<M::Item>(BYTES) } && !lanes.is_empty() {
            let tile_items = tile_items::<M::Item>();
            let whole = items.len() / tile_items * tile_items;
            for tiles in items[..whole].chunks(RUN * tile_items) {
                for tile in tiles.chunks_exact(tile_items) {
                    prefetch::prefetch_ahead(tile, items);
                    lanes[0].up_tile(registers, operator, tile);
                }
                // Values are swept up as soon as they fill a tile, while the next items arrive.
                for level in 1..lanes.len() {
                    let (below, above) = lanes.split_at_mut(level);
                    let values = below[level - 1].values();
                    if !values.len().is_multiple_of(tile_items) {
                        break;
                    }
                    let tile = &values[values.len() - tile_items..];
                    above[0].up_tile(registers, operator, tile);
                }
            }
        }
        *depth = lanes.iter().take_while(|lanes| !lanes.values().is_empty()).count();
        for lanes in &mut lanes[..*depth] {
            lanes.up_rest(items);
            items = lanes.values();
        }
        runs.up(items)
    }
}

/// The arguments of [`Levels::down`], whose safety conditions hold.
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
    fn run<const BYTES: usize>(self, registers: Registers<BYTES>) {
        if const { has_lanes_of::<M::Item>(BYTES) } && self.levels.depth > 0 {
            in_words_of!(M::Item, W => match self.prefix {
                // One copy of the code. Rows of larger items are in memory.
                prefix if const { size_of::<M::Item>() > REGISTER_WORDS * size_of::<W>() } => {
                    self.in_words::<W, BYTES>(registers, prefix == Prefix::Exclusive)
                }
                // Rows stay in registers only if their indices are constants.
                Prefix::Inclusive => self.in_words::<W, BYTES>(registers, false),
                Prefix::Exclusive => self.in_words::<W, BYTES>(registers, true),
            });
        } else {
            self.levels.runs.down(self.prefix, self.edges, self.places);
        }
    }
}

impl<M: Monoid> Down<'_, '_, M> {
    #[inline(always)]
    fn in_words<W: Word, const BYTES: usize>(self, registers: Registers<BYTES>, exclusive: bool) {
        let Self { levels: Levels { operator, lanes, depth, runs, streams, lines, .. }, .. } = self;
        let Self { prefix, edges, items, places, .. } = self;
        let (lanes, last) = (&mut lanes[..*depth], *depth - 1);
        let is_first = edges.before.is_none();
        lanes.iter_mut().for_each(|lanes| lanes.begin(edges.before));
        // SAFETY: only items are written to them.
        let ends = unsafe { as_places(lanes[last].values_and_ends().1) };
        runs.down(Prefix::Inclusive, edges, ends);
        let (tile_items, tiles) = (W::LANES * RUN, lanes[0].values().len() / W::LANES);
        let words = tile_items * size_of::<M::Item>() / size_of::<W>();
        let (places, rest) = places.split_at_mut(tiles * tile_items);
        let (first_places, places) = places.split_at_mut(if is_first { tile_items } else { 0 });
        // SAFETY: items in lanes have no padding.
        let places_of_tiles = unsafe { words_of_places::<_, W>(places) };
        let mut output = Output::<W, BYTES>::new(registers, places_of_tiles, words, *streams, lines);
        for eight in (0..tiles).step_by(RUN) {
            // The prefixes at the ends of the runs of these tiles, just before they are needed.
            for level in (1..=last).rev() {
                // A tile of this level covers 8^level tiles of items.
                let bits = level * RUN.ilog2() as usize;
                if eight.trailing_zeros() as usize >= bits {
                    let (below, above) = lanes.split_at_mut(level);
                    let (below, above) = (&mut below[level - 1], &mut above[0]);
                    down_above::<M, W, BYTES>(registers, operator, eight >> bits, is_first, above, below);
                }
            }
            for tile in eight..tiles.min(eight + RUN) {
                if tile == 0 && is_first {
                    lanes[0].up_first(match items {
                        Some(items) => &items[..tile_items],
                        // SAFETY: without items, the places hold them.
                        None => unsafe {
                            std::slice::from_raw_parts(first_places.as_ptr().cast(), tile_items)
                        },
                    });
                    lanes[0].down_first(prefix, first_places);
                    continue;
                }
                let items = match items {
                    // SAFETY: items in lanes have no padding.
                    Some(items) => unsafe { words_of_items(&items[tile * tile_items..][..tile_items]) },
                    // SAFETY: the places hold the items. None is overwritten before all are used.
                    None => unsafe { output.next_words() },
                };
                prefetch::after(items);
                let mut rows = Rows::new();
                let lanes = &lanes[0];
                // SAFETY: the words are those of a tile. All rows of the tile are set, and so are
                // all of its places.
                unsafe {
                    let rows =
                        lanes.down_tile::<W, BYTES>(registers, operator, tile, items, &mut rows, exclusive);
                    output.next(|places| restore::<M::Item, W, BYTES>(registers, rows, places));
                }
            }
        }
        drop(output);
        lanes[0].down_rest(prefix, rest);
    }
}

/// Computes the prefixes at the ends of some runs of the level below. The values of these runs are
/// the given tile of the level above. `tile` may be one past the last tile, for the remaining runs.
#[inline(always)]
fn down_above<M: Monoid, W: Word, const BYTES: usize>(
    registers: Registers<BYTES>,
    operator: &M,
    tile: usize,
    is_first: bool,
    above: &mut Lanes<'_, M>,
    below: &mut Lanes<'_, M>,
) {
    let (tile_items, tiles) = (W::LANES * RUN, above.values().len() / W::LANES);
    let (values, ends) = below.values_and_ends();
    // SAFETY: only items are written to them.
    let ends = unsafe { as_places(ends) };
    if tile < tiles {
        let first = tile * tile_items;
        if tile == 0 && is_first {
            above.up_first(&values[..tile_items]);
            above.down_first(Prefix::Inclusive, &mut ends[..tile_items]);
            return;
        }
        // SAFETY: items in lanes have no padding.
        let (values, ends_of_tile) = unsafe {
            (
                words_of_items(&values[first..][..tile_items]),
                words_of_places(&mut ends[first..][..tile_items]),
            )
        };
        let mut rows = Rows::new();
        // SAFETY: the words are those of a tile, and all of its rows are set.
        unsafe {
            let rows = above.down_tile::<W, BYTES>(registers, operator, tile, values, &mut rows, false);
            restore::<M::Item, W, BYTES>(registers, rows, ends_of_tile);
        }
    } else {
        assert_eq!(tile, tiles);
        above.down_rest(Prefix::Inclusive, &mut ends[tiles * tile_items..]);
    }
}
