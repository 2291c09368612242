// The bracket by a kernel that compiles fast. It answers the first calls, until the tuned kernels
// are compiled.
//
// Compile time grows with the copies of the operator, and with the code on items in registers. So
// this kernel calls the operator at one place, and keeps items in shared memory.
//
// A block reduces a chunk of 2^row_level tiles, one item a thread. At each level, every left item
// of a pair is combined with its neighbour, in place. The value of each tile is kept, and the
// values are reduced as one more tile at the end. A chunk has at most as many tiles as a tile has
// items.

namespace warpfold {

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void baseline(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    constexpr unsigned TILE_ITEMS = WARP_LANES * Shape::WARPS;
    WARPFOLD_SHARED(Item, tile, TILE_ITEMS);
    WARPFOLD_SHARED(Item, of_tile, TILE_ITEMS);
    const unsigned thread = WARP_LANES * warp_index() + lane_index();
    const Size chunk = Size(TILE_ITEMS) << arguments.row_level, begin = block_index() * chunk;
    Size left = smaller(arguments.length - begin, chunk);
    typename Reader::Cursor next = (typename Reader::Cursor(arguments.input) + begin).after_grid_dependency();
    unsigned tiles = 0;
    while (true) {
        const bool is_last = left == 0;
        // The value of an empty input is the identity.
        const unsigned count = !is_last ? smaller(left, TILE_ITEMS) : tiles > 0 ? tiles : 1;
        if (thread < count) {
            if (!is_last)
                Reader::item(op, next + thread).store(tile + thread);
            else if (tiles > 0)
                tile[thread] = of_tile[thread];
            else
                tile[thread] = arguments.identity;
        }
        block_barrier();
#pragma unroll 1
        for (unsigned distance = 1; distance < count; distance *= 2) {
            const unsigned at = 2 * distance * thread;
            if (at + distance < count) tile[at] = op.combine(tile[at], tile[at + distance]);
            block_barrier();
        }
        if (is_last) break;
        if (thread == 0) of_tile[tiles] = tile[0];
        block_barrier();
        next = next + count, left -= count, ++tiles;
    }
    if (thread > 0) return;
    if (arguments.epoch != 0)
        Words<Item>(tile[0]).send(reinterpret_cast<unsigned long long*>(arguments.output), arguments.epoch);
    else
        store_value(op, Words<Item>(tile[0]), arguments.output, block_index());
}

}  // namespace warpfold
