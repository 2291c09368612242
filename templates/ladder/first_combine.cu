// First combination during the load: each thread combines two items before shared memory is used.
//
// Idea: a thread loads two items to registers and combines them there. This halves shared memory,
// saves one barrier, and keeps two loads in flight. The operator must commute.
// Cost: the last levels now take most of the time. One warp works, the others wait at its barriers,
// and a loop surrounds it all.
// Next: last levels without a block barrier.

namespace warpfold {

// The number of threads of this block that have an item. These are the first threads.
template <class Shape, class Item>
WARPFOLD_DEVICE unsigned threads_with_items(const RungArguments<Item>& arguments) {
    return smaller(count_of_block(arguments, 2 * Shape::THREADS), Shape::THREADS);
}

// Combines the two items of a thread, or returns its only one. A thread without items gets
// undefined words.
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
