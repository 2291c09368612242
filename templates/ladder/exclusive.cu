// Exclusive by shifting: the value of all items before a place is what an inclusive scan has one place to its left.
//
// Idea: a shift, with the identity in the first place. No subtraction: most operators have no inverse.
// Cost: every item through memory once more. Who scans himself shifts on the way out, and pays nothing.
// Next: vectors that no block holds (hierarchical.cu).

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
