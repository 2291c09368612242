// The bracket of an array, as far as one launch takes it.
//
// Pair neighbours and combine each pair, left operand first; an odd one out gets a bye; repeat until one is left. Chunks
// of 2^k items compose: the bracket of the array is the bracket of its chunks' brackets. So blocks reduce a chunk to a partial each, and
// a block more, or the next launch, reduces those (partials.cuh); an input of one chunk is finished at once. Inside a chunk each warp
// has runs of tiles and rows (run.cuh), each tile is rows (tiles.cuh), each row a group of every lane, each group elements that a reader
// stages, and every one of these sizes is a power of two. None of them moves a bit of the result, and no identity is combined with
// anything: it only answers an empty input (rows.cuh).

namespace warpfold {

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void bracket(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    if constexpr (Shape::ROWS == 1)
        bracket_of_rows<Shape, Reader>(arguments, op);
    else
        bracket_of_tiles<Shape, Reader>(arguments, op);
}

}  // namespace warpfold
