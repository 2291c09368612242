// Hierarchical: each block combines its scanned items with the value of all preceding blocks.
//
// Idea: large inputs are scanned block by block. Then the values of the blocks are scanned, by the
// same launches if they are many. Each thread combines one item with the scanned value before its
// block. Those scanned values are stored behind the items. Order is kept.
// Cost: every item is read twice and written twice, 4 n accesses where 2 n would do. There are two
// launches a level and one at the top, with a copy of the block values in between.
// Next: one launch that looks back at the preceding blocks (the product's scan).

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
