// Exclusive by shifting: each thread moves one value of an inclusive scan by one place.
//
// Idea: the value before a place is that of the inclusive scan one place to the left. The first
// place gets the identity. A subtraction would need an inverse, which most operators lack.
// Cost: every item moves through memory once more. A scan that writes exclusive values itself
// avoids this.
// Next: inputs larger than a block (hierarchical.cu).

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void exclusive(const RungArguments<Item>& arguments, const Operator& op) {
    const Size index = Size(block_index()) * Shape::THREADS + thread_index();
    if (index >= arguments.length) return;
    Words<Item> value(arguments.identity);
    if (index > 0) value = load_item(arguments.input + index - 1);
    value.store(arguments.output + index);
}

}  // namespace warpfold
