// The tiles of a warp. A shape of one row has no tiles.
//
// A tile is several rows that one warp loads and reduces at once, so that memory stays busy. Each
// load of a warp covers adjacent memory. Then the lanes exchange the tile through shared memory.
// Each lane gets ROWS adjacent groups, and reduces them alone. Meanwhile the next tile is loaded,
// also across the end of a run.

namespace warpfold {

template <class Shape, class Reader_>
class Tiles {
  public:
    typedef Reader_ Reader;
    typedef typename Reader::Item Item;

  private:
    typedef typename Reader::Cursor Cursor;
    typedef typename Reader::template Tile<Shape> Tile;
    static constexpr unsigned ITEMS = Shape::GROUP_ITEMS * Shape::ROWS, TILE_ITEMS = WARP_LANES * ITEMS;
    // Shared memory of a warp: a tile, and the digits of a counter of rows.
    static constexpr unsigned STAGING_BYTES = Tile::BYTES + WARP_LANES * sizeof(Words<Item>);

    unsigned char* staging;
    Tile tile;
    // Begin of the next tile to reduce, of the next tile to load, and of the run after this one.
    Cursor current, requested, next_run;
    // Numbers of tiles: of this run not yet reduced, of the run being loaded not yet requested, and
    // of the run to load after that.
    unsigned left, unrequested, next_run_tiles;

    // Items of a lane that are reduced by unrolled code. More are reduced by a loop over such
    // units, since each copy of an operator takes compile time.
    static constexpr unsigned UNROLLED_ITEMS = 16;
    static constexpr unsigned UNIT = ITEMS < UNROLLED_ITEMS                 ? ITEMS
                                     : Shape::GROUP_ITEMS < UNROLLED_ITEMS ? UNROLLED_ITEMS
                                                                         : Shape::GROUP_ITEMS;
    static constexpr unsigned UNITS = ITEMS / UNIT, LEVELS = level_of(UNITS);

    // The bracket of a lane's items, by a binary counter of units.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> bracket(const Operator& op) const {
        typename Tile::Groups groups = tile.groups();
        Words<Item> digit[LEVELS + 1];
#pragma unroll 1
        for (unsigned unit = 0;; ++unit) {
            Words<Item> value = bracket_of<UNIT>(op, groups, unit + 1 == UNITS);
            groups = groups.after(UNIT / Shape::GROUP_ITEMS);
            bool carries = true;
#pragma unroll
            for (unsigned k = 0; k < LEVELS; ++k) {
                if (!carries) continue;
                if (unit >> k & 1)
                    value = combine(op, digit[k], value);
                else
                    digit[k] = value, carries = false;
            }
            if (carries) return value;
        }
    }

    // The bracket of COUNT items of a lane, unrolled.
    template <unsigned COUNT, class Operator, class Groups>
    WARPFOLD_DEVICE Words<Item> bracket_of(const Operator& op, const Groups& groups, bool are_last) const {
        if constexpr (COUNT > Shape::GROUP_ITEMS) {
            const Words<Item> left = bracket_of<COUNT / 2>(op, groups, false);
            return combine(op, left, bracket_of<COUNT / 2>(op, groups.after(COUNT / 2 / Shape::GROUP_ITEMS), are_last));
        } else {
            return groups.first(are_last).bracket(op, FullMask());
        }
    }

  public:
    // The tiles of the first `count` elements from `begin` on. The input extends from `first` to
    // `end`.
    WARPFOLD_DEVICE Tiles(unsigned char* shared, Cursor first, Cursor end, Cursor begin, Size count)
        : staging(shared + warp_index() * STAGING_BYTES), tile(staging, first, end), current(begin), requested(begin), next_run(begin), next_run_tiles(0) {
        left = unrequested = static_cast<unsigned>(count / TILE_ITEMS);
    }

    // Loads the next tile that is not yet requested, of this run or of the following one, if there
    // is one.
    WARPFOLD_DEVICE void request() {
        if (unrequested == 0) {
            if (next_run_tiles == 0) return;
            requested = next_run, unrequested = next_run_tiles, next_run_tiles = 0;
        }
        tile.load(requested);
        requested = requested + TILE_ITEMS, --unrequested;
    }

    // Where the next tile or row begins. `advance` skips `count` elements, which the caller reduced
    // as a row.
    WARPFOLD_DEVICE Cursor next() const { return current; }
    WARPFOLD_DEVICE void advance(unsigned count) { current = current + count; }

    WARPFOLD_DEVICE RowCounter<Item, SharedDigits<Item>> counter() const {
        return RowCounter<Item, SharedDigits<Item>>(reinterpret_cast<Words<Item>*>(staging + Tile::BYTES));
    }

    // `queue_run` announces the run after this one: `count` tiles from `begin` on. `begin_run`
    // makes it the current run.
    WARPFOLD_DEVICE void queue_run(Cursor begin, unsigned count) { next_run = begin, next_run_tiles = count; }
    WARPFOLD_DEVICE void begin_run(Cursor begin, unsigned count) { current = begin, left = count; }

    // Whether this run still has `count` tiles.
    WARPFOLD_DEVICE bool has_next(unsigned count) const { return left >= count; }
    // Reduces the next tile, to one value a lane.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> take(const Operator& op) {
        tile.store();
        warp_barrier();
        request();
        const Words<Item> value = bracket(op);
        // All lanes have read their items before the next tile takes its place.
        warp_barrier();
        current = current + TILE_ITEMS, --left;
        return value;
    }
};

}  // namespace warpfold
