// The bracket of an array, as far as one launch takes it.
//
// Pair neighbours and combine each pair, left operand first; an odd one out gets a bye; repeat until one is left. Chunks
// of 2^k items compose: the bracket of the array is the bracket of its chunks' brackets. So every block reduces one
// chunk to one partial, and the same kernel, launched again over the partials, finishes; an input of one chunk is
// finished at once. Inside a chunk each warp has a run of tiles (counter.cuh), each tile is rows of groups (warp.cuh),
// each group is items of one lane (group.cuh), and every one of these sizes is a power of two. None of them moves a bit
// of the result, and no identity is combined with anything: it only answers an empty input.

namespace warpfold {

template <class Item>
struct Arguments {
    const Item* input;
    Size length;
    // One partial a block.
    Item* output;
    // A power of two.
    Size rows_per_warp;
    // Where one block tells the host that its result is there, and by what; or nowhere.
    unsigned* flag;
    unsigned serial;
    Item identity;
};

// The bracket of `length` items by one warp, in all lanes. At least one item. What is not a whole tile goes row by row.
template <class Shape, class Item, class Operator, class Source>
WARPFOLD_DEVICE Words<Item> warp_run(const Operator& op, Source& source, Size length) {
    typedef typename Source::Memory Memory;
    typedef WarpTile<Item, Shape::GROUP_ITEMS, Shape::ROWS> Tile;
    typedef WarpTile<Item, Shape::GROUP_ITEMS, 1> Row;
    RowCounter<Item> counter;
#pragma unroll 1
    while (length > 0) {
        const unsigned items = static_cast<unsigned>(smaller(length, Tile::ITEMS));
        const TileItems<Item> tile = source.take();
        const bool whole = Tile::ROWS > 1 && items == Tile::ITEMS && (tile.aligned || Source::SHARED_BYTES > 0);
        const unsigned rows = whole ? Tile::ROWS : 1;
#pragma unroll 1
        for (unsigned done = 0; done < items; done += rows * Row::ITEMS) {
            First present = {Tile::ITEMS};
            Lanes<Item> lanes;
            if (whole) {
                const bool aligned = tile.aligned || Source::SHARED_BYTES == 0;
                lanes = Tile::template in_lanes<Memory, Shape::WIDTH>(op, tile.items, aligned, Whole());
            } else {
                present.count = items - done < Row::ITEMS ? items - done : Row::ITEMS;
                lanes = Row::template in_lanes<Memory, Shape::WIDTH>(op, tile.items + done, tile.aligned, present);
            }
            const Words<Item> value = across_lanes<Shape::GROUP_ITEMS>(op, lanes, rows, present);
            counter.push(op, value, whole ? Tile::LEVEL : 0);
        }
        source.give_back();
        length -= items;
    }
    return counter.bracket(op);
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bracket(const Arguments<Item>& arguments, const Operator& op) {
    typedef typename rust::Choose<(Shape::STAGES > 0 && WARPFOLD_BULK_COPIES), Ring<Shape, Item>, Direct<Shape, Item>>::Type
        Source;
    WARPFOLD_SHARED(Words<Item>, of_warp, Shape::WARPS);
    WARPFOLD_DYNAMIC_SHARED(memory);
    let_next_launch_begin();
    wait_for_launch_before();
    const Size run = arguments.rows_per_warp * WarpTile<Item, Shape::GROUP_ITEMS, 1>::ITEMS;
    const Size block_begin = block_index() * (run * Shape::WARPS);
    const Size block_end = smaller(block_begin + run * Shape::WARPS, arguments.length);

    const Size begin = block_begin + warp_index() * run;
    if (begin < block_end) {
        const Size length = smaller(run, block_end - begin);
        Source source(memory, arguments.input + begin, length, arguments.input + arguments.length);
        const Words<Item> value = warp_run<Shape, Item>(op, source, length);
        if (lane_index() == 0) of_warp[warp_index()] = value;
    }
    block_barrier();
    if (warp_index() != 0) return;

    const unsigned count = static_cast<unsigned>((block_end - block_begin + run - 1) / run);
    Words<Item> value;
    if (lane_index() < count) value = of_warp[lane_index()];
    value = warp_bracket(op, value, count);
    if (lane_index() == 0) {
        if (count == 0) value = Words<Item>(arguments.identity);
        value.store(arguments.output + block_index());
        if (arguments.flag) tell_host(arguments.flag, arguments.serial);
    }
}

}  // namespace warpfold
