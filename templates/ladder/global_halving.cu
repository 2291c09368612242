// Halving in global memory: one launch a level, as bottom-up, of halves instead of neighbours.
//
// Idea: what is left is cut in the middle, and each item of the first half is combined with the one that stands in its
// place in the second. Lanes read side by side, twice. This reorders: the operator must commute.
// Cost: as bottom-up, log2(n) launches, and 3 n items on their way through memory; but all of them in whole lines.
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
