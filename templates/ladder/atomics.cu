// Atomics: the blocks combine their partials in one word of memory, in the order in which they come.
//
// Idea: for the operators that the hardware has (integer addition, minimum, maximum, bitwise ones) that is one `atomicAdd` or
// its like. For any other operator on items of at most 4 bytes compare-and-swap does it: read the word, combine, and write
// if nobody else has in between; else again. The word holds the value and, beside it, how many blocks are in it: whoever
// is last writes the result.
// Cost: the blocks meet at one address, one after another, so there must be few of them. The order changes from run to run, and
// with it the bits of a float sum. Larger items have no such word.
// Next: partials that are combined in one order.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void atomics(const RungArguments<Item>& arguments, const Operator& op) {
    static_assert(Words<Item>::COUNT == 1, "an item and a count share a word");
    const Words<Item> own = of_block<Shape>(arguments.identity, op, items_of_thread<Shape>(arguments, op));
    if (thread_index() > 0) return;
    unsigned long long seen = published(arguments.shared);
    for (;;) {
        Words<Item> value = own;
        const unsigned blocks = static_cast<unsigned>(seen >> 32);
        if (blocks > 0) {
            Words<Item> others;
            others.word[0] = static_cast<unsigned>(seen);
            value = combine(op, others, own);
        }
        const unsigned long long wanted = static_cast<unsigned long long>(blocks + 1) << 32 | value.word[0];
        const unsigned long long found = compare_and_swap(arguments.shared, seen, wanted);
        if (found == seen) {
            if (blocks + 1 < block_count()) return;
            value.store(arguments.output);
            publish(arguments.shared, 0);
            return;
        }
        seen = found;
    }
}

}  // namespace warpfold
