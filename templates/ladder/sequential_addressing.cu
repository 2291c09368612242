// Sequential addressing: each block combines halves, by a reversed loop, instead of neighbours.
//
// Idea: thread t combines items t and t + half. Lanes touch adjacent words, each in its own bank,
// and the threads that work are the first ones. The operator must commute. (For an operator that
// does not, the product's kernel avoids the same bank conflicts in another way.)
// Cost: all items go through shared memory, and half of the threads are idle from the second level
// on.
// Next: the first level during the load, at no cost.

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
