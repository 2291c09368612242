// Warp shuffles: lanes read each other's registers.
//
// Idea: since Kepler a lane can ask for a register of another lane of its warp. Five shuffles combine a warp's values
// without memory and without a barrier of the block; each warp leaves one value in shared memory, and the first warp combines
// those in five more. One barrier of the block in all. It reorders.
// Cost: lanes beyond the half combine what nobody asks for: that is free, the warp runs anyway. What is left is what the
// product's kernel does besides: wide loads, several in flight, a tree whose order is that of the items.
// Next: the partials of the blocks, without another launch.

namespace warpfold {

// The value of a block's threads, in its thread 0: lanes by shuffles, then the warps' values by those of the first warp.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE Words<Item> of_block(const Item& identity, const Operator& op, Words<Item> value) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> of_warps(memory);
#pragma unroll
    for (unsigned half = WARP_LANES / 2; half > 0; half /= 2) value = combine(op, value, shuffle_down(value, half));
    if (lane_index() == 0) of_warps.set(warp_index(), value);
    block_barrier();
    if (warp_index() > 0) return value;
    value = Words<Item>(identity);
    if (lane_index() < Shape::THREADS / WARP_LANES) value = of_warps[lane_index()];
#pragma unroll
    for (unsigned half = WARP_LANES / 2; half > 0; half /= 2) value = combine(op, value, shuffle_down(value, half));
    return value;
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void shuffles(const RungArguments<Item>& arguments, const Operator& op) {
    const Words<Item> value = of_block<Shape>(arguments.identity, op, items_of_thread<Shape>(arguments, op));
    if (thread_index() == 0) value.store(arguments.output + block_index());
}

}  // namespace warpfold
