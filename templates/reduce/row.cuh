// The bracket of one row, or of what there is of it, by one warp: without shared memory, and with nothing before it but what it takes, since
// of inputs that small every instruction that is fetched for the first time is time. What is no whole row is the straight line.

namespace warpfold {

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void row(const Arguments<Item>& arguments, const Operator& op) {
    const Item* const items = when_written(arguments.input);
    if (arguments.whole == 0 && arguments.length > 0) {
        Row<Item, Shape::GROUP_ITEMS> part;
        part.template load<Shape::WIDTH>(items, First{static_cast<unsigned>(arguments.length)}, false);
        const Place<Item> place(arguments, 0, false);
        const Words<Item> value = warp_bracket<!Words<Item>::LARGE>(op, part.value(op), part.lanes);
        if (lane_index() == 0) place.leave(value);
    } else if (arguments.length > 0) {
        // By narrower loads no row is whole.
        if constexpr (Shape::WIDTH >= 4) {
            Group<Item, Shape::GROUP_ITEMS> group;
            group.template load_whole<Shape::WIDTH>(items + lane_index() * Shape::GROUP_ITEMS);
            const Place<Item> place(arguments, 0, false);
            const Words<Item> value = across_lanes(op, group.bracket(op, Whole()), 1);
            if (lane_index() == 0) place.leave(value);
        }
    } else if (lane_index() == 0) {
        Place<Item>(arguments, 0, false).leave(Words<Item>(arguments.identity));
    }
}

}  // namespace warpfold
