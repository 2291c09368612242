// Interleaved: each block combines its items in shared memory, neighbours first.
//
// Idea: a block loads an item a thread, side by side, and goes up log2(threads) levels where a barrier costs tens of
// cycles instead of a launch. It leaves one value, in the block's place: the order is kept. A launch divides what is left
// by the size of a block, so two or three do for any input; who finishes the partials is a question of its own.
// Cost: at level k the threads that work are the multiples of 2^k. They are spread over all warps: down to a level of 32
// every warp runs every step, for ever fewer of its lanes (divergence), and the remainder costs a division.
// Next: more work for the threads there are.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void interleaved(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, count_of_block(arguments, Shape::THREADS));
    const unsigned t = thread_index();
    values.load(arguments.input + Size(block_index()) * Shape::THREADS, t);
#pragma unroll 1
    for (unsigned step = 1; step < Shape::THREADS; step *= 2) {
        block_barrier();
        if (t % (2 * step) == 0) values.merge(op, t, t + step);
    }
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
