// The bracket of a small input, or of the partials of the previous launch. A block reduces one
// chunk of rows, without tiles.

namespace warpfold {

// Reduces the chunk of this block. There are five cases:
//
// - Whole rows, one a warp or two that merge: most blocks of small inputs. This path is
//   straight-line code, because each first fetch of an instruction takes time.
// - An empty input: its value is the identity.
// - One item a lane: few small items, for which shuffles cost less than loads of partial rows.
// - At most one row a warp, complete or not.
// - Several rows a warp. If the operator accumulates, each lane has neighbouring elements of them.
//
// With `gathers`, the last block combines the partials of all others.
template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_rows(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    WARPFOLD_SHARED(Words<Item>, values, Shape::WARPS > WARP_LANES ? Shape::WARPS : WARP_LANES);
    const bool gathers = arguments.gathers != 0;
    if (gathers && block_index() == block_count() - 1) {
        grid_dependency_wait(arguments.output);
        return bracket_of_blocks(arguments, op, values);
    }
    // The next launch of the call reduces the partials. It may begin now, since it waits for them.
    if (block_count() > 1 && !gathers) trigger_dependents();
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS;
    const unsigned first_run = block_index() * block_warps(), run = first_run + warp_index();
    static_assert(Shape::MERGED_TILES <= 2, "one row, or two");
    // Whether a warp has two rows that merge. Only used for whole rows.
    const bool has_two_rows = Shape::MERGED_TILES > 1 && arguments.row_level > 0;
    typedef typename Reader::Cursor Cursor;
    typedef typename Reader::template Group<Shape> Group;
    const Cursor input(arguments.input), row_begin = input + Size(has_two_rows ? 2 * run : run) * ROW_ITEMS;
    // The same limit as `Policy::lane_each_items`: items of at most 8 bytes.
    constexpr bool HAS_LANES = Words<Item>::COUNT <= 2;
    if constexpr (Group::HAS_WHOLE) {
        if (first_run + block_warps() <= arguments.whole && Group::loads_whole(input)) {
            const Cursor lane_begin = row_begin + lane_index() * Shape::GROUP_ITEMS;
            Group group, second;
            const Cursor lane_elements = lane_begin.after_grid_dependency();
            group.load_whole(lane_elements);
            if (has_two_rows) second.load_whole(lane_elements + ROW_ITEMS);
            // Computed while the loads are in flight.
            const Destination<Item> destination(arguments, block_index(), gathers);
            const WarpValues<Item> warp_values(values, block_warps());
            Words<Item> value = group.bracket(op, FullMask());
            if (has_two_rows) value = merge(op, value, second.bracket(op, FullMask()), 1);
            value = combine_lanes(op, value, has_two_rows ? 2 : 1);
            if (warp_values.bracket(op, value) && lane_index() == 0) destination.store(op, value);
            return;
        }
    }
    if (arguments.length == 0) {
        grid_dependency_wait(arguments.output);
        if (warp_index() == 0 && lane_index() == 0) Destination<Item>(arguments, 0, false).store(op, Words<Item>(arguments.identity));
        return;
    }
    Words<Item> value;
    unsigned warps = smaller(arguments.runs - first_run, block_warps()), lanes = 1;
    if (HAS_LANES && arguments.length <= block_warps() * WARP_LANES) {
        const unsigned count = static_cast<unsigned>(arguments.length), before = warp_index() * WARP_LANES;
        const unsigned at = before + lane_index();
        value = Reader::item(op, input.after_grid_dependency() + (at < count ? at : count - 1));
        lanes = count - before, warps = (count + WARP_LANES - 1) / WARP_LANES;
    } else if (Reader::ACCUMULATES && run < arguments.runs) {
        if constexpr (Reader::ACCUMULATES) {
            const Size begin = Size(run) << (level_of(ROW_ITEMS) + arguments.row_level);
            lanes = accumulate_part<Shape, Reader>(op, (input + begin).after_grid_dependency(), arguments.row_level,
                                                   arguments.length - begin, value);
        }
    } else if (run < arguments.runs && arguments.row_level == 0) {
        const PrefixMask present = {run + 1 < arguments.runs ? ROW_ITEMS : static_cast<unsigned>(arguments.length) - run * ROW_ITEMS};
        Row<Shape, Reader> row;
        row.load(row_begin.after_grid_dependency(), present);
        value = row.value(op), lanes = row.lanes;
    } else if (run < arguments.runs) {
        const Size begin = Size(run) << (level_of(ROW_ITEMS) + arguments.row_level);
        Rows<Reader> rows((input + begin).after_grid_dependency());
        value = warp_run<Shape>(op, rows, arguments.row_level, arguments.length - begin);
    }
    // A warp without items has no value, and the operator must not see undefined words.
    const WarpValues<Item> warp_values(values, warps);
    if (warp_index() < warps) value = warp_bracket<!Words<Item>::LARGE>(op, value, lanes);
    if (warp_values.bracket(op, value) && lane_index() == 0)
        Destination<Item>(arguments, block_index(), gathers).store(op, value);
}

}  // namespace warpfold
