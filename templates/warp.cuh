// A warp tile: ROWS rows of one group per lane, reduced by one warp in registers.
//
// Row r, lane l holds group 32 r + l, so each row is one coalesced load and the items' order is: within a group, then
// across lanes, then across rows. The bracket follows that order. Reducing every row across 32 lanes by itself would leave
// most lanes idle; here two values a lane become one: of two neighbouring lanes the lower takes the pair of the first, the
// upper that of the second. Every lane combines at every step, and after k steps a lane l has, of 2^k rows, what the lanes
// that differ from it below 2^k hold of row l mod 2^k. Which lane computes a pair never changes which operand is on its left.

namespace warpfold {

WARPFOLD_DEVICE constexpr unsigned level_of(unsigned rows) { return rows == 1 ? 0 : 1 + level_of(rows / 2); }

// `distance` rows of `even` and as many of `odd`, the rows after them, to twice as many.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> merge(const Operator& op, const Words<Item>& even, const Words<Item>& odd, unsigned distance) {
    const bool upper = (lane_index() & distance) != 0;
    const Words<Item> received = shuffle_xor(select(upper, even, odd), distance);
    return combine(op, select(upper, received, even), select(upper, odd, received));
}

// Rows of a tile; all of them exist, unless it has only one.
template <class Item, unsigned GROUP_ITEMS, unsigned ROW_COUNT>
struct WarpTile {
    static constexpr unsigned ROWS = ROW_COUNT;
    static constexpr unsigned ROW_ITEMS = WARP_LANES * GROUP_ITEMS, ITEMS = ROWS * ROW_ITEMS;
    static_assert((ROWS & (ROWS - 1)) == 0 && ROWS <= WARP_LANES, "rows are a power of two, at most one per lane");
    static_assert((GROUP_ITEMS & (GROUP_ITEMS - 1)) == 0, "a group is a power of two of items");

    // The tile's index of the first item of a group.
    static WARPFOLD_DEVICE unsigned first_item(unsigned row, unsigned lane) {
        return row * ROW_ITEMS + lane * GROUP_ITEMS;
    }

    Group<Item, GROUP_ITEMS> group[ROWS];

    // The items that exist: by loads of WIDTH bytes if they reach them all.
    template <class Memory, unsigned WIDTH, class Present>
    WARPFOLD_DEVICE void load(const Item* items, bool aligned, Present present) {
        const unsigned lane = lane_index();
        if (WIDTH >= 4 && aligned && present.has(ITEMS - 1)) {
            if constexpr (WIDTH >= 4) {
#pragma unroll
                for (unsigned row = 0; row < ROWS; ++row)
                    group[row].template load_whole<Memory, WIDTH>(items + first_item(row, lane));
            }
        } else {
#pragma unroll
            for (unsigned row = 0; row < ROWS; ++row)
                group[row].template load<Memory>(items + first_item(row, lane), first_item(row, lane), present);
        }
    }

    // One value a lane: ROWS rows, as `merge` leaves them.
    template <class Operator, class Present>
    WARPFOLD_DEVICE Words<Item> in_lanes(const Operator& op, Present present) const {
        const unsigned lane = lane_index();
        Words<Item> value[ROWS];
#pragma unroll
        for (unsigned row = 0; row < ROWS; ++row) value[row] = group[row].bracket(op, first_item(row, lane), present);
#pragma unroll
        for (unsigned distance = 1; distance < ROWS; distance *= 2) {
#pragma unroll
            for (unsigned i = 0; i < ROWS / (2 * distance); ++i)
                value[i] = merge(op, value[2 * i], value[2 * i + 1], distance);
        }
        return value[0];
    }
};

// The bracket of `rows` rows, of which each lane has one value, in lane 0: first the lanes of a row are reduced, then the
// rows. A loop, as the one below: each copy of a complex operator is compile time.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> across_lanes(const Operator& op, Words<Item> value, unsigned rows) {
    unsigned distance = rows < WARP_LANES ? rows : 1;
#pragma unroll 1
    for (unsigned step = 0; step < WARP_LEVEL; ++step) {
        value = combine(op, value, shuffle_down(value, distance));
        distance = 2 * distance < WARP_LANES ? 2 * distance : 1;
    }
    return value;
}

// The bracket of one value per lane for the first `count` lanes, in lane 0.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> warp_bracket(const Operator& op, Words<Item> value, unsigned count) {
    const unsigned lane = lane_index();
#pragma unroll 1
    for (unsigned distance = 1; distance < count; distance *= 2) {
        const Words<Item> right = shuffle_down(value, distance);
        if (lane + distance < count) value = combine(op, value, right);
    }
    return value;
}

}  // namespace warpfold
