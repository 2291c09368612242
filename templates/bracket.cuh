// The bracket of an array, as far as one launch takes it.
//
// Pair neighbours and combine each pair, left operand first; an odd one out gets a bye; repeat until one is left. Chunks
// of 2^k items compose: the bracket of the array is the bracket of its chunks' brackets. So every block reduces one
// chunk to one partial, and later launches reduce those; an input of one chunk is finished at once. Inside a chunk each warp
// has a run of tiles and rows (counter.cuh), each tile is rows (tile.cuh), each row a group of every lane (warp.cuh), each
// group items (group.cuh), and every one of these sizes is a power of two. None of them moves a bit of the result, and no identity is combined
// with anything: it only answers an empty input.

namespace warpfold {

template <class Item>
struct Arguments {
    const Item* input;
    Size length;
    // One partial a block.
    Item* output;
    // Each warp has a run of 2^row_level rows; and there are so many.
    unsigned runs, row_level;
    // By what the value is known to the host, and where one block sends it instead; or nowhere.
    unsigned serial;
    unsigned long long* host;
    Item identity;
};

// The bracket, by one warp and in lane 0, of 2^row_level rows, or of what the input has of them: `length` items are left of
// it. Of none, which there may be where a shape has no tiles, it is unspecified.
//
// Where the shape says so, tiles that are neighbours merge lane by lane, four to one, before what the lanes have is
// combined across them. What does not fill a tile goes row by row.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE Words<Item> warp_run(const Operator& op, Tiles<Shape, Item>& tiles, unsigned row_level, Size length) {
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS, TILE_ITEMS = Shape::ROWS * ROW_ITEMS;
    constexpr unsigned MERGED = Shape::MERGED_TILES, AHEAD = 8;
    static_assert(MERGED == 1 || MERGED == 4, "one tile, or four");
    RowCounter<Item> counter;
    // Of the tiles that merge: how many came, the first or third, and the first two together.
    unsigned came = 0;
    Words<Item> single, pair;
    // Rows that were asked for.
    unsigned asked = 0;
    const Size all = Size(ROW_ITEMS) << row_level;
    // Where there are rows only, as in small inputs, the first is loaded before anything else is asked: it may be alone, or
    // there may be none.
    constexpr bool ROWS_ALONE = Shape::ROWS == 1;
    if constexpr (!ROWS_ALONE) length = smaller(length, all);
#pragma unroll 1
    while (ROWS_ALONE || length > 0) {
        Words<Item> value;
        unsigned level = 0, parts = 1;
        if (tiles.has_next(1)) {
            // At the first of those that merge all of them are there.
            const bool merges = MERGED > 1 && (came > 0 || tiles.has_next(MERGED));
            value = tiles.take(op);
            length -= TILE_ITEMS, level = level_of(Shape::ROWS);
            if (merges) {
                ++came;
                if (came % 2 == 1) {
                    single = value;
                    continue;
                }
                value = merge(op, single, value, 1);
                if (came == 2) {
                    pair = value;
                    continue;
                }
                value = merge(op, pair, value, 2);
                came = 0, parts = MERGED, level += level_of(MERGED);
            }
            value = across_lanes(op, value, parts);
        } else {
            const First present = {static_cast<unsigned>(smaller(length, ROW_ITEMS))};
            value = row_bracket<Shape::WIDTH, Shape::GROUP_ITEMS>(op, tiles.items(), present);
            if (ROWS_ALONE && row_level == 0) return value;
            if (ROWS_ALONE && counter.is_empty()) length = smaller(length, all);
            tiles.pass(ROW_ITEMS);
            length -= present.count;
            if (asked == 0) Global::ask_for<1>(tiles.items(), smaller(length, AHEAD * ROW_ITEMS)), asked = AHEAD;
            --asked;
        }
        if (length == 0 && counter.is_empty()) return value;
        counter.push(op, value, level);
        if (ROWS_ALONE && length == 0) break;
    }
    return counter.bracket(op);
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bracket(const Arguments<Item>& arguments, const Operator& op) {
    WARPFOLD_SHARED(Words<Item>, of_warp, Shape::WARPS);
    WARPFOLD_DYNAMIC_SHARED(memory);
    let_next_launch_begin();
    constexpr unsigned ROW_LEVEL = WARP_LEVEL + level_of(Shape::GROUP_ITEMS);
    const unsigned run_level = ROW_LEVEL + arguments.row_level;
    // The last chunk comes first: if it is not whole, it takes longer.
    const unsigned chunk = block_count() - 1 - block_index();
    const unsigned first_run = chunk * block_warps();
    const Size begin = smaller(Size(first_run + warp_index()) << run_level, arguments.length);
    const Size left = arguments.length - begin, run = smaller(Size(1) << run_level, left);
    const Item* const input = arguments.input;
    const Item* const first = when_written(input + begin);
    Tiles<Shape, Item> tiles(memory, input, input + arguments.length, first, first + run);
    Words<Item> value;
    if (Shape::ROWS == 1 || left > 0) value = warp_run(op, tiles, arguments.row_level, left);
    if (block_warps() > 1) {
        if (lane_index() == 0) of_warp[warp_index()] = value;
        block_barrier();
        if (warp_index() != 0) return;
        const unsigned left_runs = arguments.runs - first_run;
        const unsigned count = left_runs < block_warps() ? left_runs : block_warps();
        if (lane_index() < count) value = of_warp[lane_index()];
        value = warp_bracket<false>(op, value, count);
    }
    if (lane_index() > 0) return;
    if (arguments.length == 0) value = Words<Item>(arguments.identity);
    if (arguments.host)
        value.send(arguments.host, arguments.serial);
    else
        value.store(arguments.output + chunk);
}

}  // namespace warpfold
