// Top-down: one block cuts the input into a part for each thread.
//
// Idea: halving the input log2(threads) times gives each thread a part, which it reduces alone.
// Then the threads combine their values in shared memory, back up the tree. Parts are runs of the
// input, so order is kept.
// Cost: n / threads + log2(threads) steps in one launch, and each item is read once. But one block
// uses one of about a hundred multiprocessors. The lanes of a warp read addresses a whole part
// apart, each from its own memory sector.
// Next: use all multiprocessors, and lanes that read adjacent items.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void top_down(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const unsigned t = thread_index();
    const Size part = (arguments.length + Shape::THREADS - 1) / Shape::THREADS;
    const Size begin = t * part, end = smaller(begin + part, arguments.length);
    const Values<Item> values(memory, (arguments.length + part - 1) / part);
    if (t < values.count) {
        Words<Item> value = load_item(arguments.input + begin);
#pragma unroll 1
        for (Size i = begin + 1; i < end; ++i) value = combine(op, value, load_item(arguments.input + i));
        values.set(t, value);
    }
#pragma unroll 1
    for (unsigned step = 1; step < Shape::THREADS; step *= 2) {
        block_barrier();
        if (t % (2 * step) == 0) values.merge(op, t, t + step);
    }
    if (t == 0) values[0].store(arguments.output);
}

}  // namespace warpfold
