// Brent-Kung: each block scans its items by a tree, up and down: 2 n combinations in 2 log2(n)
// steps.
//
// Idea: on the way up, the last place of every subtree gets the subtree's value, as in a reduction.
// On the way down, a place that holds the value of everything before it passes that value to the
// middle of the next subtree. A thread has two items. Order is kept.
// Cost: twice the steps of Kogge-Stone. In most of them few threads work, and strides that are
// powers of two cause bank conflicts.
// Next: more items than a block has (hierarchical.cu). The product's scan is this tree, with each
// level in registers, shuffles or windows of tiles.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void brent_kung(const RungArguments<Item>& arguments, const Operator& op) {
    constexpr unsigned ITEMS = 2 * Shape::THREADS;
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, count_of_block(arguments, ITEMS));
    const unsigned t = thread_index();
    const Size begin = Size(block_index()) * ITEMS;
    values.load(arguments.input + begin, t);
    values.load(arguments.input + begin, Shape::THREADS + t);
#pragma unroll 1
    for (unsigned distance = 1; distance < ITEMS; distance *= 2) {
        block_barrier();
        const unsigned end = (t + 1) * 2 * distance - 1;
        if (end < values.count) values.set(end, combine(op, values[end - distance], values[end]));
    }
#pragma unroll 1
    for (unsigned distance = Shape::THREADS / 2; distance > 0; distance /= 2) {
        block_barrier();
        const unsigned end = (t + 1) * 2 * distance - 1;
        const unsigned middle = end + distance;
        if (middle < values.count) values.set(middle, combine(op, values[end], values[middle]));
    }
    block_barrier();
#pragma unroll
    for (unsigned k = t; k < ITEMS; k += Shape::THREADS) {
        if (k < values.count) values[k].store(arguments.output + begin + k);
    }
    if (t == 0 && block_count() > 1)
        values[values.count - 1].store(arguments.output + arguments.length + block_index());
}

}  // namespace warpfold
