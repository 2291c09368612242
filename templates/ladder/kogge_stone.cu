// Kogge-Stone: each block scans its items in log2(threads) steps, and almost all threads work in
// each.
//
// Idea: at step k, each thread combines its value with that of the thread 2^k places to the left,
// on the left. After the last step each place has the value of all items up to it. The block's last
// value is stored behind the scanned items, for hierarchical.cu. Order is kept.
// Cost: n log2(n) combinations where n - 1 would do, so it is not work-efficient. Each step takes
// two barriers: one before reading and one before writing.
// Next: as many combinations as items.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void kogge_stone(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Values<Item> values(memory, count_of_block(arguments, Shape::THREADS));
    const unsigned t = thread_index();
    const Size index = Size(block_index()) * Shape::THREADS + t;
    Words<Item> value;
    const bool has_value = t < values.count;
    if (has_value) value = load_item(arguments.input + index), values.set(t, value);
#pragma unroll 1
    for (unsigned distance = 1; distance < Shape::THREADS; distance *= 2) {
        block_barrier();
        if (has_value && t >= distance) value = combine(op, values[t - distance], value);
        block_barrier();
        if (has_value) values.set(t, value);
    }
    if (has_value) value.store(arguments.output + index);
    if (t == values.count - 1 && block_count() > 1)
        value.store(arguments.output + arguments.length + block_index());
}

}  // namespace warpfold
