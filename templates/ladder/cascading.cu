// Algorithm cascading: each thread combines many items alone, then each block reduces by a tree.
//
// Idea: n / log2(n) threads with log2(n) items each take no more steps than n threads with one
// item. There are far fewer threads, blocks, barriers and partials. So a large GPU is just filled
// with blocks, and they stride over the input. The operator must commute.
// Cost: a thread has one or two loads in flight, and waits for them. Levels of the tree go through
// shared memory.
// Next: levels from register to register.

namespace warpfold {

// Combines the items of a thread: two at each stride of the grid, adjacent to those of its
// neighbours.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE Words<Item> items_of_thread(const RungArguments<Item>& arguments, const Operator& op) {
    const Size stride = Size(block_count()) * (2 * Shape::THREADS);
    Size index = Size(block_index()) * (2 * Shape::THREADS) + thread_index();
    Words<Item> value = two_combined<Shape>(arguments, op);
#pragma unroll 1
    for (index += stride; index < arguments.length; index += stride) {
        value = combine(op, value, load_item(arguments.input + index));
        const Size second = index + Shape::THREADS;
        if (second < arguments.length) value = combine(op, value, load_item(arguments.input + second));
    }
    return value;
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void cascading(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, threads_with_items<Shape>(arguments));
    const unsigned t = thread_index();
    if (t < values.count) values.set(t, items_of_thread<Shape>(arguments, op));
    all_levels<Shape::THREADS / 2>(op, values);
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
