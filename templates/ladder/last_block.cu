// Last block: the block that finishes last combines the partials of all blocks.
//
// Idea: each block writes its partial, makes it visible by a fence, and takes a number by an atomic
// addition. The block with the last number knows that all partials are there. It combines them in
// the same launch, in an order that does not depend on timing. The operator must commute.
// Cost: a fence and an atomic operation for each block. The last block works alone while the GPU is
// idle, about half a microsecond.
// Next: the product's own kernel.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void last_block(const RungArguments<Item>& arguments, const Operator& op) {
    WARPFOLD_SHARED(unsigned, is_last, 1);
    Item* const partials = arguments.output + 1;
    const unsigned t = thread_index();
    Words<Item> value = of_block(op, items_of_thread<Shape>(arguments, op), threads_with_items<Shape>(arguments));
    if (t == 0) {
        value.store(partials + block_index());
        fence();
        *is_last = atomic_add(arguments.shared, 1) == block_count() - 1;
        fence();
    }
    block_barrier();
    if (*is_last == 0) return;
    if (t < block_count()) value = load_item(partials + t);
#pragma unroll 1
    for (Size i = t + Shape::THREADS; i < block_count(); i += Shape::THREADS) value = combine(op, value, load_item(partials + i));
    value = of_block(op, value, smaller(block_count(), Shape::THREADS));
    if (t > 0) return;
    value.store(arguments.output);
    publish(arguments.shared, 0);
}

}  // namespace warpfold
