// Scans: of each item, the value of all items up to it, or of those before it.
//
// What is before an item is the left-to-right fold of the perfect subtrees of the bracket that make it up, the largest
// first. So it is what is before the last one of them, combined with that: a place of an array gets, on the way up the
// bracket, the value of the largest perfect subtree that ends there, and on the way down what is before that subtree on
// its left. Both ways are one combination a place, and go through the same levels: the items of a unit, units of a lane,
// lanes, rows, warps, and tiles, which are taken from left to right. Only the last level leaves whoever has a tile: tiles publish
// their values, and look back at those before them. Every tile and every window of tiles is a perfect subtree, so nothing
// of that moves a bit of the result.

namespace warpfold {

template <class Input, class Item>
struct ScanArguments {
    Input input;
    Size length;
    // May be the input.
    Item* output;
    // What blocks share: a word that says who takes which tile, and from the next line on a cell for each place of each
    // window. It begins as zeros, and serves one launch after another.
    unsigned long long* shared;
    Size tiles;
    // 0 if a place has the value of its own item, too.
    unsigned exclusive;
    Item identity;
};

// Takes the next tile of a launch: its number, below the serial of the launch.
WARPFOLD_DEVICE Size take_tile(unsigned long long* next, Size takes) {
    const Size taken = atomic_add(next, 1);
    // Nobody takes any after the last one, but the next launch. Its serial is never that of new memory.
    const Size serial = (taken >> 32) % 0xffffffffu + 1, tile = taken & 0xffffffffu;
    if (tile == takes - 1) publish(next, serial << 32);
    return serial << 32 | tile;
}

// Groups of a block load one after another: what many load at once comes to all of them late, and what is behind a tile
// cannot be written before that tile has come.
template <bool ARE_THERE>
class Turn {
    unsigned long long* loading;

  public:
    WARPFOLD_DEVICE explicit Turn(unsigned long long* loading) : loading(loading) {}
    WARPFOLD_DEVICE void clear() const {
        if constexpr (ARE_THERE) {
            if (warp_index() == 0 && lane_index() == 0) *loading = 0;
            block_barrier();
        }
    }
    // By one lane for some warps, each of which gives it back.
    WARPFOLD_DEVICE void take(unsigned warps) const {
        if constexpr (ARE_THERE) {
            while (compare_and_swap(loading, 0, warps) != 0) pause();
        }
    }
    WARPFOLD_DEVICE void give_back(unsigned warps) const {
        if constexpr (ARE_THERE) atomic_add(loading, -static_cast<unsigned long long>(warps));
    }
};

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void scan(const ScanArguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    constexpr unsigned WARP_ITEMS = WARP_LANES * Shape::ROWS * Shape::RUN_ITEMS, LINE = 16;
    constexpr bool HAS_GROUPS = Shape::GROUPS > 1;
    // Of a tile, a power of two: as many as the shape has, or, where a block has one tile, half of them.
    const unsigned warps = HAS_GROUPS ? Shape::WARPS : block_warps();
    const unsigned group = HAS_GROUPS ? warp_index() / Shape::WARPS : 0, first = group * Shape::WARPS;
    const unsigned warp = warp_index() - first;
    const bool leads = warp == 0 && lane_index() == 0;
    WARPFOLD_SHARED(Size, taken, Shape::GROUPS);
    WARPFOLD_SHARED(unsigned long long, loading, 1);
    WARPFOLD_SHARED(Words<Item>, of_warp, Shape::GROUPS * Shape::WARPS);
    WARPFOLD_SHARED(Words<Item>, after_warp, Shape::GROUPS * Shape::WARPS);
    WARPFOLD_SHARED(Edges<Item>, of_tile, Shape::GROUPS);
    WARPFOLD_DYNAMIC_SHARED(memory);
    const typename Reader::Cursor input(arguments.input);
    const auto begin_of = [&](Size tile) { return (tile * warps + warp) * WARP_ITEMS; };
    const auto present_from = [&](Size begin) { return arguments.length > begin ? arguments.length - begin : 0; };

    // Of a block that has all there is, nobody asks anything, and it asks nobody.
    const bool is_only = !HAS_GROUPS && arguments.tiles == 1;
    // Most blocks take the tile that they would have without asking. Whoever takes it, it comes meanwhile. Where it is loaded
    // in many small words, loads that end sooner have been no help.
    if (!HAS_GROUPS && !is_only) {
        const Size likely = begin_of(block_index());
        if (Slot<Shape, Item>::template loads_chunks<Reader>(input + likely))
            (input + likely).template ask_for<2>(smaller(present_from(likely), WARP_ITEMS));
    }
    // Whoever takes more than one tile takes one that is not there, at last.
    const Size takers = HAS_GROUPS ? Size(block_count()) * (block_warps() / Shape::WARPS) : block_count();
    const bool once = !HAS_GROUPS || takers >= arguments.tiles;
    const Size takes = once ? takers : takers + arguments.tiles;
    const Turn<HAS_GROUPS> turn(loading);
    turn.clear();
    do {
        if (leads) turn.take(warps), taken[group] = is_only ? 0 : take_tile(arguments.shared, takes);
        group_barrier<HAS_GROUPS>(group, warps);
        const Size tile = taken[group] & 0xffffffffu;
        if (HAS_GROUPS && tile >= arguments.tiles) {
            if (leads) turn.give_back(warps);
            return;
        }
        const unsigned serial = static_cast<unsigned>(taken[group] >> 32);
        const Cells<Shape::PLACES, Item> cells(arguments.shared + LINE, arguments.tiles, serial);

        const Size begin = begin_of(tile), present = present_from(begin);
        Slot<Shape, Item> slot(memory);
        // In place of all items that do not exist is the last one of the input. Of a warp that has no others it is the value, too.
        const typename Reader::Cursor last = input + (arguments.length - 1);
        if (present > 0) slot.template load<Reader>(op, input + begin, present, last);
        warp_barrier();
        if (lane_index() == 0) turn.give_back(1);
        Runs<Shape, Item> runs(slot.run());
        Words<Item> value;
        if (present > 0)
            value = runs.up(op);
        else
            value = Reader::item(op, last.when_written());
        if (lane_index() == WARP_LANES - 1) of_warp[first + warp] = value;
        group_barrier<HAS_GROUPS>(group, warps);

        if (warp == 0) {
            Words<Item> values = of_warp[first + (lane_index() & (warps - 1))];
            values = subtrees(op, values, warps);
            const Words<Item> whole = shuffle_from(values, warps - 1);
            Edges<Item> edges = {false, whole, whole};
            if (!is_only) edges = look_back(op, cells, tile, whole);
            values = prefixes(op, values, edges, warps);
            if (lane_index() < warps) after_warp[first + lane_index()] = values;
            if (lane_index() == 0) of_tile[group] = edges;
        }
        group_barrier<HAS_GROUPS>(group, warps);
        if (present == 0) continue;

        Edges<Item> edges = of_tile[group];
        if (warp > 0) edges.before = after_warp[first + warp - 1], edges.has_before = true;
        if (warp + 1 < warps) edges.after = after_warp[first + warp];
        unsigned char* const direct = slot.run_of(arguments.output + begin, present);
        runs.down(op, edges, arguments.exclusive != 0, direct);
        // Before the first item there is nothing.
        if (arguments.exclusive != 0 && begin == 0 && lane_index() == 0) {
            if (direct)
                Words<Item>(arguments.identity).store(arguments.output);
            else
                slot.set_first(arguments.identity);
        }
        if (!direct) {
            warp_barrier();
            slot.store(arguments.output + begin, present);
        }
    } while (!once);
}

}  // namespace warpfold
