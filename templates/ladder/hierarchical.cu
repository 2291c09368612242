// Hierarchical: large vectors are scanned block by block, then the blocks' values, and those are added to what they precede.
//
// Idea: a scan of the blocks' values, by the same two launches if they are many, is what is before each block. This launch
// combines it with every item of the block; what it reads behind the scanned items are the scanned values of the blocks.
// Cost: every item is read twice and written twice, 4 n where 2 n would do; two launches a level
// and one at the top, and the blocks' values are copied in between.
// Next: one launch that looks back at the blocks before (the product's scan).

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void hierarchical(const RungArguments<Item>& arguments, const Operator& op) {
    const Size index = Size(block_index()) * Shape::THREADS + thread_index(), block = index >> arguments.block_level;
    if (index >= arguments.length) return;
    Words<Item> value = load_item(arguments.input + index);
    if (block > 0) value = combine(op, load_item(arguments.input + arguments.length + block - 1), value);
    value.store(arguments.output + index);
}

}  // namespace warpfold
