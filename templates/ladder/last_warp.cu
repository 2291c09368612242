// Last warp unrolled: one warp combines the last 32 values, without a loop or a block barrier.
//
// Idea: five of the levels concern one warp. Barriers of that warp order them, and no other warp
// waits at those. Unrolled, they need no loop and no index computations. The operator must commute.
// Cost: the upper levels are still a loop.
// Next: unroll that loop, too.

namespace warpfold {

// The levels within one warp. The lectures write them as `values[t] += values[t + 16]; values[t] +=
// values[t + 8]; ...` on a `volatile` pointer, and assume that the lanes of a warp advance
// together. Since Volta they may advance apart, and the result is undefined: a lane may read its
// neighbour's word before or after it changes. A warp barrier between two levels makes it correct
// and costs a few cycles.
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
