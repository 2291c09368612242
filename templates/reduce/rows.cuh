// The bracket of small inputs, and of what a launch before has left: a chunk of rows a block.

namespace warpfold {

// A chunk a block, of rows alone. Most blocks of small inputs have whole rows, one a warp, or two: what those
// take is a straight line, since every instruction that is fetched for the first time is time. Nearly so is what a block takes if each warp
// has one row or a part of it, or a lane for each item, where that is so small that many shuffles cost less than loads of parts of a row.
template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_rows(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    WARPFOLD_SHARED(Words<Item>, values, Shape::WARPS > WARP_LANES ? Shape::WARPS : WARP_LANES);
    const bool gathers = arguments.gathers != 0;
    if (gathers && block_index() == block_count() - 1) {
        when_written(arguments.output);
        return bracket_of_blocks(arguments, op, values);
    }
    // The next launch of the call takes the partials of several blocks. It waits for them itself.
    if (block_count() > 1 && !gathers) let_next_launch_begin();
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS;
    const unsigned first_run = block_index() * block_warps(), run = first_run + warp_index();
    static_assert(Shape::MERGED_TILES <= 2, "one row, or two");
    // Of whole rows, where a warp has two that merge.
    const bool are_two = Shape::MERGED_TILES > 1 && arguments.row_level > 0;
    typedef typename Reader::Cursor Cursor;
    typedef typename Reader::template Group<Shape> Group;
    const Cursor input(arguments.input), row_begin = input + Size(are_two ? 2 * run : run) * ROW_ITEMS;
    // As `Policy::lane_each_items` has it.
    constexpr bool HAS_LANES = Words<Item>::COUNT <= 2;
    if constexpr (Group::HAS_WHOLE) {
        if (first_run + block_warps() <= arguments.whole && Group::loads_whole(input)) {
            const Cursor of_lane = row_begin + lane_index() * Shape::GROUP_ITEMS;
            Group group, second;
            const Cursor written = of_lane.when_written();
            group.load_whole(written);
            if (are_two) second.load_whole(written + ROW_ITEMS);
            // While they are on their way.
            const Place<Item> place(arguments, block_index(), gathers);
            const OfWarps<Item> of_warps(values, block_warps());
            Words<Item> value = group.bracket(op, Whole());
            if (are_two) value = merge(op, value, second.bracket(op, Whole()), 1);
            value = across_lanes(op, value, are_two ? 2 : 1);
            if (of_warps.bracket(op, value) && lane_index() == 0) place.leave(value);
            return;
        }
    }
    if (arguments.length == 0) {
        when_written(arguments.output);
        if (warp_index() == 0 && lane_index() == 0) Place<Item>(arguments, 0, false).leave(Words<Item>(arguments.identity));
        return;
    }
    Words<Item> value;
    unsigned warps = smaller(arguments.runs - first_run, block_warps()), lanes = 1;
    if (HAS_LANES && arguments.length <= block_warps() * WARP_LANES) {
        const unsigned count = static_cast<unsigned>(arguments.length), before = warp_index() * WARP_LANES;
        const unsigned at = before + lane_index();
        value = Reader::item(op, input.when_written() + (at < count ? at : count - 1));
        lanes = count - before, warps = (count + WARP_LANES - 1) / WARP_LANES;
    } else if (run < arguments.runs && arguments.row_level == 0) {
        const First present = {run + 1 < arguments.runs ? ROW_ITEMS : static_cast<unsigned>(arguments.length) - run * ROW_ITEMS};
        Row<Shape, Reader> row;
        row.load(row_begin.when_written(), present);
        value = row.value(op), lanes = row.lanes;
    } else if (run < arguments.runs) {
        const Size begin = Size(run) << (level_of(ROW_ITEMS) + arguments.row_level);
        Rows<Reader> rows((input + begin).when_written());
        value = warp_run<Shape>(op, rows, arguments.row_level, arguments.length - begin);
    }
    // A warp that has nothing has no value either, and an operator is not called with what is none.
    const OfWarps<Item> of_warps(values, warps);
    if (warp_index() < warps) value = warp_bracket<!Words<Item>::LARGE>(op, value, lanes);
    if (of_warps.bracket(op, value) && lane_index() == 0)
        Place<Item>(arguments, block_index(), gathers).leave(value);
}

}  // namespace warpfold
