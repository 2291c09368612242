// Interleaved: each block reduces its items in shared memory, neighbours first.
//
// Idea: each thread of a block loads one item at adjacent addresses. The block takes log2(threads)
// levels, and a barrier between them costs tens of cycles instead of a launch. It leaves one value
// at its own place, so order is kept. A launch divides the number of values by the size of a block,
// so two or three launches do. How the partials are combined is a separate question.
// Cost: at level k, only threads that are multiples of 2^k work. They are spread over all warps.
// Every warp runs the first five levels with ever fewer lanes (divergence), and the remainder takes
// a division.
// Next: more work for the same threads.

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
