// Warp shuffles: lanes read each other's registers, by warp and then by block.
//
// Idea: since Kepler, a lane can read a register of another lane of its warp. Five shuffles reduce
// the values of a warp without memory or a block barrier. Each warp writes one value to shared
// memory, and the first warp combines those by five more shuffles. That takes one block barrier in
// all. The operator must commute.
// Cost: lanes past the half combine values that are discarded. This is free, since the warp runs
// anyway. The product's kernel adds wide loads, several loads in flight, and the order of the
// items.
// Next: combine the partials of the blocks without another launch.

namespace warpfold {

// The value of the first `count` lanes of a warp, in its lane 0. Other lanes pass on undefined
// words, which are not combined. Results of lanes past the half are discarded.
template <class Item, class Operator>
WARPFOLD_DEVICE Words<Item> of_lanes(const Operator& op, Words<Item> value, unsigned count) {
#pragma unroll
    for (unsigned half = WARP_LANES / 2; half > 0; half /= 2) {
        const Words<Item> right = shuffle_down(value, half);
        if (lane_index() + half < count) value = combine(op, value, right);
    }
    return value;
}

// The value of the first `count` threads of a block, in thread 0. Shuffles combine each warp. Then
// shuffles of the first warp combine the values of the warps.
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
