// The bracket of a run by one warp: rows, and tiles where there are any.

namespace warpfold {

// What the lanes of a warp have of a row of which `present` elements exist: a group each. The first `lanes` lanes have elements; the
// others have those of the last of these.
template <class Shape, class Reader>
struct Row {
    static constexpr unsigned GROUP_ITEMS = Shape::GROUP_ITEMS, ITEMS = WARP_LANES * GROUP_ITEMS;
    static_assert((GROUP_ITEMS & (GROUP_ITEMS - 1)) == 0, "a group is a power of two of items");
    typedef typename Reader::template Group<Shape> Group;

    Group group;
    unsigned lanes;
    First of_lane;

    // By wide loads, if all of the row is there and may be loaded so.
    WARPFOLD_DEVICE void load(typename Reader::Cursor from, First present) {
        const unsigned last = (present.count - 1) / GROUP_ITEMS;
        const unsigned first = (lane_index() < last ? lane_index() : last) * GROUP_ITEMS;
        lanes = last + 1, of_lane = {present.count - first};
        if constexpr (Group::HAS_WHOLE) {
            if (present.count == ITEMS && Group::loads_whole(from)) return group.load_whole(from + first);
        }
        group.load_present(from, first, present);
    }

    // A value of each lane.
    template <class Operator>
    WARPFOLD_DEVICE Words<typename Reader::Item> value(const Operator& op) const {
        return group.bracket(op, of_lane);
    }
};

// Rows alone: there are no tiles.
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
    WARPFOLD_DEVICE void pass(unsigned count) { cursor = cursor + count; }
    WARPFOLD_DEVICE RowCounter<Item, LaneDigits<Item>> counter() const { return RowCounter<Item, LaneDigits<Item>>(); }
    WARPFOLD_DEVICE bool has_next(unsigned) const { return false; }
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> take(const Operator&) {
        return Words<Item>();
    }
};

// The bracket, by one warp and in lane 0, of 2^row_level rows, or of what the input has of them: `length` items, one at least, are
// left of it.
//
// Where the shape says so, tiles that are neighbours merge lane by lane, four to one or the last two, before what the lanes have
// is combined across them. What does not fill a tile goes row by row.
template <class Shape, class Operator, class Tiles>
WARPFOLD_DEVICE Words<typename Tiles::Item> warp_run(const Operator& op, Tiles& tiles, unsigned row_level, Size length) {
    using Item = typename Tiles::Item;
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS, TILE_ITEMS = Shape::ROWS * ROW_ITEMS;
    constexpr unsigned MERGED = Shape::ROWS > 1 ? Shape::MERGED_TILES : 1, AHEAD = 8;
    static_assert(MERGED == 1 || MERGED == 4, "one tile, or four");
    auto counter = tiles.counter();
    // Of the tiles that merge: how many do, how many of them came, the first or third, and the first two together.
    unsigned merging = 1, came = 0;
    Words<Item> single, pair;
    // Rows that were asked for.
    unsigned asked = 0;
    const Size all = Size(ROW_ITEMS) << row_level;
    length = smaller(length, all);
#pragma unroll 1
    while (length > 0) {
        Words<Item> value;
        unsigned level = 0, parts = 1;
        if (tiles.has_next(1)) {
            if (MERGED > 1 && came == 0) merging = tiles.has_next(MERGED) ? MERGED : tiles.has_next(2) ? 2 : 1;
            value = tiles.take(op);
            length -= TILE_ITEMS, level = level_of(Shape::ROWS);
            if (MERGED > 1 && merging > 1) {
                ++came;
                if (came % 2 == 1) {
                    single = value;
                    continue;
                }
                value = merge(op, single, value, 1);
                if (came == 2 && merging > 2) {
                    pair = value;
                    continue;
                }
                parts = merging, level += 1;
                if (came == MERGED) value = merge(op, pair, value, 2), level += 1;
                came = 0;
            }
            value = across_lanes(op, value, parts);
        } else {
            const First present = {static_cast<unsigned>(smaller(length, ROW_ITEMS))};
            Row<Shape, typename Tiles::Reader> row;
            row.load(tiles.next(), present);
            value = warp_bracket<SHORT<Item>>(op, row.value(op), row.lanes);
            tiles.pass(ROW_ITEMS);
            length -= present.count;
            if (asked == 0) tiles.next().template ask_for<1>(smaller(length, AHEAD * ROW_ITEMS)), asked = AHEAD;
            --asked;
        }
        if (length == 0 && counter.is_empty()) return value;
        counter.push(op, value, level);
    }
    return counter.bracket(op);
}

}  // namespace warpfold
