// The bracket of one row, or of what there is of it, by one warp: without shared memory, and with nothing before it but what it takes, since
// of inputs that small every instruction that is fetched for the first time is time. What is no whole row is the straight line.

namespace warpfold {

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void row(const Arguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    typedef typename Reader::template Group<Shape> Group;
    const typename Reader::Cursor input = typename Reader::Cursor(arguments.input).when_written();
    const bool is_whole = arguments.whole > 0 && Group::loads_whole(input);
    if (!is_whole && arguments.length > 0) {
        const First present = {static_cast<unsigned>(arguments.length)};
        Row<Shape, Reader> part;
        part.load_part(input, present);
        const Place<Item> place(arguments, 0, false);
        const Words<Item> value = warp_bracket<!Words<Item>::LARGE>(op, part.value(op), part.lanes);
        if (lane_index() == 0) place.leave(value);
    } else if (arguments.length > 0) {
        if constexpr (Group::HAS_WHOLE) {
            Group group;
            group.load_whole(input + lane_index() * Shape::GROUP_ITEMS);
            const Place<Item> place(arguments, 0, false);
            const Words<Item> value = across_lanes(op, group.bracket(op, Whole()), 1);
            if (lane_index() == 0) place.leave(value);
        }
    } else if (lane_index() == 0) {
        Place<Item>(arguments, 0, false).leave(Words<Item>(arguments.identity));
    }
}

}  // namespace warpfold
