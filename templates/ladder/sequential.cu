// Sequential: one thread combines one item after another.
//
// Idea: the loop that everybody writes first, on a GPU.
// Cost: n - 1 combinations, and as many steps, each of which waits for the item before. One lane of one warp of one
// multiprocessor works, and the rest of the GPU idles.
// Next: a tree combines pairs that do not wait for each other.

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
