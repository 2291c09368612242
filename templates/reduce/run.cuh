// The bracket of a run, by one warp: of tiles where the shape has them, and of rows.
//
// Every value that enters the counter is a perfect subtree, or the last one of the run. The
// operator only sees items of the input, and values of them.

namespace warpfold {

// One group for each lane, of a row that has `present` elements. The first `lanes` lanes have
// elements. The other lanes duplicate the group of the last of them.
template <class Shape, class Reader>
struct Row {
    static constexpr unsigned GROUP_ITEMS = Shape::GROUP_ITEMS, ITEMS = WARP_LANES * GROUP_ITEMS;
    static_assert((GROUP_ITEMS & (GROUP_ITEMS - 1)) == 0, "a group is a power of two of items");
    typedef typename Reader::template Group<Shape> Group;

    Group group;
    unsigned lanes;
    PrefixMask lane_mask;

    // Uses wide loads if the row is complete and its address allows them.
    WARPFOLD_DEVICE void load(typename Reader::Cursor from, PrefixMask present) {
        const unsigned last = (present.count - 1) / GROUP_ITEMS;
        const unsigned first = (lane_index() < last ? lane_index() : last) * GROUP_ITEMS;
        lanes = last + 1, lane_mask = {present.count - first};
        if constexpr (Group::HAS_WHOLE) {
            if (present.count == ITEMS && Group::loads_whole(from)) return group.load_whole(from + first);
        }
        group.load_present(from, first, present);
    }

    // The bracket of each lane's group.
    template <class Operator>
    WARPFOLD_DEVICE Words<typename Reader::Item> value(const Operator& op) const {
        return group.bracket(op, lane_mask);
    }
};

// A run of rows only. It has the interface of `Tiles`, without a tile.
template <class Reader_>
class Rows {
  public:
    typedef Reader_ Reader;
    typedef typename Reader::Item Item;

  private:
    typename Reader::Cursor cursor;

  public:
    WARPFOLD_DEVICE explicit Rows(typename Reader::Cursor begin) : cursor(begin) {}
    WARPFOLD_DEVICE typename Reader::Cursor next() const { return cursor; }
    WARPFOLD_DEVICE void advance(unsigned count) { cursor = cursor + count; }
    WARPFOLD_DEVICE RowCounter<Item, LaneDigits<Item>> counter() const { return RowCounter<Item, LaneDigits<Item>>(); }
    WARPFOLD_DEVICE bool has_next(unsigned) const { return false; }
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> take(const Operator&) {
        return Words<Item>();
    }
};

// The part of a lane of 2^row_level rows, or of the `length` elements that are left: neighbouring
// elements, which the operator accumulates. Returns the number of lanes that have a part. The other
// lanes repeat the last part.
template <class Shape, class Reader, class Operator>
WARPFOLD_DEVICE unsigned accumulate_part(const Operator& op, typename Reader::Cursor begin, unsigned row_level, Size length,
                                         Words<typename Reader::Item>& value) {
    constexpr unsigned GROUP_ITEMS = Shape::GROUP_ITEMS;
    typedef typename Reader::template Group<Shape> Group;
    const Size part = Size(GROUP_ITEMS) << row_level;
    length = smaller(length, part * WARP_LANES);
    const unsigned last = static_cast<unsigned>((length - 1) / part), lane = lane_index() < last ? lane_index() : last;
    typename Reader::Cursor next = begin + lane * part;
    Size left = smaller(length - lane * part, part);
#pragma unroll 1
    for (bool begins = true; left > 0; begins = false) {
        const PrefixMask present = {static_cast<unsigned>(smaller(left, GROUP_ITEMS))};
        Group group;
        bool is_loaded = false;
        if constexpr (Group::HAS_WHOLE) {
            is_loaded = present.count == GROUP_ITEMS && Group::loads_whole(next);
            if (is_loaded) group.load_whole(next);
        }
        if (!is_loaded) group.load_present(next, 0, present);
        accumulate_group<typename Reader::Item, GROUP_ITEMS>(op, group, present, begins, value);
        next = next + present.count, left -= present.count;
    }
    return last + 1;
}

// Reduces 2^row_level rows, or the `length` items that are left of the input, with the result in
// lane 0. `length` is at least 1.
//
// Where the shape says so, neighbouring tiles merge lane by lane before lanes are combined: four
// tiles, or the last two. Items that do not fill a tile are reduced row by row.
template <class Shape, class Operator, class Tiles>
WARPFOLD_DEVICE Words<typename Tiles::Item> warp_run(const Operator& op, Tiles& tiles, unsigned row_level, Size length) {
    using Item = typename Tiles::Item;
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS, TILE_ITEMS = Shape::ROWS * ROW_ITEMS;
    constexpr unsigned MERGED = Shape::ROWS > 1 ? Shape::MERGED_TILES : 1, AHEAD = 8;
    static_assert(MERGED == 1 || MERGED == 4, "one tile, or four");
    auto counter = tiles.counter();
    // `merging` tiles merge: 1, 2 or 4. `merged` of them are reduced. `single` is the first or
    // third one. `pair` is the first two, merged.
    unsigned merging = 1, merged = 0;
    Words<Item> single, pair;
    // Rows until the next prefetch.
    unsigned rows_to_prefetch = 0;
    const Size all = Size(ROW_ITEMS) << row_level;
    length = smaller(length, all);
#pragma unroll 1
    while (length > 0) {
        Words<Item> value;
        unsigned level = 0, parts = 1;
        if (tiles.has_next(1)) {
            if (MERGED > 1 && merged == 0) merging = tiles.has_next(MERGED) ? MERGED : tiles.has_next(2) ? 2 : 1;
            value = tiles.take(op);
            length -= TILE_ITEMS, level = level_of(Shape::ROWS);
            if (MERGED > 1 && merging > 1) {
                ++merged;
                if (merged % 2 == 1) {
                    single = value;
                    continue;
                }
                value = merge(op, single, value, 1);
                if (merged == 2 && merging > 2) {
                    pair = value;
                    continue;
                }
                parts = merging, level += 1;
                if (merged == MERGED) value = merge(op, pair, value, 2), level += 1;
                merged = 0;
            }
            value = combine_lanes(op, value, parts);
        } else {
            const PrefixMask present = {static_cast<unsigned>(smaller(length, ROW_ITEMS))};
            Row<Shape, typename Tiles::Reader> row;
            row.load(tiles.next(), present);
            value = warp_bracket<IS_ONE_WORD<Item>>(op, row.value(op), row.lanes);
            tiles.advance(ROW_ITEMS);
            length -= present.count;
            if (rows_to_prefetch == 0) tiles.next().template prefetch<1>(smaller(length, AHEAD * ROW_ITEMS)), rows_to_prefetch = AHEAD;
            --rows_to_prefetch;
        }
        if (length == 0 && counter.is_empty()) return value;
        counter.push(op, value, level);
    }
    return counter.bracket(op);
}

}  // namespace warpfold
