// Bottom-up: one launch for each level of the tree, from the leaves.
//
// Idea: each thread combines two neighbours. An unpaired last value moves up unchanged. Further
// launches repeat this until one value is left. The end of a launch is the barrier between all
// threads. Neighbours stay neighbours, so this tree is the bracket itself, and order is kept.
// Cost: log2(n) launches of some microseconds each, however little work is left. Every level goes
// through global memory, so 3 n items move instead of n. The two items of a thread are two loads,
// at addresses 2 items apart from those of its neighbour.
// Next: a single launch.

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
