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

    // Whether all of a warp's items are loaded by the widest loads.
    static WARPFOLD_DEVICE bool loads_chunks(const Item* items) { return reinterpret_cast<Size>(items) % CHUNK == 0; }

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
    constexpr unsigned WARP_ITEMS = WARP_LANES * Shape::RUN_ITEMS, LINE = 16;
    // A power of two: as many as the shape has, or half of them.
    const unsigned tile_warps = block_warps();
    WARPFOLD_SHARED(Size, taken, 1);
    WARPFOLD_SHARED(Words<Item>, of_warp, Shape::WARPS);
    WARPFOLD_SHARED(Words<Item>, after_warp, Shape::WARPS);
    WARPFOLD_SHARED(Edges<Item>, of_tile, 1);
    WARPFOLD_DYNAMIC_SHARED(memory);
    const auto begin_of = [&](Size tile) { return (tile * tile_warps + warp_index()) * WARP_ITEMS; };
    const auto present_from = [&](Size begin) { return arguments.length > begin ? arguments.length - begin : 0; };

    // Most blocks take the tile that they would have without asking. Whoever takes it, it comes meanwhile. Where it is loaded
    // in many small words, loads that end sooner have been no help.
    const Size likely = begin_of(block_index());
    if (Slot<Shape, Item>::loads_chunks(arguments.input + likely))
        Global::ask_for<2>(arguments.input + likely, smaller(present_from(likely), WARP_ITEMS));
    if (warp_index() == 0 && lane_index() == 0) *taken = take_tile(arguments.shared, block_count());
    block_barrier();
    const Size tile = *taken & 0xffffffffu;
    const Cells<Shape::PLACES, Item> cells(arguments.shared + LINE, block_count(), static_cast<unsigned>(*taken >> 32));

    const Size begin = begin_of(tile), present = present_from(begin);
    Slot<Shape, Item> slot(memory);
    slot.load(arguments.input + begin, present, arguments.identity);
    warp_barrier();
    const Run<Shape, Item> run(slot.run());
    Words<Item> value = subtrees(op, run.up(op), WARP_LANES);
    if (lane_index() == WARP_LANES - 1) of_warp[warp_index()] = value;
    block_barrier();

    if (warp_index() == 0) {
        Words<Item> warps = of_warp[lane_index() & (tile_warps - 1)];
        warps = subtrees(op, warps, tile_warps);
        const Edges<Item> edges = look_back(op, cells, tile, shuffle_from(warps, tile_warps - 1), arguments.identity);
        warps = prefixes(op, warps, edges, tile_warps);
        if (lane_index() < tile_warps) after_warp[lane_index()] = warps;
        if (lane_index() == 0) *of_tile = edges;
    }
    block_barrier();

    Edges<Item> edges = *of_tile;
    if (warp_index() > 0) edges.before = after_warp[warp_index() - 1], edges.has_before = true;
    if (warp_index() + 1 < tile_warps) edges.after = after_warp[warp_index()];
    value = prefixes(op, value, edges, WARP_LANES);
    const Words<Item> before = shuffle_from(value, lane_index() - 1);
    if (lane_index() > 0) edges.before = before, edges.has_before = true;
    if (lane_index() + 1 < WARP_LANES) edges.after = value;
    run.down(op, edges, arguments.exclusive != 0);
    warp_barrier();
    slot.store(arguments.output + begin, present);
}

}  // namespace warpfold
