// What the lanes of a warp have, combined across them.
//
// A row is one group a lane, lane by lane: one coalesced load. Values of perfect subtrees pair as the bracket does. Which
// lane computes a pair never changes which operand is on its left.

namespace warpfold {

// What fits in a word.
template <class Item>
constexpr bool SHORT = Words<Item>::COUNT == 1;

WARPFOLD_DEVICE constexpr unsigned level_of(unsigned rows) { return rows == 1 ? 0 : 1 + level_of(rows / 2); }

// One value a lane of `even`, and of `odd`, which comes after it, to one: of two lanes that differ in `distance` the
// lower takes the pair of the first, the upper that of the second. So every lane combines, and a lane's value is of what
// came in the lanes that differ from it up to there.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> merge(const Operator& op, const Words<Item>& even, const Words<Item>& odd, unsigned distance) {
    const bool upper = (lane_index() & distance) != 0;
    const Words<Item> received = shuffle_xor(select(upper, even, odd), distance);
    return combine(op, select(upper, received, even), select(upper, odd, received));
}

// The bracket, in lane 0, of one value a lane, which are of `parts` parts, lane by lane: first the lanes of a part are
// combined, then the parts. Written out, but for items that are not in registers.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> across_lanes(const Operator& op, Words<Item> value, unsigned parts) {
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

// The bracket of one value per lane for the first `count` lanes, or for all if it is more, in lane 0: level by level. All
// lanes have an item, too, since those after `count` may be combined and not taken. Written out, or a loop: each copy of
// a complex operator is compile time.
template <bool WRITTEN_OUT, class Operator, class Item>
WARPFOLD_DEVICE Words<Item> warp_bracket(const Operator& op, Words<Item> value, unsigned count) {
    const unsigned lane = lane_index();
    if constexpr (packed::HAS_FORM<Operator>) {
        using Packed = packed::Form<Operator>;
        value.word[0] = Packed::of_lanes(lane < count ? value.word[0] : Packed::NEUTRAL);
        return value;
    }
#pragma unroll(WRITTEN_OUT ? WARP_LEVEL : 1)
    for (unsigned distance = 1; distance < WARP_LANES; distance *= 2) {
        if (!(WRITTEN_OUT && SHORT<Item>) && distance >= count) break;
        const Words<Item> right = shuffle_down(value, distance);
        value = combine_if(op, lane + distance < count, value, right);
    }
    return value;
}

// The bracket of the items of a group that exist. Others in place of those that do not are combined, too, and what comes of it is left.
template <class Item, unsigned COUNT, class Group, class Operator, class Present>
WARPFOLD_DEVICE Words<Item> bracket_of_group(const Operator& op, const Group& group, Present present) {
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

}  // namespace warpfold
