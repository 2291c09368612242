// The same bracket by a kernel that is soon compiled: it answers the first calls, while the others are compiled.
//
// What takes a compiler's time is copies of the operator and of what is done with items in registers. Here the operator is
// called in one place, and items stay in shared memory. A block's chunk goes tile by tile, an item a thread: level by
// level, in place, every item that has a neighbour is combined with it. Tiles' values are kept, at most one for each item
// of a tile, and reduced as one more tile in the end.

namespace warpfold {

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void baseline(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    constexpr unsigned TILE_ITEMS = WARP_LANES * Shape::WARPS;
    WARPFOLD_SHARED(Item, tile, TILE_ITEMS);
    WARPFOLD_SHARED(Item, of_tile, TILE_ITEMS);
    const unsigned thread = WARP_LANES * warp_index() + lane_index();
    const Size chunk = Size(TILE_ITEMS) << arguments.row_level, begin = block_index() * chunk;
    Size left = smaller(arguments.length - begin, chunk);
    typename Reader::Cursor next = (typename Reader::Cursor(arguments.input) + begin).when_written();
    unsigned tiles = 0;
    while (true) {
        const bool is_last = left == 0;
        // An empty input is answered by the identity.
        const unsigned count = !is_last ? smaller(left, TILE_ITEMS) : tiles > 0 ? tiles : 1;
        if (thread < count) {
            if (!is_last)
                tile[thread] = Reader::item(op, next + thread).item();
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
    if (arguments.serial != 0)
        Words<Item>(tile[0]).send(reinterpret_cast<unsigned long long*>(arguments.output), arguments.serial);
    else
        arguments.output[block_index()] = tile[0];
}

}  // namespace warpfold
