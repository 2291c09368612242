// Sequential: one thread combines all items in order.
//
// Idea: the obvious loop, on a GPU. Order is kept.
// Cost: n - 1 combinations in as many steps, and each waits for the item before. One lane of one
// warp of one multiprocessor works, and the rest of the GPU is idle.
// Next: a tree, which combines pairs that do not depend on each other.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void sequential(const RungArguments<Item>& arguments, const Operator& op) {
    if (thread_index() > 0) return;
    Words<Item> value = load_item(arguments.input);
#pragma unroll 1
    for (Size i = 1; i < arguments.length; ++i) value = combine(op, value, load_item(arguments.input + i));
    value.store(arguments.output);
}

}  // namespace warpfold
