// The bracket of partials by one block, which from 9.0 on begins while other blocks still leave them: those of one launch, all of whose
// blocks run, or have ended. So it waits for nobody who waits for it, and what is left when the last partial comes are a few levels.

namespace warpfold {

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void gather(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    // Of partials and of rows, a row is 32 of them.
    constexpr unsigned MOST = 4096, MOST_ROWS = MOST / WARP_LANES, MOST_PARTS = MOST_ROWS / WARP_LANES;
    static_assert(MOST_PARTS <= Shape::WARPS, "a part each");
    WARPFOLD_SHARED(Words<Item>, of_row, MOST_ROWS);
    WARPFOLD_SHARED(Words<Item>, of_part, MOST_PARTS);
    const unsigned count = static_cast<unsigned>(arguments.length), rows = (count + WARP_LANES - 1) / WARP_LANES;
    const unsigned parts = (rows + WARP_LANES - 1) / WARP_LANES;
    const Place<Item> place(arguments, 0, false);
    // The first warps have a part each, of so many rows; for others this means nothing, and is not looked at. Where their values are is
    // known before they are there, as `OfWarps` has it.
    const unsigned first_row = warp_index() * WARP_LANES, present_rows = smaller(rows - first_row, WARP_LANES);
    const Words<Item>* const row_of_lane = settle_shared(value_of_lane(of_row + first_row, present_rows));
    Partials<Item>(arguments.tickets).gather(op, count, Shape::WARPS, of_row);
    block_barrier();
    if (warp_index() < parts) {
        const Words<Item> value = warp_bracket<!Words<Item>::LARGE>(op, *row_of_lane, present_rows);
        if (parts == 1 && lane_index() == 0) place.leave(value);
        if (parts > 1 && lane_index() == 0) of_part[warp_index()] = value;
    }
    if (parts > 1) {
        block_barrier();
        if (warp_index() == 0) {
            const Words<Item> value = warp_bracket<false>(op, *value_of_lane(of_part, parts), parts);
            if (lane_index() == 0) place.leave(value);
        }
    }
    // This launch ends after the one before it: so the next call begins after both.
    when_written(arguments.output);
}

}  // namespace warpfold
