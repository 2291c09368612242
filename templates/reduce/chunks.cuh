// The bracket of a large input: blocks reduce chunks of tiles.

namespace warpfold {

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
