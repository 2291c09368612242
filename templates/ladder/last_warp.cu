// Last warp unrolled: below 32 values one warp goes on alone, level by level without a loop and without a barrier of the
// block.
//
// Idea: five of the levels concern one warp. Their order is kept by barriers of that warp, which no other warp waits at, and
// written out they have no loop and no index to compute. It reorders.
// Cost: the levels above are still a loop.
// Next: that loop, too.

namespace warpfold {

// The levels within a warp. The lectures write them as `values[t] += values[t + 16]; values[t] += values[t + 8]; ...` on a
// `volatile` pointer and rely on the lanes of a warp advancing together. Since Volta lanes may advance apart, and that is
// undefined: a lane may read its neighbour's word before or after it changed. A barrier of the warp between two levels is what
// makes it right; it costs a few cycles.
template <unsigned HALF, class Item, class Operator>
WARPFOLD_DEVICE void last_levels(const Operator& op, const Values<Item>& values) {
    if constexpr (HALF > 0) {
        warp_barrier();
        if (lane_index() < HALF) values.merge(op, lane_index(), lane_index() + HALF);
        last_levels<HALF / 2>(op, values);
    }
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void last_warp(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, threads_with_items<Shape>(arguments));
    const unsigned t = thread_index();
    if (t < values.count) values.set(t, two_combined<Shape>(arguments, op));
#pragma unroll 1
    for (unsigned half = Shape::THREADS / 2; half >= WARP_LANES; half /= 2) {
        block_barrier();
        if (t < half) values.merge(op, t, t + half);
    }
    if (warp_index() == 0) last_levels<WARP_LANES / 2>(op, values);
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
