// First combination during the load: two items become one before shared memory sees them.
//
// Idea: a thread that loads two items has both in registers, and combines them there. Half of the shared memory, one barrier
// less, and two loads under way at once. It reorders.
// Cost: of the time, most is now the last levels: a warp works, the others wait at its barriers, and there is a loop around
// all of it.
// Next: the last levels without barriers of the block.

namespace warpfold {

// The threads of this block that have an item: the first ones.
template <class Shape, class Item>
WARPFOLD_DEVICE unsigned threads_with_items(const RungArguments<Item>& arguments) {
    return smaller(count_of_block(arguments, 2 * Shape::THREADS), Shape::THREADS);
}

// Two items of a thread as one, or its only one; in a thread without any, words that are no value.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE Words<Item> two_combined(const RungArguments<Item>& arguments, const Operator& op) {
    const Size first = Size(block_index()) * (2 * Shape::THREADS) + thread_index(), second = first + Shape::THREADS;
    Words<Item> value;
    if (first < arguments.length) value = load_item(arguments.input + first);
    if (second < arguments.length) value = combine(op, value, load_item(arguments.input + second));
    return value;
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void first_combine(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, threads_with_items<Shape>(arguments));
    const unsigned t = thread_index();
    if (t < values.count) values.set(t, two_combined<Shape>(arguments, op));
#pragma unroll 1
    for (unsigned half = Shape::THREADS / 2; half > 0; half /= 2) {
        block_barrier();
        if (t < half) values.merge(op, t, t + half);
    }
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
