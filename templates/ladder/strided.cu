// Strided: the same pairs, taken by the first threads of the block.
//
// Idea: which thread combines a pair does not matter. If thread t takes the pair t, those that work are the first ones: whole
// warps work or rest, and divergence is left to the last five levels. The order is kept.
// Cost: at level k neighbouring lanes touch words 2^(k+1) apart. Shared memory has 32 banks, word by word; a stride of 2
// uses 16 of them, one of 32 a single one, and accesses to one bank wait for each other.
// Next: neighbouring lanes on neighbouring words.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void strided(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, count_of_block(arguments, 2 * Shape::THREADS));
    const unsigned t = thread_index();
    load_two<Shape>(arguments, values);
#pragma unroll 1
    for (unsigned step = 1; step <= Shape::THREADS; step *= 2) {
        block_barrier();
        const unsigned left = 2 * step * t;
        values.merge(op, left, left + step);
    }
    if (t == 0) values[0].store(arguments.output + block_index());
}

}  // namespace warpfold
