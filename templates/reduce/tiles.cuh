// The bracket of a large input: blocks reduce chunks of tiles. A shape of one row has no tiles.
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

// Reduces chunks of tiles. The blocks are resident, and each takes one chunk after the other. The
// first two chunks of a block are fixed, and it draws the later ones. So faster blocks reduce more
// chunks. The block that draws last resets the counter.
//
// A chunk consists of runs of a few tiles. The warps of a block take adjacent runs and advance
// through the chunk together: memory is slower if warps are a large power of two apart. While a
// warp ends a run, it already loads the first tile of its next run. So a block always knows its
// next chunk, and learns the one after that when it begins the next.
template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_tiles(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    // Runs of a chunk, at most: one for each warp, or more.
    constexpr unsigned RUNS = Shape::RUNS > Shape::WARPS ? Shape::RUNS : Shape::WARPS;
    static_assert(RUNS <= WARP_LANES, "a value a lane");
    // Two of each: some warps may be in the next chunk while others still read the values of this
    // one.
    WARPFOLD_SHARED(Words<Item>, run_values, 2 * RUNS);
    WARPFOLD_SHARED(unsigned, drawn_chunk, 2);
    WARPFOLD_DYNAMIC_SHARED(memory);
    // A run has four tiles, which may merge, or all tiles of a warp if it has fewer. It has more if
    // a warp would have too many runs otherwise.
    constexpr unsigned RUN_TILES_LEVEL = 2, MAX_RUNS_LEVEL = level_of(RUNS / Shape::WARPS);
    constexpr unsigned TILE_LEVEL = WARP_LEVEL + level_of(Shape::GROUP_ITEMS * Shape::ROWS), TILE_ITEMS = 1 << TILE_LEVEL;
    // The share of a warp in a chunk: 2^tiles_level tiles, which are 2^share_level items.
    const unsigned tiles_level = arguments.row_level - level_of(Shape::ROWS), share_level = TILE_LEVEL + tiles_level;
    const unsigned runs_level =
        tiles_level > RUN_TILES_LEVEL ? smaller(tiles_level - RUN_TILES_LEVEL, MAX_RUNS_LEVEL) : 0u;
    const unsigned run_tiles = 1u << (tiles_level - runs_level);
    const unsigned chunks = (arguments.runs + Shape::WARPS - 1) / Shape::WARPS, blocks = block_count();
    const typename Reader::Cursor input(arguments.input);
    const Size end = arguments.length;
    // Where this warp's first run begins if it has 2^level runs in a chunk. Chunks are taken from
    // last to first, since the last one takes longer if it is incomplete.
    const auto begin_of = [&](unsigned chunk, unsigned level) {
        const unsigned run = ((chunks - 1 - chunk) * Shape::WARPS << level) + warp_index();
        return Size(run) << (share_level - level);
    };
    unsigned chunk = block_index(), next = chunk + blocks;
    // A warp has 2^level runs. In an incomplete chunk it has one run, of its whole share.
    unsigned level = runs_level;
    if (level > 0 && end < Size((chunks - chunk) * Shape::WARPS) << share_level) level = 0;
    const Size begin = begin_of(chunk, level);
    Size left = begin < end ? smaller(end - begin, Size(1) << (share_level - level)) : 0;
    Tiles<Shape, Reader> tiles(memory, input, input + end, input + begin, left);
    const auto queue_next_run = [&](bool ends_chunk) {
        if (!ends_chunk)
            tiles.queue_run(tiles.next() + Size(Shape::WARPS) * run_tiles * TILE_ITEMS, run_tiles);
        else if (next < chunks)
            tiles.queue_run(input + begin_of(next, runs_level), run_tiles);
    };
    queue_next_run(level == 0);
    grid_dependency_wait(arguments.output);
    // The next launch of the call reduces the partials. It may begin now, since it waits for them.
    if (chunks > 1) trigger_dependents();
    tiles.request();
    bool uses_tickets = chunks > 2 * blocks;
    for (unsigned parity = 0;; parity ^= 1) {
        unsigned later_chunk = chunks;
        if (uses_tickets && warp_index() == 0 && lane_index() == 0) {
            const unsigned ticket = static_cast<unsigned>(atomic_add(arguments.tickets, 1));
            if (ticket == chunks - blocks - 1) publish(arguments.tickets, 0);
            later_chunk = 2 * blocks + ticket;
        }
        Words<Item>* const values = run_values + parity * RUNS;
#pragma unroll 1
        for (unsigned ended = 0;;) {
            if (left > 0) {
                const Words<Item> value = warp_run<Shape>(op, tiles, arguments.row_level - level, left);
                if (lane_index() == 0) values[ended * Shape::WARPS + warp_index()] = value;
            }
            if (++ended >> level) break;
            tiles.begin_run(tiles.next() + Size(Shape::WARPS - 1) * run_tiles * TILE_ITEMS, run_tiles);
            queue_next_run((ended + 1) >> level);
        }
        if (warp_index() == 0 && lane_index() == 0) drawn_chunk[parity] = later_chunk;
        // In an incomplete chunk some warps may have no items.
        const unsigned warp_count = smaller(arguments.runs - (chunks - 1 - chunk) * Shape::WARPS, Shape::WARPS);
        Words<Item> value;
        const bool is_first = combine_values(op, value_of_lane(values, warp_count << level), warp_count << level, value);
        if (is_first && lane_index() == 0) Destination<Item>(arguments, chunks - 1 - chunk, false).store(op, value);
        if (next >= chunks) return;
        chunk = next, next = uses_tickets ? drawn_chunk[parity] : chunks;
        uses_tickets = uses_tickets && next < chunks;
        level = runs_level, left = Size(run_tiles) * TILE_ITEMS;
        tiles.begin_run(input + begin_of(chunk, runs_level), run_tiles);
        queue_next_run(level == 0);
    }
}

}  // namespace warpfold
