// Completely unrolled: the size of the block is a constant, and so is every level.
//
// Idea: a template over the number of threads leaves straight-line code. It has no loop, and no
// comparison that does not depend on the thread. The operator must commute.
// Cost: one kernel for each block size. Each thread still loads two items and combines one pair,
// and then mostly waits.
// Next: more than two items a thread.

namespace warpfold {

// The block's levels while several warps work, and below that the levels of one warp.
template <unsigned HALF, class Item, class Operator>
WARPFOLD_DEVICE void all_levels(const Operator& op, const Values<Item>& values) {
    const unsigned t = thread_index();
    if constexpr (HALF >= WARP_LANES) {
        block_barrier();
        if (t < HALF) values.merge(op, t, t + HALF);
        all_levels<HALF / 2>(op, values);
    } else if constexpr (HALF > 0) {
        if (warp_index() > 0) return;
        warp_barrier();
        if (t < HALF) values.merge(op, t, t + HALF);
        all_levels<HALF / 2>(op, values);
    }
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void unrolled(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, threads_with_items<Shape>(arguments));
    const unsigned t = thread_index();
    if (t < values.count) values.set(t, two_combined<Shape>(arguments, op));
    all_levels<Shape::THREADS / 2>(op, values);
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
