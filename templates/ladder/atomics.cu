// Atomics: the blocks combine their partials in one word of global memory, in order of arrival.
//
// Idea: for sums, each block adds its partial with `atomicAdd`, and increments a counter. The block
// that finds the last count stores the sum. Other operators use compare-and-swap, on items of at
// most 4 bytes. A block reads the word, combines, and writes if no other block has written
// meanwhile. Otherwise it repeats. The word holds the item and the count of blocks.
// Cost: all blocks use one address. An addition there takes nanoseconds. Of several
// compare-and-swaps that collide, one succeeds, so there must be few blocks. The order changes from
// run to run, and with it the bits of a float sum. Larger items do not fit in a word.
// Next: combine the partials in a fixed order.

namespace warpfold {

WARPFOLD_DEVICE void add_to(unsigned long long* word, float value) { atomic_add_float(word, value); }
WARPFOLD_DEVICE void add_to(unsigned long long* word, double value) { atomic_add_double(word, value); }
template <class Integer>
WARPFOLD_DEVICE void add_to(unsigned long long* word, Integer value) {
    // For items of less than 8 bytes, the upper half of the word has no meaning, nor do carries
    // into it.
    atomic_add(word, static_cast<unsigned long long>(value));
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void atomics(const RungArguments<Item>& arguments, const Operator& op) {
    const Words<Item> own = of_block(op, items_of_thread<Shape>(arguments, op), threads_with_items<Shape>(arguments));
    if (thread_index() > 0) return;
    unsigned long long* const word = arguments.shared;
    if constexpr (Shape::ADDS) {
        unsigned long long* const count = word + 1;
        add_to(word, own.item());
        fence();
        if (atomic_add(count, 1) < block_count() - 1) return;
        fence();
        const unsigned long long sum = published(word);
        Words<Item> value;
        value.word[0] = static_cast<unsigned>(sum);
        if constexpr (Words<Item>::COUNT == 2) value.word[1] = static_cast<unsigned>(sum >> 32);
        value.store(arguments.output);
        publish(word, 0);
        publish(count, 0);
    } else {
        static_assert(Words<Item>::COUNT == 1, "an item and a count share a word");
        for (unsigned long long seen = published(word);;) {
            Words<Item> value = own;
            const unsigned blocks = static_cast<unsigned>(seen >> 32);
            if (blocks > 0) {
                Words<Item> others;
                others.word[0] = static_cast<unsigned>(seen);
                value = combine(op, others, own);
            }
            const unsigned long long wanted = static_cast<unsigned long long>(blocks + 1) << 32 | value.word[0];
            const unsigned long long found = compare_and_swap(word, seen, wanted);
            if (found == seen) {
                if (blocks + 1 < block_count()) return;
                value.store(arguments.output);
                publish(word, 0);
                return;
            }
            seen = found;
        }
    }
}

}  // namespace warpfold
