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

// What the lanes of a warp have of a row of which `present` items exist: a group each. The first `lanes` lanes have items; the others
// have those of the last of these.
template <class Item, unsigned GROUP_ITEMS>
struct Row {
    static_assert((GROUP_ITEMS & (GROUP_ITEMS - 1)) == 0, "a group is a power of two of items");

    Group<Item, GROUP_ITEMS> group;
    unsigned lanes;
    First of_lane;

    // By loads of WIDTH bytes, if the row is whole and at a multiple of that.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void load(const Item* items, First present, bool is_whole) {
        const unsigned last = (present.count - 1) / GROUP_ITEMS;
        const unsigned first = (lane_index() < last ? lane_index() : last) * GROUP_ITEMS;
        lanes = last + 1, of_lane = {present.count - first};
        if (WIDTH >= 4 && is_whole) {
            if constexpr (WIDTH >= 4) group.template load_whole<WIDTH>(items + first);
        } else {
            group.load_present(items, first, present);
        }
    }

    // A value of each lane.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> value(const Operator& op) const {
        return group.bracket(op, of_lane);
    }
};

}  // namespace warpfold
