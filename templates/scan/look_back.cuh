// The value of everything before a tile, by one warp of the block that has the tile.
//
// Each tile publishes its value in global memory. The last tile of a window publishes the value of
// the window. The last tile of a window of windows publishes the value of that, and so on. A tile
// looks back at the values before it: of the windows, and of the tiles of its own window.
//
// Invariants: every published value is that of a perfect subtree of the bracket. So the result does
// not depend on timing. A tile only waits for tiles before it, and those are taken already.

namespace warpfold {

// The values of the places of a window. Each lane holds PLACES adjacent ones.
template <unsigned PLACES, class Item>
struct Window {
    Words<Item> value[PLACES];

    // Waits for the values of the places before `place`. All other places get `own`, the value of
    // `place`.
    WARPFOLD_DEVICE void receive(const unsigned long long* cells, unsigned stride, unsigned place,
                                 const Words<Item>& own, unsigned epoch) {
        const unsigned first = lane_index() * PLACES;
        FlaggedValue<Item> flagged[PLACES];
        for (;;) {
            bool all_flagged = true;
#pragma unroll
            for (unsigned k = 0; k < PLACES; ++k) {
                if (first + k < place) flagged[k].look(cells + k * stride);
            }
#pragma unroll
            for (unsigned k = 0; k < PLACES; ++k) all_flagged &= first + k >= place || flagged[k].has(epoch);
            if (all_flagged) break;
            pause();
        }
#pragma unroll
        for (unsigned k = 0; k < PLACES; ++k) value[k] = select(first + k < place, flagged[k].value(), own);
    }

    // Up: each place gets the value of the largest perfect subtree that ends with it.
    template <class Operator>
    WARPFOLD_DEVICE void combine_subtrees(const Operator& op) {
#pragma unroll
        for (unsigned step = 1; step < PLACES; step *= 2) {
#pragma unroll
            for (unsigned k = 2 * step - 1; k < PLACES; k += 2 * step) value[k] = combine(op, value[k - step], value[k]);
        }
        value[PLACES - 1] = subtrees(op, value[PLACES - 1], WARP_LANES);
    }

    // The value of one place, in all lanes.
    WARPFOLD_DEVICE Words<Item> at(unsigned place) const {
        Words<Item> chosen = value[PLACES - 1];
#pragma unroll
        for (unsigned k = 0; k + 1 < PLACES; ++k) chosen = select(place % PLACES == k, value[k], chosen);
        return shuffle_from(chosen, place / PLACES);
    }
};

// The published values: one cell for each tile, for each window of tiles, for each window of
// windows, and so on.
template <unsigned PLACES, class Item>
class Cells {
    // A cell is a whole number of pairs of 64-bit words. A pair is one load.
    static constexpr unsigned CELL = (Words<Item>::COUNT + 1) / 2 * 2;
    static constexpr unsigned WINDOW = WARP_LANES * PLACES;

    unsigned long long* cells;
    Size tiles;
    unsigned epoch;

    // The first cell of the window that holds `index`. Its cells are ordered so that the 32 lanes
    // read adjacent ones at once.
    WARPFOLD_DEVICE unsigned long long* window(unsigned level, Size index) const {
        Size windows = index / WINDOW;
#pragma unroll 1
        for (Size count = tiles; level > 0; --level, count /= WINDOW) windows += (count + WINDOW - 1) / WINDOW;
        return cells + windows * (WINDOW * CELL);
    }

  public:
    WARPFOLD_DEVICE Cells(unsigned long long* cells, Size tiles, unsigned epoch)
        : cells(cells), tiles(tiles), epoch(epoch) {}

    // The number of levels that `look_back` visits: each level on which a tile has a value before
    // it, at least level 0, and one more. The last tile of a full window has its place there.
    WARPFOLD_DEVICE unsigned levels() const {
        unsigned levels = 1;
#pragma unroll 1
        for (Size last = tiles - 1; last >= WINDOW; last /= WINDOW) ++levels;
        return levels + 1;
    }

    // The index of the window that holds `index`, on the next level; and the place in that window.
    static WARPFOLD_DEVICE Size above(Size index) { return index / WINDOW; }
    static WARPFOLD_DEVICE unsigned place(Size index) { return index % WINDOW; }
    static WARPFOLD_DEVICE bool ends_window(Size index) { return place(index) == WINDOW - 1; }

    WARPFOLD_DEVICE void publish(unsigned level, Size index, const Words<Item>& value) const {
        const unsigned at = place(index) % PLACES * WARP_LANES + place(index) / PLACES;
        if (lane_index() == 0) value.send(window(level, index) + at * CELL, epoch);
    }

    // The value of window `index` of tiles, from the values of its tiles.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> value_of(const Operator& op, Size index) const {
        Window<PLACES, Item> seen;
        seen.receive(window(0, index * WINDOW) + lane_index() * CELL, WARP_LANES * CELL, WINDOW, Words<Item>(), epoch);
        seen.combine_subtrees(op);
        return seen.at(WINDOW - 1);
    }

    // The largest perfect subtrees of the places up to `index` in its window. `value` is that of
    // `index`.
    template <class Operator>
    WARPFOLD_DEVICE Window<PLACES, Item> subtrees_before(const Operator& op, unsigned level, Size index,
                                                         const Words<Item>& value) const {
        Window<PLACES, Item> seen;
        seen.receive(window(level, index) + lane_index() * CELL, WARP_LANES * CELL, place(index), value, epoch);
        seen.combine_subtrees(op);
        return seen;
    }
};

// The value of everything before a place of a window. It is the value before the window, followed
// by the largest perfect subtrees of the places between.
template <class Operator, unsigned PLACES, class Item>
WARPFOLD_DEVICE Words<Item> before_place(const Operator& op, const Edges<Item>& window,
                                         const Window<PLACES, Item>& subtrees, unsigned place) {
    Words<Item> before = window.before;
    bool has_before = window.has_before;
#pragma unroll 1
    for (unsigned end = 0; end < place;) {
        end += 1u << (31 - count_leading_zeros(place - end));
        const Words<Item> next = subtrees.at(end - 1);
        before = has_before ? combine(op, before, next) : next;
        has_before = true;
    }
    return before;
}

// The values of everything before a tile, and before its end. All lanes of a warp take part.
// `whole` is the tile's value.
template <class Operator, unsigned PLACES, class Item>
WARPFOLD_DEVICE Edges<Item> look_back(const Operator& op, const Cells<PLACES, Item>& cells, Size tile,
                                      const Words<Item>& whole) {
    // Up: the tile that ends a window publishes its value, on every level. The subtrees of the
    // tile's own window are kept for the way down.
    Words<Item> value = whole;
    Window<PLACES, Item> tiles;
    Size index = tile;
    unsigned ended = 0;
    cells.publish(0, tile, whole);
#pragma unroll 1
    for (; cells.ends_window(index); ++ended) {
        const Window<PLACES, Item> subtrees = cells.subtrees_before(op, ended, index, value);
        if (ended == 0) tiles = subtrees;
        value = subtrees.at(cells.place(index));
        index = cells.above(index);
        cells.publish(ended + 1, index, value);
    }
    // Down, from the largest windows to the smallest.
    Edges<Item> edges = {false, whole, whole};
#pragma unroll 1
    for (unsigned level = cells.levels(); level-- > 0;) {
        index = tile;
#pragma unroll 1
        for (unsigned k = 0; k < level; ++k) index = cells.above(index);
        const unsigned place = cells.place(index);
        if (place == 0 && level != ended) continue;
        // `tiles` has the subtrees of this window if the tile ends it. On level `ended`, `value` is
        // that of the tile's own place: it includes all smaller windows that the tile ends.
        const bool is_known = level < ended && level == 0;
        // The window just before the tile's window is read from its tiles, which are published
        // earlier.
        Words<Item> own = value;
        if (level == 1 && ended == 0) own = cells.value_of(op, --index);
        const Window<PLACES, Item> subtrees = is_known ? tiles : cells.subtrees_before(op, level, index, own);
        if (level == ended) edges.after = before_place(op, edges, subtrees, place + 1);
        if (place > 0) edges.before = before_place(op, edges, subtrees, place), edges.has_before = true;
    }
    return edges;
}

}  // namespace warpfold
