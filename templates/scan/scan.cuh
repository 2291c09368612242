// Scans: the value of all items up to each item, or before it.
//
// The value of everything before a place is a left-to-right fold of perfect subtrees of the
// bracket, the largest first. So a scan goes up and down the bracket:
//
// - Up: each place gets the value of the largest perfect subtree that ends there.
// - Down: that value is combined with the value of everything before the subtree, from the left.
//
// Each way takes at most one combination a place. Both ways go through the same levels: the items
// of a unit, the units of a lane, lanes, rows and warps, all within a block (runs.cuh,
// prefixes.cuh). The last level is tiles, across blocks (look_back.cuh).
//
// Invariants:
//
// - Tiles are taken from left to right, by a ticket. So every tile before a taken tile is taken.
// - Every tile and every window of tiles is a perfect subtree, so timing changes no bit of the
//   result.
// - The operator only sees items of the input, and values of them.

namespace warpfold {

template <class Input, class Item>
struct ScanArguments {
    Input input;
    Size length;
    // The results: what the operator presents, or items. Items may be in the memory of the input.
    void* output;
    // Shared by all blocks: a word that holds the ticket and the epoch. From the next line on, a
    // cell for each place of each window. New memory holds zeros; later launches use it without
    // clearing it.
    unsigned long long* shared;
    Size tiles;
    // 0 for an inclusive scan.
    unsigned exclusive;
    Item identity;
};

// Takes the next tile of a launch. Returns its number, with the launch's epoch in the upper 32
// bits. `takes` is the number of calls in the launch.
WARPFOLD_DEVICE Size take_tile(unsigned long long* next, Size takes) {
    const Size taken = atomic_add(next, 1);
    // After the last call only the next launch takes tiles, under the next epoch. No epoch is 0,
    // which new memory holds.
    const Size epoch = (taken >> 32) % 0xffffffffu + 1, tile = taken & 0xffffffffu;
    if (tile == takes - 1) publish(next, epoch << 32);
    return epoch << 32 | tile;
}

// The order in which the groups of a block load: one at a time. If all loaded at once, all would
// wait long for their items. Results of later tiles also need the items of earlier ones.
template <bool IS_USED>
class LoadLock {
    unsigned long long* loading;

  public:
    WARPFOLD_DEVICE explicit LoadLock(unsigned long long* loading) : loading(loading) {}
    WARPFOLD_DEVICE void clear() const {
        if constexpr (IS_USED) {
            if (warp_index() == 0 && lane_index() == 0) *loading = 0;
            block_barrier();
        }
    }
    // One lane takes the turn for `warps` warps. Each of those gives its part back.
    WARPFOLD_DEVICE void acquire(unsigned warps) const {
        if constexpr (IS_USED) {
            while (compare_and_swap(loading, 0, warps) != 0) pause();
        }
    }
    WARPFOLD_DEVICE void release(unsigned warps) const {
        if constexpr (IS_USED) atomic_add(loading, -static_cast<unsigned long long>(warps));
    }
};

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void scan(const ScanArguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    constexpr unsigned WARP_ITEMS = WARP_LANES * Shape::ROWS * Shape::RUN_ITEMS, LINE = 16;
    constexpr bool HAS_GROUPS = Shape::GROUPS > 1;
    // Results of an array of items are items, also of an operator that could present them.
    constexpr bool IS_PRESENTED = PRESENTS<Operator> && !Reader::COPIES_ITEMS;
    typedef typename ResultOf<IS_PRESENTED, Operator, Item>::Type Result;
    Result* const output = static_cast<Result*>(arguments.output);
    // Warps of a tile, a power of two: those of the shape, or half of them where a block has one
    // tile.
    const unsigned warps = HAS_GROUPS ? Shape::WARPS : block_warps();
    const unsigned group = HAS_GROUPS ? warp_index() / Shape::WARPS : 0, first = group * Shape::WARPS;
    const unsigned warp = warp_index() - first;
    const bool leads = warp == 0 && lane_index() == 0;
    WARPFOLD_SHARED(Size, taken, Shape::GROUPS);
    WARPFOLD_SHARED(unsigned long long, loading, 1);
    WARPFOLD_SHARED(Words<Item>, warp_values, Shape::GROUPS * Shape::WARPS);
    WARPFOLD_SHARED(Words<Item>, after_warp, Shape::GROUPS * Shape::WARPS);
    WARPFOLD_SHARED(Edges<Item>, tile_edges, Shape::GROUPS);
    WARPFOLD_DYNAMIC_SHARED(memory);
    const typename Reader::Cursor input(arguments.input);
    const auto begin_of = [&](Size tile) { return (tile * warps + warp) * WARP_ITEMS; };
    const auto present_from = [&](Size begin) { return arguments.length > begin ? arguments.length - begin : 0; };

    // A block that has the whole input takes no ticket and publishes nothing.
    const bool is_only = !HAS_GROUPS && arguments.tiles == 1;
    // Each block prefetches the tile of its own index while it takes its ticket. This is useful
    // whichever block gets that tile. It did not help where items are copied in narrow words.
    if (!HAS_GROUPS && !is_only) {
        const Size likely = begin_of(block_index());
        if (WarpStaging<Shape, Item>::template prefetches<Reader>(input + likely))
            (input + likely).template prefetch<2>(smaller(present_from(likely), WARP_ITEMS));
    }
    // A group that takes several tiles stops at a number past the last tile, which is one more
    // take.
    const Size takers = HAS_GROUPS ? Size(block_count()) * (block_warps() / Shape::WARPS) : block_count();
    const bool once = !HAS_GROUPS || takers >= arguments.tiles;
    const Size takes = once ? takers : takers + arguments.tiles;
    const LoadLock<HAS_GROUPS> load_lock(loading);
    load_lock.clear();
    do {
        if (leads) load_lock.acquire(warps), taken[group] = is_only ? 0 : take_tile(arguments.shared, takes);
        group_barrier<HAS_GROUPS>(group, warps);
        const Size tile = taken[group] & 0xffffffffu;
        if (HAS_GROUPS && tile >= arguments.tiles) {
            if (leads) load_lock.release(warps);
            return;
        }
        const unsigned epoch = static_cast<unsigned>(taken[group] >> 32);
        const Cells<Shape::PLACES, Item> cells(arguments.shared + LINE, arguments.tiles, epoch);

        const Size begin = begin_of(tile), present = present_from(begin);
        WarpStaging<Shape, Item> staging(memory);
        // Places past the end of the input hold its last item. A warp that has no other places uses
        // that item as its value, too.
        const typename Reader::Cursor last = input + (arguments.length - 1);
        if (present > 0) staging.template load<Reader>(op, input + begin, present, last);
        warp_barrier();
        if (lane_index() == 0) load_lock.release(1);
        Runs<Shape, Item> runs(staging.run());
        Words<Item> value;
        if (present > 0)
            value = runs.up(op);
        else
            value = Reader::item(op, last.after_grid_dependency());
        if (lane_index() == WARP_LANES - 1) warp_values[first + warp] = value;
        group_barrier<HAS_GROUPS>(group, warps);

        if (warp == 0) {
            Words<Item> values = warp_values[first + (lane_index() & (warps - 1))];
            values = subtrees(op, values, warps);
            const Words<Item> whole = shuffle_from(values, warps - 1);
            Edges<Item> edges = {false, whole, whole};
            if (!is_only) edges = look_back(op, cells, tile, whole);
            values = prefixes(op, values, edges, warps);
            if (lane_index() < warps) after_warp[first + lane_index()] = values;
            if (lane_index() == 0) tile_edges[group] = edges;
        }
        group_barrier<HAS_GROUPS>(group, warps);
        if (present == 0) continue;

        Edges<Item> edges = tile_edges[group];
        if (warp > 0) edges.before = after_warp[first + warp - 1], edges.has_before = true;
        if (warp + 1 < warps) edges.after = after_warp[first + warp];
        const bool exclusive = arguments.exclusive != 0;
        unsigned char* direct = nullptr;
        if constexpr (!IS_PRESENTED) direct = staging.run_of(output + begin, present);
        runs.down(op, edges, exclusive, direct);
        // The first place of an exclusive scan gets the identity.
        if (exclusive && begin == 0 && lane_index() == 0) {
            if (direct)
                Words<Item>(arguments.identity).store(reinterpret_cast<Item*>(direct));
            else
                staging.set_first(arguments.identity);
        }
        if (!direct) {
            warp_barrier();
            if constexpr (IS_PRESENTED)
                staging.store_results(op, output + begin, present, exclusive ? begin : begin + 1);
            else
                staging.store(output + begin, present);
        }
    } while (!once);
}

}  // namespace warpfold
