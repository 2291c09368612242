// What is before a tile: tiles publish their values, and look back at those before them, in windows of tiles, windows of
// windows, and so on. Every tile and every window is a perfect subtree of the bracket.

namespace warpfold {

// The values of a window's places, of which each lane has a few that are neighbours.
template <unsigned PLACES, class Item>
struct Window {
    Words<Item> value[PLACES];

    // Those before a place, when whoever has them has sent them; of the others, the value of that place.
    WARPFOLD_DEVICE void receive(const unsigned long long* cells, unsigned stride, unsigned place,
                                 const Words<Item>& own, unsigned serial) {
        const unsigned first = lane_index() * PLACES;
        Sent<Item> sent[PLACES];
        for (;;) {
            bool are_there = true;
#pragma unroll
            for (unsigned k = 0; k < PLACES; ++k) {
                if (first + k < place) sent[k].look(cells + k * stride);
            }
#pragma unroll
            for (unsigned k = 0; k < PLACES; ++k) are_there &= first + k >= place || sent[k].has(serial);
            if (are_there) break;
            pause();
        }
#pragma unroll
        for (unsigned k = 0; k < PLACES; ++k) value[k] = select(first + k < place, sent[k].value(), own);
    }

    // On the way up: each gets the largest perfect subtree that ends with it.
    template <class Operator>
    WARPFOLD_DEVICE void combine_subtrees(const Operator& op) {
#pragma unroll
        for (unsigned step = 1; step < PLACES; step *= 2) {
#pragma unroll
            for (unsigned k = 2 * step - 1; k < PLACES; k += 2 * step) value[k] = combine(op, value[k - step], value[k]);
        }
        value[PLACES - 1] = subtrees(op, value[PLACES - 1], WARP_LANES);
    }

    // That of one place, in all lanes.
    WARPFOLD_DEVICE Words<Item> at(unsigned place) const {
        Words<Item> chosen = value[PLACES - 1];
#pragma unroll
        for (unsigned k = 0; k + 1 < PLACES; ++k) chosen = select(place % PLACES == k, value[k], chosen);
        return shuffle_from(chosen, place / PLACES);
    }
};

// The value of each tile, of each window of tiles, of each window of windows, and so on, for other blocks to see.
template <unsigned PLACES, class Item>
class Cells {
    // A cell is whole pairs of words, which are looked at together.
    static constexpr unsigned CELL = (Words<Item>::COUNT + 1) / 2 * 2;
    static constexpr unsigned WINDOW = WARP_LANES * PLACES;

    unsigned long long* cells;
    Size tiles;
    unsigned serial;

    // Where a window begins. Its places stand in the order in which lanes look at them, a cell each at once.
    WARPFOLD_DEVICE unsigned long long* window(unsigned level, Size index) const {
        Size windows = index / WINDOW;
#pragma unroll 1
        for (Size count = tiles; level > 0; --level, count /= WINDOW) windows += (count + WINDOW - 1) / WINDOW;
        return cells + windows * (WINDOW * CELL);
    }

  public:
    WARPFOLD_DEVICE Cells(unsigned long long* cells, Size tiles, unsigned serial)
        : cells(cells), tiles(tiles), serial(serial) {}

    // As many levels of windows as have one that is whole, and one more; or two, the last of which nothing is before in.
    WARPFOLD_DEVICE unsigned levels() const {
        unsigned levels = 1;
#pragma unroll 1
        for (Size last = tiles - 1; last >= WINDOW; last /= WINDOW) ++levels;
        return levels + 1;
    }

    // The window that has an index of a level, and its place there.
    static WARPFOLD_DEVICE Size above(Size index) { return index / WINDOW; }
    static WARPFOLD_DEVICE unsigned place(Size index) { return index % WINDOW; }
    static WARPFOLD_DEVICE bool ends_window(Size index) { return place(index) == WINDOW - 1; }

    WARPFOLD_DEVICE void publish(unsigned level, Size index, const Words<Item>& value) const {
        const unsigned at = place(index) % PLACES * WARP_LANES + place(index) / PLACES;
        if (lane_index() == 0) value.send(window(level, index) + at * CELL, serial);
    }

    // The value of a window of tiles, from those.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> value_of(const Operator& op, Size index) const {
        Window<PLACES, Item> seen;
        seen.receive(window(0, index * WINDOW) + lane_index() * CELL, WARP_LANES * CELL, WINDOW, Words<Item>(), serial);
        seen.combine_subtrees(op);
        return seen.at(WINDOW - 1);
    }

    // The largest perfect subtrees within a window, of those before a place in it, whose value is given.
    template <class Operator>
    WARPFOLD_DEVICE Window<PLACES, Item> subtrees_before(const Operator& op, unsigned level, Size index,
                                                         const Words<Item>& value) const {
        Window<PLACES, Item> seen;
        seen.receive(window(level, index) + lane_index() * CELL, WARP_LANES * CELL, place(index), value, serial);
        seen.combine_subtrees(op);
        return seen;
    }
};

// What is before a place of a window: what is before the window, and the largest perfect subtrees of the places between.
template <class Operator, unsigned PLACES, class Item>
WARPFOLD_DEVICE Words<Item> before_place(const Operator& op, const Edges<Item>& window,
                                         const Window<PLACES, Item>& subtrees, unsigned place) {
    Words<Item> before = window.before;
    bool has_before = window.has_before;
#pragma unroll 1
    for (unsigned end = 0; end < place;) {
        end += 1u << (31 - leading_zeros_of(place - end));
        const Words<Item> next = subtrees.at(end - 1);
        before = has_before ? combine(op, before, next) : next;
        has_before = true;
    }
    return before;
}

// What is before a tile and before its end, by the whole of a warp.
template <class Operator, unsigned PLACES, class Item>
WARPFOLD_DEVICE Edges<Item> look_back(const Operator& op, const Cells<PLACES, Item>& cells, Size tile,
                                      const Words<Item>& whole) {
    // Whoever ends a window publishes its value, and so on. The tiles of the window are needed again.
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
    // From the largest windows to the smallest.
    Edges<Item> edges = {false, whole, whole};
#pragma unroll 1
    for (unsigned level = cells.levels(); level-- > 0;) {
        index = tile;
#pragma unroll 1
        for (unsigned k = 0; k < level; ++k) index = cells.above(index);
        const unsigned place = cells.place(index);
        if (place == 0 && level != ended) continue;
        // The tile's own value ends this window's subtree if it ends all smaller windows.
        const bool is_known = level < ended && level == 0;
        // Of the window just before the tile's the tiles are looked at: whoever ends that window publishes its value later.
        Words<Item> own = value;
        if (level == 1 && ended == 0) own = cells.value_of(op, --index);
        const Window<PLACES, Item> subtrees = is_known ? tiles : cells.subtrees_before(op, level, index, own);
        if (level == ended) edges.after = before_place(op, edges, subtrees, place + 1);
        if (place > 0) edges.before = before_place(op, edges, subtrees, place), edges.has_before = true;
    }
    return edges;
}

}  // namespace warpfold
