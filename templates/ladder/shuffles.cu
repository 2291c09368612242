// Warp shuffles: lanes read each other's registers.
//
// Idea: since Kepler a lane can ask for a register of another lane of its warp. Five shuffles combine a warp's values
// without memory and without a barrier of the block; each warp leaves one value in shared memory, and the first warp combines
// those in five more. One barrier of the block in all. It reorders.
// Cost: lanes beyond the half combine what nobody asks for: that is free, the warp runs anyway. What is left is what the
// product's kernel does besides: wide loads, several in flight, a tree whose order is that of the items.
// Next: the partials of the blocks, without another launch.

namespace warpfold {

// The value of the first `count` lanes of a warp, in its lane 0. Lanes after those pass
// on words that are no value. A lane beyond the half may combine what nobody asks for.
template <class Item, class Operator>
WARPFOLD_DEVICE Words<Item> of_lanes(const Operator& op, Words<Item> value, unsigned count) {
#pragma unroll
    for (unsigned half = WARP_LANES / 2; half > 0; half /= 2) {
        const Words<Item> right = shuffle_down(value, half);
        if (lane_index() + half < count) value = combine(op, value, right);
    }
    return value;
}

// The value of the first `count` threads of a block, in its thread 0: lanes by shuffles, then the warps' values by those of the
// first warp.
template <class Item, class Operator>
WARPFOLD_DEVICE Words<Item> of_block(const Operator& op, Words<Item> value, unsigned count) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> of_warps(memory, (count + WARP_LANES - 1) / WARP_LANES);
    const unsigned before = WARP_LANES * warp_index();
    value = of_lanes(op, value, before < count ? smaller(count - before, WARP_LANES) : 0);
    if (lane_index() == 0 && warp_index() < of_warps.count) of_warps.set(warp_index(), value);
    block_barrier();
    if (warp_index() > 0) return value;
    if (lane_index() < of_warps.count) value = of_warps[lane_index()];
    return of_lanes(op, value, of_warps.count);
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void shuffles(const RungArguments<Item>& arguments, const Operator& op) {
    const Words<Item> value = of_block(op, items_of_thread<Shape>(arguments, op), threads_with_items<Shape>(arguments));
    if (thread_index() == 0) value.store(arguments.output + block_index());
}

}  // namespace warpfold
