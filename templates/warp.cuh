// What the lanes of a warp have, combined across them.
//
// A row is one group a lane, lane by lane: one coalesced load. Values of perfect subtrees pair as the bracket does. Which
// lane computes a pair never changes which operand is on its left.

namespace warpfold {

// What fits in a word is sooner combined than a branch taken.
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
// combined, then the parts. Written out, or a loop: each copy of a complex operator is compile time.
template <bool WRITTEN_OUT, class Operator, class Item>
WARPFOLD_DEVICE Words<Item> across_lanes(const Operator& op, Words<Item> value, unsigned parts) {
    unsigned distance = parts < WARP_LANES ? parts : 1;
#pragma unroll(WRITTEN_OUT ? WARP_LEVEL : 1)
    for (unsigned step = 0; step < WARP_LEVEL; ++step) {
        value = combine(op, value, shuffle_down(value, distance));
        distance = 2 * distance < WARP_LANES ? 2 * distance : 1;
    }
    return value;
}

// The bracket of one value per lane for the first `count` lanes, or for all if it is more, in lane 0: level by level, as far as
// there are any or all.
template <bool ALL_LEVELS, class Operator, class Item>
WARPFOLD_DEVICE Words<Item> warp_bracket(const Operator& op, Words<Item> value, unsigned count) {
    const unsigned lane = lane_index();
#pragma unroll(SHORT<Item> ? WARP_LEVEL : 1)
    for (unsigned distance = 1; distance < WARP_LANES; distance *= 2) {
        if (!ALL_LEVELS && distance >= count) break;
        const Words<Item> right = shuffle_down(value, distance);
        if (lane + distance < count) value = combine(op, value, right);
    }
    return value;
}

// The bracket of a whole row, in lane 0, of which each lane has a group.
template <class Operator, class Item, unsigned GROUP_ITEMS>
WARPFOLD_DEVICE Words<Item> whole_row(const Operator& op, const Group<Item, GROUP_ITEMS>& group) {
    return across_lanes<SHORT<Item>>(op, group.bracket(op, Whole()), 1);
}

// The bracket of a row of which `present` items exist, in lane 0, unspecified if none does: by loads of WIDTH bytes if they reach all.
template <unsigned WIDTH, unsigned GROUP_ITEMS, class Item, class Operator>
WARPFOLD_DEVICE Words<Item> row_bracket(const Operator& op, const Item* items, First present) {
    static_assert((GROUP_ITEMS & (GROUP_ITEMS - 1)) == 0 && GROUP_ITEMS <= 32, "a power of two of items, a bit each");
    const unsigned first = lane_index() * GROUP_ITEMS;
    const bool whole = WIDTH >= 4 && reinterpret_cast<Size>(items) % WIDTH == 0 && present.has(WARP_LANES * GROUP_ITEMS - 1);
    const Bits of_lane(present, first);
    Group<Item, GROUP_ITEMS> group;
    if (whole) {
        if constexpr (WIDTH >= 4) group.template load_whole<WIDTH>(items + first);
    } else {
        group.load_present(items + first, first, present);
    }
    const Words<Item> value = group.bracket(op, of_lane);
    return warp_bracket<SHORT<Item>>(op, value, (present.count + GROUP_ITEMS - 1) / GROUP_ITEMS);
}

}  // namespace warpfold
