// The values of a warp's lanes, combined across the lanes.
//
// A row is one group for each lane, in lane order: one coalesced load. Values of perfect subtrees
// are paired like neighbours in the bracket. Invariant: the choice of the lane that combines a pair
// never changes which operand is on the left.

namespace warpfold {

// Items of one word.
template <class Item>
constexpr bool IS_ONE_WORD = Words<Item>::COUNT == 1;

WARPFOLD_DEVICE constexpr unsigned level_of(unsigned rows) { return rows == 1 ? 0 : 1 + level_of(rows / 2); }

// Merges two values a lane into one. All of `odd` comes after all of `even`. Take two lanes whose
// indices differ in bit `distance`: the lower combines their `even` values, the upper their `odd`
// values. So every lane does useful work. Afterwards that bit of the lane says to which of the two
// the value belongs.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> merge(const Operator& op, const Words<Item>& even, const Words<Item>& odd, unsigned distance) {
    const bool upper = (lane_index() & distance) != 0;
    const Words<Item> received = shuffle_xor(select(upper, even, odd), distance);
    return combine(op, select(upper, received, even), select(upper, odd, received));
}

// The bracket of one value a lane, in lane 0. The lanes have `parts` parts: lane l belongs to part
// l % parts. The lanes of a part are combined first, then the parts. Unrolled, unless items are too
// large for registers.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> combine_lanes(const Operator& op, Words<Item> value, unsigned parts) {
    if constexpr (packed::HAS_FORM<Operator>) {
        value.word[0] = packed::Form<Operator>::of_lanes(value.word[0]);
        return value;
    }
    unsigned distance = parts < WARP_LANES ? parts : 1;
#pragma unroll(Words<Item>::LARGE ? 1 : WARP_LEVEL)
    for (unsigned step = 0; step < WARP_LEVEL; ++step) {
        value = combine(op, value, shuffle_down(value, distance));
        distance = 2 * distance < WARP_LANES ? 2 * distance : 1;
    }
    return value;
}

// The bracket of one value a lane, of the first `count` lanes or all if `count` is more, in lane 0.
// All lanes hold valid items: lanes past the end may be combined, and the result is discarded.
// Unrolled or a loop, since each copy of a complex operator takes compile time.
template <bool IS_UNROLLED, class Operator, class Item>
WARPFOLD_DEVICE Words<Item> warp_bracket(const Operator& op, Words<Item> value, unsigned count) {
    const unsigned lane = lane_index();
    if constexpr (packed::HAS_FORM<Operator>) {
        using Packed = packed::Form<Operator>;
        value.word[0] = Packed::of_lanes(lane < count ? value.word[0] : Packed::IDENTITY);
        return value;
    }
#pragma unroll(IS_UNROLLED ? WARP_LEVEL : 1)
    for (unsigned distance = 1; distance < WARP_LANES; distance *= 2) {
        if (!(IS_UNROLLED && IS_ONE_WORD<Item>) && distance >= count) break;
        const Words<Item> right = shuffle_down(value, distance);
        value = combine_if(op, lane + distance < count, value, right);
    }
    return value;
}

// Combines a value with the elements of a group that exist, one by one. If the group `begins`, there
// is no value yet.
template <class Item, unsigned COUNT, class Group, class Operator, class Present>
WARPFOLD_DEVICE void accumulate(const Operator& op, const Group& group, Present present, bool begins, Words<Item>& value) {
    Item item;
    if (begins) {
        item = group.item(op, 0, present).item();
    } else {
        item = value.item();
        group.accumulate(op, item, 0);
    }
#pragma unroll
    for (unsigned i = 1; i < COUNT; ++i)
        if (present.has(i)) group.accumulate(op, item, i);
    // A copy, because large words are read from its address, and `item` stays in registers.
    const Item settled = item;
    value = Words<Item>(settled);
}
// The same, called and not inlined.
template <class Item, unsigned COUNT, class Group, class Operator>
WARPFOLD_OUTLINED void accumulate_large(const Operator& op, const Group& group, PrefixMask present, bool begins, Words<Item>& value) {
    accumulate<Item, COUNT>(op, group, present, begins, value);
}
template <class Item, unsigned COUNT, class Group, class Operator, class Present>
WARPFOLD_DEVICE void accumulate_group(const Operator& op, const Group& group, Present present, bool begins, Words<Item>& value) {
    if constexpr (Words<Item>::LARGE)
        accumulate_large<Item, COUNT>(op, group, prefix_of(present), begins, value);
    else
        accumulate<Item, COUNT>(op, group, present, begins, value);
}

// The bracket of the items of a group that exist. In place of a missing item there is a valid one:
// it is combined as well, and the result is discarded.
template <class Prepare, class Item, unsigned COUNT, class Group, class Operator, class Present>
WARPFOLD_DEVICE Words<Item> bracket_of_group(const Operator& op, const Group& group, Present present) {
    if constexpr (Prepare::ACCUMULATES) {
        Words<Item> accumulated;
        accumulate_group<Item, COUNT>(op, group, present, true, accumulated);
        return accumulated;
    } else {
        Words<Item> value[COUNT];
#pragma unroll
        for (unsigned i = 0; i < COUNT; ++i) value[i] = group.item(op, i, present);
#pragma unroll
        for (unsigned step = 1; step < COUNT; step *= 2) {
#pragma unroll
            for (unsigned i = 0; i < COUNT; i += 2 * step)
                value[i] = combine_if(op, present.has(i + step), value[i], value[i + step]);
        }
        return value[0];
    }
}

}  // namespace warpfold
