// The bracket of an array, by the grid of one launch.
//
// Definition: pair neighbours and combine each pair, left operand first. An unpaired last value
// moves up unchanged. Repeat until one value is left.
//
// Chunks of 2^k items compose: the bracket of the array is the bracket of its chunks' brackets.
// Every size below is a power of two:
//
// - The grid: each block reduces a chunk to one partial. An extra block (partials.cuh) or the next
//   launch combines the partials. An input of one chunk needs neither.
// - A block: each warp reduces runs of its chunk (rows.cuh, tiles.cuh).
// - A warp: a run consists of tiles and rows (run.cuh), and a tile of several rows.
// - A lane: a row has one group of elements for each lane. A reader loads it.
//
// Invariants: none of these sizes changes a bit of the result. The identity is never combined with
// an item. It is only the value of an empty input (rows.cuh).

namespace warpfold {

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void bracket(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    if constexpr (Shape::ROWS == 1)
        bracket_of_rows<Shape, Reader>(arguments, op);
    else
        bracket_of_tiles<Shape, Reader>(arguments, op);
}

}  // namespace warpfold
