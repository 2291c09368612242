// A warp tile: ROWS rows of one group per lane, reduced by one warp in registers.
//
// Row r, lane l holds group 32 r + l, so each row is one coalesced load and the items' order is: within a group, then
// across lanes, then across rows. The bracket follows that order. Reducing ROWS values per lane across 32 lanes row by
// row would take 5 ROWS shuffles; here the two lanes of a pair share the work instead: at each of the first log2(ROWS)
// distances a lane keeps half of its rows and sends the other half to its partner, so that ROWS - 1 + 5 shuffles do.
// Which lane computes a pair never changes which operand is on its left.

namespace warpfold {

WARPFOLD_DEVICE constexpr unsigned level_of(unsigned rows) { return rows == 1 ? 0 : 1 + level_of(rows / 2); }

// One value a lane: the bracket of what the lanes that differ from it below the number of rows hold of `row`.
template <class Item>
struct Lanes {
    Words<Item> value;
    unsigned row;
};

template <class Item, unsigned GROUP_ITEMS, unsigned ROW_COUNT>
struct WarpTile {
    static constexpr unsigned ROWS = ROW_COUNT;
    static constexpr unsigned LEVEL = level_of(ROWS);
    static constexpr unsigned ITEMS = ROWS * WARP_LANES * GROUP_ITEMS;
    static_assert((ROWS & (ROWS - 1)) == 0 && ROWS <= WARP_LANES, "rows are a power of two, at most one per lane");
    static_assert((GROUP_ITEMS & (GROUP_ITEMS - 1)) == 0, "a group is a power of two of items");

    // The tile's index of the first item of a group.
    static WARPFOLD_DEVICE unsigned first_item(unsigned row, unsigned lane) {
        return (row * WARP_LANES + lane) * GROUP_ITEMS;
    }

    // The tile's items that exist, reduced to one value a lane, of one row: what `across_lanes` takes.
    template <class Memory, unsigned WIDTH, class Operator, class Present>
    static WARPFOLD_DEVICE Lanes<Item> in_lanes(const Operator& op, const Item* items, bool aligned, Present present) {
        const unsigned lane = lane_index();
        Group<Item, GROUP_ITEMS> group[ROWS];
        // Asked of the last item, so that all of a whole tile is loaded in one way.
        const bool wide = WIDTH >= 4 && aligned && present.has(first_item(ROWS - 1, lane) + GROUP_ITEMS - 1);
        if (wide) {
            if constexpr (WIDTH >= 4) {
#pragma unroll
                for (unsigned row = 0; row < ROWS; ++row)
                    group[row].template load_whole<Memory, WIDTH>(items + first_item(row, lane));
            }
        } else {
#pragma unroll
            for (unsigned row = 0; row < ROWS; ++row) {
                const Item* const first = items + first_item(row, lane);
                if constexpr (ROWS > 1 && Group<Item, GROUP_ITEMS>::BYTES % 16 == 0)
                    group[row].template load_shifted<Memory>(first);
                else
                    group[row].template load_present<Memory>(first, first_item(row, lane), present);
            }
        }
        Words<Item> value[ROWS];
#pragma unroll
        for (unsigned row = 0; row < ROWS; ++row)
            value[row] = group[row].bracket(op, first_item(row, lane), present);
        return share_rows(op, value, present);
    }

  private:
    template <class Operator, class Present>
    static WARPFOLD_DEVICE Lanes<Item> share_rows(const Operator& op, Words<Item> (&value)[ROWS], Present present) {
        const unsigned lane = lane_index();
        // `value[i]` belongs to row `row + i`, and to the lanes that differ from this one below `distance`.
        unsigned row = 0;
#pragma unroll
        for (unsigned distance = 1; distance < ROWS; distance *= 2) {
            const unsigned kept = ROWS / (2 * distance);
            const bool upper = (lane & distance) != 0;
            const unsigned right_lane = (lane & ~(distance - 1)) | distance;
            row += upper ? kept : 0;
#pragma unroll
            for (unsigned i = 0; i < kept; ++i) {
                const Words<Item> received = shuffle_xor(select(upper, value[i], value[kept + i]), distance);
                const Words<Item> left = select(upper, received, value[i]);
                const Words<Item> right = select(upper, value[kept + i], received);
                value[i] = left;
                if (present.has(first_item(row + i, right_lane))) value[i] = combine(op, left, right);
            }
        }
        const Lanes<Item> lanes = {value[0], row};
        return lanes;
    }
};

// The bracket of a tile of `rows` rows, of which each lane has one value, in lane 0; unspecified in the other lanes.
//
// The rows lie bit-reversed in the first `rows` lanes: first the lanes of a row are reduced, then the rows, whose
// neighbours are the farthest apart. A loop, and one for tiles of any number of rows: each copy of a complex operator is
// compile time.
template <unsigned GROUP_ITEMS, class Operator, class Item>
WARPFOLD_DEVICE Words<Item> across_lanes(const Operator& op, Lanes<Item> lanes, unsigned rows, First present) {
    const unsigned lane = lane_index();
    Words<Item> whole = lanes.value;
    unsigned distance = rows < WARP_LANES ? rows : rows / 2;
    unsigned step = 1;
#pragma unroll 1
    for (unsigned remaining = WARP_LEVEL; remaining > 0; --remaining) {
        const bool within_row = distance >= rows;
        const Words<Item> right = shuffle_down(whole, distance);
        // Asked of the lane that `right` comes from, so that no lane ever combines what does not exist.
        const unsigned right_row = within_row ? lanes.row : lanes.row + step;
        const unsigned right_lane = within_row ? (lane + distance) & ~(rows - 1) : 0;
        if (present.has((right_row * WARP_LANES + right_lane) * GROUP_ITEMS)) whole = combine(op, whole, right);
        if (!within_row) step *= 2;
        if (within_row)
            distance = distance * 2 < WARP_LANES ? distance * 2 : rows / 2;
        else
            distance /= 2;
    }
    return whole;
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
