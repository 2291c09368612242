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
    Size tiles_per_warp;
    Item identity;
};

WARPFOLD_DEVICE Size smaller(Size a, Size b) {
    if (b < a) return b;
    return a;
}

// The bracket of items [begin, end) of the input by one warp, in all lanes. At least one item. What whole tiles leave
// over goes row by row, and so does an input that wide loads cannot reach.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE Words<Item> warp_run(const Operator& op, const Item* input, Size begin, Size end) {
    typedef WarpTile<Item, Shape::GROUP_ITEMS, Shape::ROWS> Tile;
    typedef WarpTile<Item, Shape::GROUP_ITEMS, 1> Row;
    const bool aligned = Shape::WIDTH >= 4 && reinterpret_cast<Size>(input) % Shape::WIDTH == 0;
    RowCounter<Item> counter;
#pragma unroll 1
    while (begin < end) {
        const Size left = end - begin;
        const bool whole = Tile::ROWS > 1 && aligned && left >= Tile::ITEMS;
        First present = {Tile::ITEMS};
        Lanes<Item> lanes;
        if (whole) {
            lanes = Tile::template in_lanes<Shape::WIDTH>(op, input + begin, true, Whole());
        } else {
            present.count = static_cast<unsigned>(smaller(left, Row::ITEMS));
            lanes = Row::template in_lanes<Shape::WIDTH>(op, input + begin, aligned, present);
        }
        const unsigned rows = whole ? Tile::ROWS : 1;
        const Words<Item> value = across_lanes<Shape::GROUP_ITEMS>(op, lanes, rows, present);
        counter.push(op, value, whole ? Tile::LEVEL : 0);
        begin += rows * Row::ITEMS;
    }
    return counter.bracket(op);
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bracket(const Arguments<Item>& arguments, const Operator& op) {
    WARPFOLD_SHARED(Words<Item>, of_warp, Shape::WARPS);
    const Size run = arguments.tiles_per_warp * WarpTile<Item, Shape::GROUP_ITEMS, Shape::ROWS>::ITEMS;
    const Size block_begin = block_index() * (run * Shape::WARPS);
    const Size block_end = smaller(block_begin + run * Shape::WARPS, arguments.length);

    const Size begin = block_begin + warp_index() * run;
    if (begin < block_end) {
        const Size end = smaller(begin + run, block_end);
        const Words<Item> value = warp_run<Shape>(op, arguments.input, begin, end);
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
    }
}

}  // namespace warpfold
