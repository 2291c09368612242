// Sequential addressing: the loop is reversed, and halves are combined instead of neighbours.
//
// Idea: thread t takes the items t and t + half. Lanes touch neighbouring words, each in a bank of its own, and those that
// work are still the first ones. This reorders: the operator must commute. (An operator that does not needs the product's
// kernel, which gets the same banks by another way.)
// Cost: all items go through shared memory, and half of the threads rest from the second level on.
// Next: the first level on the way from memory, where it costs nothing.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void sequential_addressing(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, count_of_block(arguments, 2 * Shape::THREADS));
    const unsigned t = thread_index();
    load_two<Shape>(arguments, values);
#pragma unroll 1
    for (unsigned half = Shape::THREADS; half > 0; half /= 2) {
        block_barrier();
        if (t < half) values.merge(op, t, t + half);
    }
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
