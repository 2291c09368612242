// Halving in global memory: one launch for each level, as bottom-up, but with halves instead of
// neighbours.
//
// Idea: the remaining items are cut in the middle. Each thread combines an item of the first half
// with the item at the same place of the second. Lanes read adjacent addresses, twice. The operator
// must commute.
// Cost: log2(n) launches and 3 n moved items, as bottom-up, but all in whole cache lines.
// Next: levels that stay on the chip.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void global_halving(const RungArguments<Item>& arguments, const Operator& op) {
    const Size index = Size(block_index()) * Shape::THREADS + thread_index(), half = (arguments.length + 1) / 2;
    if (index >= half) return;
    Words<Item> value = load_item(arguments.input + index);
    if (index + half < arguments.length) value = combine(op, value, load_item(arguments.input + index + half));
    value.store(arguments.output + index);
}

}  // namespace warpfold
