// Strided: each block combines the same pairs as before, by its first threads.
//
// Idea: any thread may combine a pair. If thread t takes pair t, the working threads are the first
// ones. Whole warps work or rest, and only the last five levels diverge. Order is kept.
// Cost: at level k, neighbouring lanes touch words 2^(k + 1) apart. Shared memory has 32 banks, one
// word wide. A stride of 2 uses 16 of them, and a stride of 32 only one. Accesses to one bank wait
// for each other.
// Next: adjacent lanes on adjacent words.

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
