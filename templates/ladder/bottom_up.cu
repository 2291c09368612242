// Bottom-up: one launch a level of the tree, from its leaves.
//
// Idea: each thread combines two neighbours; an odd one out goes on alone. The launches that follow do the same to what is
// left, until that is one value. The end of a launch is the barrier for all threads of the GPU. Neighbours stay neighbours,
// so the order is kept: this tree is the bracket itself.
// Cost: log2(n) launches, each of them microseconds however little is left to do; every level is written to memory and read
// again, so 3 n items move instead of n. A thread's two items are one load each, 2 items apart from its neighbour's.
// Next: one launch.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bottom_up(const RungArguments<Item>& arguments, const Operator& op) {
    const Size index = Size(block_index()) * Shape::THREADS + thread_index(), left = 2 * index, right = left + 1;
    if (left >= arguments.length) return;
    Words<Item> value = load_item(arguments.input + left);
    if (right < arguments.length) value = combine(op, value, load_item(arguments.input + right));
    value.store(arguments.output + index);
}

}  // namespace warpfold
