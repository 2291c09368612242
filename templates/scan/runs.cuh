// The runs of a warp's lanes, in shared memory: 32 runs a row. Up the bracket, and down again, in
// place.
//
// On the way up, each place gets the value of the largest perfect subtree that ends with it. Values
// of subtrees larger than a run or a row are kept in registers. On the way down, each place gets
// the value of everything up to its item, or before it if the scan is exclusive.

namespace warpfold {

// One row. A lane has a long run, in units. Code is unrolled for the items of a unit only, since
// each copy of an operator takes compile time.
template <class Shape, class Item, bool HAS_ROWS = (Shape::ROWS > 1)>
class Runs {
    static constexpr unsigned UNIT = Shape::UNIT_ITEMS, UNITS = Shape::RUN_ITEMS / UNIT, LEVELS = level_of(UNITS);
    static constexpr unsigned WIDTH = Exchange<Shape::RUN_ITEMS * sizeof(Item)>::CHUNK;
    static_assert(UNIT * sizeof(Item) % WIDTH == 0, "a unit is whole chunks");

    unsigned char* const first;
    // The largest perfect subtree that ends with the lane's run.
    Words<Item> subtree;

    WARPFOLD_DEVICE unsigned char* unit(unsigned index) const { return first + index * (UNIT * sizeof(Item)); }
    WARPFOLD_DEVICE void get(unsigned index, Words<Item> (&place)[UNIT]) const {
        Group<Item, UNIT> group;
        group.template read_from<WIDTH>(unit(index));
#pragma unroll
        for (unsigned i = 0; i < UNIT; ++i) place[i] = group.get(i);
    }
    WARPFOLD_DEVICE void set(unsigned index, const Words<Item> (&place)[UNIT]) const {
        Group<Item, UNIT> group;
        group.set(place);
        group.template write_to<WIDTH>(unit(index));
    }

    // Up, within the run. Returns the value of the run.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> run_up(const Operator& op) const {
        // For each level, the left subtree that waits for its right neighbour.
        Words<Item> left[LEVELS + 1], place[UNIT];
#pragma unroll 1
        for (unsigned index = 0; index < UNITS; ++index) {
            get(index, place);
#pragma unroll
            for (unsigned step = 1; step < UNIT; step *= 2) {
#pragma unroll
                for (unsigned i = 2 * step - 1; i < UNIT; i += 2 * step) place[i] = combine(op, place[i - step], place[i]);
            }
            bool carries = true;
#pragma unroll
            for (unsigned k = 0; k < LEVELS; ++k) {
                if (!carries) continue;
                if (index >> k & 1)
                    place[UNIT - 1] = combine(op, left[k], place[UNIT - 1]);
                else
                    left[k] = place[UNIT - 1], carries = false;
            }
            set(index, place);
        }
        return place[UNIT - 1];
    }

    // Down, within the run.
    template <class Operator>
    WARPFOLD_DEVICE void run_down(const Operator& op, const Edges<Item>& edges, bool exclusive) const {
        // `before[k]` is the value of everything before the aligned 2^k units that hold the current
        // unit.
        Words<Item> before[LEVELS + 1], place[UNIT];
#pragma unroll
        for (unsigned k = 0; k <= LEVELS; ++k) before[k] = edges.before;
#pragma unroll 1
        for (unsigned index = 0; index < UNITS; ++index) {
            get(index, place);
            const bool has_before = edges.has_before || index > 0;
            Words<Item> next = edges.after;
            if (index + 1 < UNITS) {
                Words<Item> left = before[0];
                bool has_left = has_before;
#pragma unroll
                for (unsigned k = 1; k < LEVELS; ++k) {
                    const bool ends = (index + 1) % (1u << k) == 0;
                    left = select(ends, before[k], left);
                    if (ends) has_left = edges.has_before || index >> k > 0;
                }
                next = place[UNIT - 1];
                if (has_left) next = combine(op, left, next);
            }
#pragma unroll
            for (unsigned step = UNIT / 2; step > 0; step /= 2) {
#pragma unroll
                for (unsigned i = step - 1; i < UNIT - 1; i += 2 * step) {
                    if (i >= step)
                        place[i] = combine(op, place[i - step], place[i]);
                    else if (has_before)
                        place[i] = combine(op, before[0], place[i]);
                }
            }
            place[UNIT - 1] = next;
            if (exclusive) {
#pragma unroll
                for (unsigned i = UNIT - 1; i > 0; --i) place[i] = place[i - 1];
                place[0] = before[0];
            }
            set(index, place);
#pragma unroll
            for (unsigned k = 0; k <= LEVELS; ++k) before[k] = select((index + 1) % (1u << k) == 0, next, before[k]);
        }
    }

  public:
    WARPFOLD_DEVICE explicit Runs(unsigned char* first) : first(first) {}

    // Up. Returns the value of all runs, in the last lane.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> up(const Operator& op) {
        return subtree = subtrees(op, run_up(op), WARP_LANES);
    }

    // Down, in place.
    template <class Operator>
    WARPFOLD_DEVICE void down(const Operator& op, Edges<Item> edges, bool exclusive, unsigned char*) const {
        const Words<Item> value = prefixes(op, subtree, edges, WARP_LANES);
        const Words<Item> before = shuffle_from(value, lane_index() - 1);
        if (lane_index() > 0) edges.before = before, edges.has_before = true;
        if (lane_index() + 1 < WARP_LANES) edges.after = value;
        run_down(op, edges, exclusive);
    }
};

// Many rows. In each row a lane has one chunk, at the same place as in global memory, so lanes
// exchange nothing. AT_ONCE rows go up or down together, so that their latencies overlap.
template <class Shape, class Item>
class Runs<Shape, Item, true> {
    static constexpr unsigned ROWS = Shape::ROWS, AT_ONCE = 4, RUN = Shape::RUN_ITEMS, CHUNK = RUN * sizeof(Item);
    static_assert(Shape::UNIT_ITEMS == RUN && Exchange<CHUNK>::CHUNK == CHUNK && ROWS % AT_ONCE == 0,
                  "of so many rows a lane has one chunk each");
    using Chunk = Group<Item, RUN>;

    unsigned char* const first;
    // In lane r, the largest perfect subtree of rows that ends with row r.
    Words<Item> subtree;

    WARPFOLD_DEVICE void get(unsigned row, Words<Item> (&place)[AT_ONCE][RUN]) const {
        Chunk chunk[AT_ONCE];
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; ++k) chunk[k].template read_from<CHUNK>(first + (row + k) * (WARP_LANES * CHUNK));
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; ++k) {
#pragma unroll
            for (unsigned i = 0; i < RUN; ++i) place[k][i] = chunk[k].get(i);
        }
    }
    static WARPFOLD_DEVICE void set(unsigned char* to, unsigned row, const Words<Item> (&place)[AT_ONCE][RUN]) {
#pragma unroll
        for (unsigned k = 0; k < AT_ONCE; ++k) {
            Chunk chunk;
            chunk.set(place[k]);
            chunk.template write_to<CHUNK>(to + (row + k) * (WARP_LANES * CHUNK));
        }
    }

  public:
    WARPFOLD_DEVICE explicit Runs(unsigned char* first) : first(first) {}

    // Up. Returns the value of all rows.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> up(const Operator& op) {
#pragma unroll 1
        for (unsigned row = 0; row < ROWS; row += AT_ONCE) {
            Words<Item> place[AT_ONCE][RUN], last[AT_ONCE];
            get(row, place);
#pragma unroll
            for (unsigned step = 1; step < RUN; step *= 2) {
#pragma unroll
                for (unsigned i = 2 * step - 1; i < RUN; i += 2 * step) {
#pragma unroll
                    for (unsigned k = 0; k < AT_ONCE; ++k) place[k][i] = combine(op, place[k][i - step], place[k][i]);
                }
            }
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; ++k) last[k] = place[k][RUN - 1];
            subtrees(op, last, WARP_LANES);
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; ++k) {
                place[k][RUN - 1] = last[k];
                const Words<Item> whole = shuffle_from(last[k], WARP_LANES - 1);
                // The lanes after it get it too, until their own row comes: every lane holds a
                // valid value.
                subtree = select(lane_index() >= row + k, whole, subtree);
            }
            set(first, row, place);
        }
        subtree = subtrees(op, subtree, ROWS);
        return shuffle_from(subtree, ROWS - 1);
    }

    // Down. Writes to `output`, where the lane's first chunk belongs, or in place if that is null.
    template <class Operator>
    WARPFOLD_DEVICE void down(const Operator& op, const Edges<Item>& edges, bool exclusive, unsigned char* output) const {
        const unsigned end = lane_index() + 1;
        // In lane r, the value of everything before the end of row r.
        const Words<Item> ends = select(end == ROWS, edges.after, prefixes(op, subtree, edges, ROWS));
        Words<Item> next = edges.before;
        bool has_before = edges.has_before;
#pragma unroll 1
        for (unsigned row = 0; row < ROWS; row += AT_ONCE) {
            // `before` and `after` are the values before a row and before its end. `last` is a
            // lane's last place, and becomes the value before the lane's end. `left` is the value
            // before the lane's first item.
            Words<Item> place[AT_ONCE][RUN], before[AT_ONCE], after[AT_ONCE], last[AT_ONCE], left[AT_ONCE];
            get(row, place);
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; ++k) {
                before[k] = next;
                after[k] = next = shuffle_from(ends, row + k);
                last[k] = place[k][RUN - 1];
            }
            prefixes(op, last, has_before, before, WARP_LANES);
#pragma unroll
            for (unsigned k = 0; k < AT_ONCE; ++k) {
                Words<Item>(&run)[RUN] = place[k];
                run[RUN - 1] = select(end == WARP_LANES, after[k], last[k]);
                left[k] = select(end == 1, before[k], shuffle_from(run[RUN - 1], lane_index() - 1));
                const bool has_left = k > 0 || has_before || end > 1;
#pragma unroll
                for (unsigned step = RUN / 2; step > 0; step /= 2) {
#pragma unroll
                    for (unsigned i = step - 1; i < RUN - 1; i += 2 * step) {
                        const Words<Item> combined = combine(op, i >= step ? run[i - step] : left[k], run[i]);
                        run[i] = select(i >= step || has_left, combined, run[i]);
                    }
                }
            }
            if (exclusive) {
#pragma unroll
                for (unsigned k = 0; k < AT_ONCE; ++k) {
#pragma unroll
                    for (unsigned i = RUN - 1; i > 0; --i) place[k][i] = place[k][i - 1];
                    place[k][0] = left[k];
                }
            }
            has_before = true;
            // The AT_ONCE rows are stored together. This order was faster with every compiler that
            // was tested, for an unknown reason.
            if (output)
                set(output, row, place);
            else
                set(first, row, place);
        }
    }
};

}  // namespace warpfold
