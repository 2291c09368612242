// First combination during the load: two items become one before shared memory sees them.
//
// Idea: a thread that loads two items has both in registers, and combines them there. Half of the shared memory, one barrier
// less, and two loads under way at once. It reorders.
// Cost: of the time, most is now the last levels: a warp works, the others wait at its barriers, and there is a loop around
// all of it.
// Next: the last levels without barriers of the block.

namespace warpfold {

// Two items a thread as one.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE Words<Item> two_combined(const RungArguments<Item>& arguments, const Operator& op) {
    const Size first = Size(block_index()) * (2 * Shape::THREADS) + thread_index();
    return combine(op, item_at(arguments, first), item_at(arguments, first + Shape::THREADS));
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void first_combine(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory);
    const unsigned t = thread_index();
    values.set(t, two_combined<Shape>(arguments, op));
#pragma unroll 1
    for (unsigned half = Shape::THREADS / 2; half > 0; half /= 2) {
        block_barrier();
        if (t < half) values.set(t, combine(op, values[t], values[t + half]));
    }
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
