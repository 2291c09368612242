// Scans: of each item, the value of all items up to it, or of those before it.
//
// What is before an item is the left-to-right fold of the perfect subtrees of the bracket that make it up, the largest
// first. So it is what is before the last one of them, combined with that: a place of an array gets, on the way up the
// bracket, the value of the largest perfect subtree that ends there, and on the way down what is before that subtree on
// its left. Both ways are one combination a place, and go through the same levels: the items of a unit, units of a lane,
// lanes, warps, and tiles, which the blocks take from left to right. Only the last level leaves the block: tiles publish
// their values, and look back at those before them. Every tile and every window of tiles is a perfect subtree, so nothing
// of that moves a bit of the result.

namespace warpfold {

template <class Item>
struct ScanArguments {
    const Item* input;
    Size length;
    // May be the input.
    Item* output;
    // What blocks share: a word that says who takes which tile, and from the next line on a cell for each place of each
    // window. It begins as zeros, and serves one launch after another.
    unsigned long long* shared;
    // 0 if a place has the value of its own item, too.
    unsigned exclusive;
    Item identity;
};

// What is before some items, or the identity if nothing is, and what is before their end.
template <class Item>
struct Edges {
    bool has_before;
    Words<Item> before, after;
};

// On the way up: one value a lane, of the first `lanes` of which each gets that of the largest perfect subtree that ends
// with it.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> subtrees(const Operator& op, Words<Item> value, unsigned lanes) {
    const unsigned end = lane_index() + 1;
#pragma unroll 1
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
        const Words<Item> left = shuffle_from(value, lane_index() - distance);
        // All lanes combine, and only some use it: branches here cost more than that.
        value = select((end & (2 * distance - 1)) == 0, combine(op, left, value), value);
    }
    return value;
}

// On the way down: of each of the first `lanes` lanes what is before its end; of the last one that is not known here.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> prefixes(const Operator& op, Words<Item> subtree, const Edges<Item>& edges, unsigned lanes) {
    const unsigned end = lane_index() + 1;
#pragma unroll 1
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        const Words<Item> left = select(end > distance, shuffle_from(subtree, lane_index() - distance), edges.before);
        const bool combines = (end & (2 * distance - 1)) == distance && (end > distance || edges.has_before);
        subtree = select(combines, combine(op, left, subtree), subtree);
    }
    return subtree;
}

// The values of a window's places, of which each lane has a few that are neighbours.
template <unsigned PLACES, class Item>
struct Window {
    Words<Item> value[PLACES];

    // Those before a place, when whoever has them has sent them; of the others, the value of that place.
    WARPFOLD_DEVICE void receive(const unsigned long long* cells, unsigned stride, unsigned place,
                                 const Words<Item>& own, unsigned serial) {
        const unsigned first = lane_index() * PLACES;
        Sent<Item> sent[PLACES];
        for (;;) {
            bool are_there = true;
#pragma unroll
            for (unsigned k = 0; k < PLACES; ++k) {
                if (first + k < place) sent[k].look(cells + k * stride);
            }
#pragma unroll
            for (unsigned k = 0; k < PLACES; ++k) are_there &= first + k >= place || sent[k].has(serial);
            if (are_there) break;
            pause();
        }
#pragma unroll
        for (unsigned k = 0; k < PLACES; ++k) value[k] = select(first + k < place, sent[k].value(), own);
    }

    // On the way up: each gets the largest perfect subtree that ends with it.
    template <class Operator>
    WARPFOLD_DEVICE void combine_subtrees(const Operator& op) {
#pragma unroll
        for (unsigned step = 1; step < PLACES; step *= 2) {
#pragma unroll
            for (unsigned k = 2 * step - 1; k < PLACES; k += 2 * step) value[k] = combine(op, value[k - step], value[k]);
        }
        value[PLACES - 1] = subtrees(op, value[PLACES - 1], WARP_LANES);
    }

    // That of one place, in all lanes.
    WARPFOLD_DEVICE Words<Item> at(unsigned place) const {
        Words<Item> chosen = value[PLACES - 1];
#pragma unroll
        for (unsigned k = 0; k + 1 < PLACES; ++k) chosen = select(place % PLACES == k, value[k], chosen);
        return shuffle_from(chosen, place / PLACES);
    }
};

// The value of each tile, of each window of tiles, of each window of windows, and so on, for other blocks to see.
template <unsigned PLACES, class Item>
class Cells {
    // A cell is whole sectors of the cache: what is read while a neighbour of it is still to be written delays whoever
    // writes that.
    static constexpr unsigned SECTOR = 4, CELL = (Words<Item>::COUNT + SECTOR - 1) / SECTOR * SECTOR;
    static constexpr unsigned WINDOW = WARP_LANES * PLACES;

    unsigned long long* cells;
    Size tiles;
    unsigned serial;

    // Where a window begins. Its places stand in the order in which lanes look at them, a cell each at once.
    WARPFOLD_DEVICE unsigned long long* window(unsigned level, Size index) const {
        Size windows = index / WINDOW;
#pragma unroll 1
        for (Size count = tiles; level > 0; --level, count /= WINDOW) windows += (count + WINDOW - 1) / WINDOW;
        return cells + windows * (WINDOW * CELL);
    }

  public:
    WARPFOLD_DEVICE Cells(unsigned long long* cells, Size tiles, unsigned serial)
        : cells(cells), tiles(tiles), serial(serial) {}

    // As many levels of windows as have one that is whole, and one more; or two, the last of which nothing is before in.
    WARPFOLD_DEVICE unsigned levels() const {
        unsigned levels = 1;
        for (Size last = tiles - 1; last >= WINDOW; last /= WINDOW) ++levels;
        return levels + 1;
    }

    // The window that has an index of a level, and its place there.
    static WARPFOLD_DEVICE Size above(Size index) { return index / WINDOW; }
    static WARPFOLD_DEVICE unsigned place(Size index) { return index % WINDOW; }
    static WARPFOLD_DEVICE bool ends_window(Size index) { return place(index) == WINDOW - 1; }

    WARPFOLD_DEVICE void publish(unsigned level, Size index, const Words<Item>& value) const {
        const unsigned at = place(index) % PLACES * WARP_LANES + place(index) / PLACES;
        if (lane_index() == 0) value.send(window(level, index) + at * CELL, serial);
    }

    // The largest perfect subtrees within a window, of those before a place in it, whose value is given.
    template <class Operator>
    WARPFOLD_DEVICE Window<PLACES, Item> subtrees_before(const Operator& op, unsigned level, Size index,
                                                         const Words<Item>& value) const {
        Window<PLACES, Item> seen;
        seen.receive(window(level, index) + lane_index() * CELL, WARP_LANES * CELL, place(index), value, serial);
        seen.combine_subtrees(op);
        return seen;
    }
};

// What is before a place of a window: what is before the window, and the largest perfect subtrees of the places between.
template <class Operator, unsigned PLACES, class Item>
WARPFOLD_DEVICE Words<Item> before_place(const Operator& op, const Edges<Item>& window,
                                         const Window<PLACES, Item>& subtrees, unsigned place) {
    Words<Item> before = window.before;
    bool has_before = window.has_before;
#pragma unroll 1
    for (unsigned end = 0; end < place;) {
        end += 1u << (31 - leading_zeros_of(place - end));
        const Words<Item> next = subtrees.at(end - 1);
        before = has_before ? combine(op, before, next) : next;
        has_before = true;
    }
    return before;
}

// What is before a tile and before its end, by the whole of a warp.
template <class Operator, unsigned PLACES, class Item>
WARPFOLD_DEVICE Edges<Item> look_back(const Operator& op, const Cells<PLACES, Item>& cells, Size tile,
                                      const Words<Item>& whole, const Item& identity) {
    // Whoever ends a window publishes its value, and so on. The tiles of the window are needed again.
    Words<Item> value = whole;
    Window<PLACES, Item> tiles;
    Size index = tile;
    unsigned ended = 0;
    cells.publish(0, tile, whole);
#pragma unroll 1
    for (; cells.ends_window(index); ++ended) {
        const Window<PLACES, Item> subtrees = cells.subtrees_before(op, ended, index, value);
        if (ended == 0) tiles = subtrees;
        value = subtrees.at(cells.place(index));
        index = cells.above(index);
        cells.publish(ended + 1, index, value);
    }
    // From the largest windows to the smallest.
    Edges<Item> edges = {false, Words<Item>(identity), whole};
#pragma unroll 1
    for (unsigned level = cells.levels(); level-- > 0;) {
        index = tile;
        for (unsigned k = 0; k < level; ++k) index = cells.above(index);
        const unsigned place = cells.place(index);
        if (place == 0 && level != ended) continue;
        // The tile's own value ends this window's subtree if it ends all smaller windows.
        const bool is_known = level < ended && level == 0;
        const Window<PLACES, Item> subtrees = is_known ? tiles : cells.subtrees_before(op, level, index, value);
        if (level == ended) edges.after = before_place(op, edges, subtrees, place + 1);
        if (place > 0) edges.before = before_place(op, edges, subtrees, place), edges.has_before = true;
    }
    return edges;
}

// The items of a warp in a tile, on their way between global memory and lanes: 32 runs.
template <class Shape, class Item>
class Slot {
    using Runs = Exchange<Shape::RUN_ITEMS * sizeof(Item)>;
    static constexpr unsigned ITEMS = WARP_LANES * Shape::RUN_ITEMS, CHUNK = Runs::CHUNK;
    // As the narrowest: what the address of an item allows.
    static constexpr unsigned ITEM_WIDTH = Global::WIDTH<Item> < CHUNK ? Global::WIDTH<Item> : CHUNK;
    static constexpr unsigned AHEAD = 8;

    unsigned char* bytes;

    static WARPFOLD_DEVICE unsigned place(unsigned byte) { return Runs::place(byte / CHUNK) + byte % CHUNK; }

    template <unsigned WIDTH>
    WARPFOLD_DEVICE void load_whole(const char* from) {
        constexpr unsigned STEPS = Runs::RUN * CHUNK / WIDTH, WORDS = WIDTH < 4 ? 1 : WIDTH / 4;
#pragma unroll 1
        for (unsigned step = 0; step < STEPS; step += AHEAD) {
            unsigned word[AHEAD][WORDS];
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                if (STEPS % AHEAD != 0 && step + k >= STEPS) break;
                const Load<WIDTH> loaded = read<WIDTH>(from + WIDTH * (WARP_LANES * (step + k) + lane_index()));
#pragma unroll
                for (unsigned w = 0; w < WORDS; ++w) word[k][w] = loaded.word[w];
            }
#pragma unroll
            for (unsigned k = 0; k < AHEAD; ++k) {
                if (STEPS % AHEAD != 0 && step + k >= STEPS) break;
                write<WIDTH>(bytes + place(WIDTH * (WARP_LANES * (step + k) + lane_index())), word[k]);
            }
        }
    }

    template <unsigned WIDTH>
    WARPFOLD_DEVICE void store_whole(char* to) const {
        constexpr unsigned STEPS = Runs::RUN * CHUNK / WIDTH;
#pragma unroll(AHEAD)
        for (unsigned step = 0; step < STEPS; ++step) {
            const unsigned at = WIDTH * (WARP_LANES * step + lane_index());
            const Load<WIDTH> loaded = read<WIDTH>(bytes + place(at));
            write<WIDTH>(to + at, loaded.word);
        }
    }

  public:
    static constexpr unsigned BYTES = Runs::BYTES;

    WARPFOLD_DEVICE explicit Slot(unsigned char* shared) : bytes(shared + warp_index() * BYTES) {}

    WARPFOLD_DEVICE unsigned char* run() const { return bytes + Runs::place(lane_index() * Runs::RUN); }

    // What exists of the items, and for all others, of which nobody learns anything, the identity.
    WARPFOLD_DEVICE void load(const Item* items, Size present, const Item& identity) {
        const char* const from = reinterpret_cast<const char*>(items);
        const Size address = reinterpret_cast<Size>(from);
        if (present >= ITEMS) {
            if (address % CHUNK == 0)
                load_whole<CHUNK>(from);
            else if (CHUNK > 4 && address % 4 == 0)
                load_whole<(CHUNK > 4 ? 4 : CHUNK)>(from);
            else
                load_whole<ITEM_WIDTH>(from);
            return;
        }
#pragma unroll 1
        for (unsigned i = lane_index(); i < ITEMS; i += WARP_LANES) {
            const char* const item = reinterpret_cast<const char*>(i < present ? items + i : &identity);
#pragma unroll 1
            for (unsigned k = 0; k < sizeof(Item); k += ITEM_WIDTH)
                write<ITEM_WIDTH>(bytes + place(i * sizeof(Item) + k), read<ITEM_WIDTH>(item + k).word);
        }
    }

    WARPFOLD_DEVICE void store(Item* items, Size present) const {
        char* const to = reinterpret_cast<char*>(items);
        const Size address = reinterpret_cast<Size>(to);
        if (present >= ITEMS) {
            if (address % CHUNK == 0)
                store_whole<CHUNK>(to);
            else if (CHUNK > 4 && address % 4 == 0)
                store_whole<(CHUNK > 4 ? 4 : CHUNK)>(to);
            else
                store_whole<ITEM_WIDTH>(to);
            return;
        }
#pragma unroll 1
        for (Size at = lane_index() * ITEM_WIDTH; at < present * sizeof(Item); at += WARP_LANES * ITEM_WIDTH)
            write<ITEM_WIDTH>(to + at, read<ITEM_WIDTH>(bytes + place(static_cast<unsigned>(at))).word);
    }
};

// The run of a lane, in shared memory: units of so many items as are written out, since each copy of an operator is
// compile time.
template <class Shape, class Item>
class Run {
    static constexpr unsigned UNIT = Shape::UNIT_ITEMS, UNITS = Shape::RUN_ITEMS / UNIT, LEVELS = level_of(UNITS);
    static constexpr unsigned WIDTH = Exchange<Shape::RUN_ITEMS * sizeof(Item)>::CHUNK;
    static_assert(UNIT * sizeof(Item) % WIDTH == 0, "a unit is whole chunks");

    unsigned char* const first;

    WARPFOLD_DEVICE unsigned char* unit(unsigned index) const { return first + index * (UNIT * sizeof(Item)); }
    WARPFOLD_DEVICE void get(unsigned index, Words<Item> (&place)[UNIT]) const {
        Group<Item, UNIT> group;
        group.template read_from<WIDTH>(unit(index));
#pragma unroll
        for (unsigned i = 0; i < UNIT; ++i) place[i] = group.item(i);
    }
    WARPFOLD_DEVICE void set(unsigned index, const Words<Item> (&place)[UNIT]) const {
        Group<Item, UNIT> group;
        group.set(place);
        group.template write_to<WIDTH>(unit(index));
    }

  public:
    WARPFOLD_DEVICE explicit Run(unsigned char* first) : first(first) {}

    // On the way up. Returns the value of the run.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> up(const Operator& op) const {
        // Of each level, the subtree that waits for one on its right.
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

    // On the way down.
    template <class Operator>
    WARPFOLD_DEVICE void down(const Operator& op, const Edges<Item>& edges, bool exclusive) const {
        // What is before the unit, and before the larger ones that it is the first of: of level k, before 2^k units.
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
};

// Takes the next tile of a launch: its number, below the serial of the launch.
WARPFOLD_DEVICE Size take_tile(unsigned long long* next, Size tiles) {
    const Size taken = atomic_add(next, 1);
    // Nobody takes any after the last one, but the next launch. Its serial is never that of new memory.
    const Size serial = (taken >> 32) % 0xffffffffu + 1, tile = taken & 0xffffffffu;
    if (tile == tiles - 1) publish(next, serial << 32);
    return serial << 32 | tile;
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void scan(const ScanArguments<Item>& arguments, const Operator& op) {
    constexpr unsigned WARP_ITEMS = WARP_LANES * Shape::RUN_ITEMS, TILE_ITEMS = Shape::WARPS * WARP_ITEMS, LINE = 16;
    WARPFOLD_SHARED(Size, taken, 1);
    WARPFOLD_SHARED(Words<Item>, of_warp, Shape::WARPS);
    WARPFOLD_SHARED(Words<Item>, after_warp, Shape::WARPS);
    WARPFOLD_SHARED(Edges<Item>, of_tile, 1);
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Size tiles = (arguments.length + TILE_ITEMS - 1) / TILE_ITEMS;
    if (warp_index() == 0 && lane_index() == 0) *taken = take_tile(arguments.shared, tiles);
    block_barrier();
    const Size tile = *taken & 0xffffffffu;
    const Cells<Shape::PLACES, Item> cells(arguments.shared + LINE, tiles, static_cast<unsigned>(*taken >> 32));

    const Size begin = tile * TILE_ITEMS + warp_index() * WARP_ITEMS;
    const Size present = arguments.length > begin ? arguments.length - begin : 0;
    Slot<Shape, Item> slot(memory);
    slot.load(arguments.input + begin, present, arguments.identity);
    warp_barrier();
    const Run<Shape, Item> run(slot.run());
    Words<Item> value = subtrees(op, run.up(op), WARP_LANES);
    if (lane_index() == WARP_LANES - 1) of_warp[warp_index()] = value;
    block_barrier();

    if (warp_index() == 0) {
        Words<Item> warps = of_warp[lane_index() % Shape::WARPS];
        warps = subtrees(op, warps, Shape::WARPS);
        const Edges<Item> edges = look_back(op, cells, tile, shuffle_from(warps, Shape::WARPS - 1), arguments.identity);
        warps = prefixes(op, warps, edges, Shape::WARPS);
        if (lane_index() < Shape::WARPS) after_warp[lane_index()] = warps;
        if (lane_index() == 0) *of_tile = edges;
    }
    block_barrier();

    Edges<Item> edges = *of_tile;
    if (warp_index() > 0) edges.before = after_warp[warp_index() - 1], edges.has_before = true;
    if (warp_index() + 1 < Shape::WARPS) edges.after = after_warp[warp_index()];
    value = prefixes(op, value, edges, WARP_LANES);
    const Words<Item> before = shuffle_from(value, lane_index() - 1);
    if (lane_index() > 0) edges.before = before, edges.has_before = true;
    if (lane_index() + 1 < WARP_LANES) edges.after = value;
    run.down(op, edges, arguments.exclusive != 0);
    warp_barrier();
    slot.store(arguments.output + begin, present);
}

}  // namespace warpfold
