// The bracket of few chunks in one launch: a block has a chunk of one row a warp, and the last block gathers what the others have.
// They send it, each to a cell, and it looks until all has come: every word is there with the launch's serial, or not yet. A launch
// has two blocks or more, at most as many as a block has lanes and as there are cells; and a block as many warps as its shape.
//
// No block waits but the last, and for blocks before it. That those begin sooner is how GPUs are seen to begin blocks, and no promise
// of CUDA; even otherwise nothing would be stuck unless last blocks, one of each launch that is under way, left no room for any other.

namespace warpfold {

// The serial of this launch, when the one before has ended.
template <class Item>
WARPFOLD_DEVICE unsigned gathering_serial(const Arguments<Item>& arguments) {
    return static_cast<unsigned>(published(arguments.common + Common::GATHERED)) + 1;
}

// After the last serial come those that have been there before: nothing of them may be left.
template <class Item>
WARPFOLD_DEVICE void end_gathering(const Arguments<Item>& arguments, unsigned serial) {
    const bool is_last = serial == 0xffffffffu;
#pragma unroll 1
    for (unsigned at = Common::CELLS; is_last && at < Common::END; ++at) publish(arguments.common + at, 0);
    publish(arguments.common + Common::GATHERED, is_last ? 0 : serial);
}

// The bracket of what blocks have, in lane 0 of the first warp of the last one, whose own value is there before. Each block has a
// lane. The others, for which it returns false, are done.
template <class Item, class Operator>
WARPFOLD_DEVICE bool across_blocks(const Operator& op, const unsigned long long* cells, unsigned serial, Words<Item>* of_warp,
                                   Words<Item>& value) {
    // Block b has lane b % 32 of warp b / 32, warps counted backwards: so the first one, which has the value of the last block, has
    // its lane, too.
    const unsigned last = block_count() - 1, warps = last / WARP_LANES + 1;
    const unsigned place = (warps - 1 - warp_index()) & (block_warps() - 1), block = place * WARP_LANES + lane_index();
    if (place < warps) {
        if (warp_index() == 0) value = shuffle_from(value, 0);
        if (block < last) {
            Sent<Item> sent;
            // Without a pause: few look, and not for long.
            do sent.look(cells + block * Sent<Item>::CELL);
            while (!sent.has(serial));
            value = sent.value();
        }
        value = warp_bracket<false>(op, value, last + 1 - place * WARP_LANES);
    }
    return across_warps(op, of_warp, place, warps, value);
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void gather(const Arguments<Item>& arguments, const Operator& op) {
    let_next_launch_begin();
    // Twice, for those of the block and those of all blocks.
    WARPFOLD_SHARED(Words<Item>, of_warp, 2 * Shape::WARPS);
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS;
    const unsigned first_run = block_index() * block_warps(), run = first_run + warp_index();
    const Item* const items = when_written(arguments.input + Size(run) * ROW_ITEMS);
    unsigned serial;
    Words<Item> value;
    bool is_first;
    if (Shape::WIDTH >= 4 && first_run + block_warps() <= arguments.whole) {
        if constexpr (Shape::WIDTH >= 4) {
            Group<Item, Shape::GROUP_ITEMS> group;
            group.template load_whole<Shape::WIDTH>(items + lane_index() * Shape::GROUP_ITEMS);
            serial = gathering_serial(arguments);
            value = group.bracket(op, Whole());
            is_first = across_block<true>(op, of_warp, WARP_LANES, block_warps(), value);
        }
    } else {
        unsigned lanes = 1;
        if (run < arguments.runs) {
            const First present = {run + 1 < arguments.runs ? ROW_ITEMS : static_cast<unsigned>(arguments.length) - run * ROW_ITEMS};
            Row<Item, Shape::GROUP_ITEMS> row;
            row.template load<Shape::WIDTH>(items, present, run < arguments.whole);
            value = row.value(op), lanes = row.lanes;
        }
        serial = gathering_serial(arguments);
        is_first = across_block<false>(op, of_warp, lanes, smaller(arguments.runs - first_run, block_warps()), value);
    }
    unsigned long long* const cells = arguments.common + Common::CELLS;
    if (block_index() + 1 < block_count()) {
        if (is_first && lane_index() == 0) value.send(cells + block_index() * Sent<Item>::CELL, serial);
        return;
    }
    if (!across_blocks(op, cells, serial, of_warp + Shape::WARPS, value) || lane_index() != 0) return;
    // First, as who sees the bracket may soon have no use for this memory.
    end_gathering(arguments, serial);
    Place<Item>(arguments, 0).leave(value);
}

}  // namespace warpfold
