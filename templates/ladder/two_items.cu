// Two items a thread, interleaved: in the first level of the block's tree every thread works.
//
// Idea: a tree of 2 t leaves has t pairs. A block of t threads loads two items each, so no thread
// only loads. There are half as many blocks. Order is kept.
// Cost: from the second level on, every warp runs with ever fewer of its lanes, as before. The
// working threads now touch words at a stride, so they share banks of shared memory (strided.cu
// explains this).
// Next: working threads that are adjacent.

namespace warpfold {

// Loads two items a thread: two rounds of adjacent items.
template <class Shape, class Item>
WARPFOLD_DEVICE void load_two(const RungArguments<Item>& arguments, const Values<Item>& values) {
    const unsigned t = thread_index();
    const Item* const items = arguments.input + Size(block_index()) * (2 * Shape::THREADS);
    values.load(items, t);
    values.load(items, Shape::THREADS + t);
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void two_items(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, count_of_block(arguments, 2 * Shape::THREADS));
    const unsigned t = thread_index();
    load_two<Shape>(arguments, values);
#pragma unroll 1
    for (unsigned step = 1; step <= Shape::THREADS; step *= 2) {
        block_barrier();
        if (t % step == 0) values.merge(op, 2 * t, 2 * t + step);
    }
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
