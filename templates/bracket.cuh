// The bracket of an array, as far as one launch takes it.
//
// Pair neighbours and combine each pair, left operand first; an odd one out gets a bye; repeat until one is left. Chunks
// of 2^k items compose: the bracket of the array is the bracket of its chunks' brackets. So every block reduces one
// chunk to one partial, and one block reduces those; an input of one chunk is finished at once. Inside a chunk each warp
// has a run of tiles (counter.cuh), each tile is rows of groups (warp.cuh), each group is items of one lane (group.cuh),
// and every one of these sizes is a power of two. None of them moves a bit of the result, and no identity is combined
// with anything: it only answers an empty input.

namespace warpfold {

template <class Item>
struct Arguments {
    const Item* input;
    Size length;
    // One partial a block.
    Item* output;
    // Each warp has a run of 2^run_level items.
    Size run_level;
    // Where one block sends its value to the host instead, and by what it is known there; or nowhere.
    unsigned long long* host;
    unsigned serial;
    Item identity;
};

// The bracket of `length` items by one warp, in lane 0. At least one item.
//
// Where the shape says so, tiles that are neighbours merge lane by lane, four to one, before what the lanes have is
// combined across them. What wide loads do not reach, or does not fill a tile, goes row by row.
template <class Shape, class Item, class Operator, class Source>
WARPFOLD_DEVICE Words<Item> warp_run(const Operator& op, Source& source, Size length) {
    typedef typename Source::Memory Memory;
    typedef WarpTile<Item, Shape::GROUP_ITEMS, Shape::ROWS> Tile;
    typedef WarpTile<Item, Shape::GROUP_ITEMS, 1> Row;
    constexpr unsigned MERGED = Shape::MERGED_TILES;
    RowCounter<Item> counter;
    static_assert(MERGED == 1 || (MERGED == 4 && 4 * Shape::ROWS <= WARP_LANES), "one tile, or four of few rows");
    // Of the tiles that merge: how many came, the first or third, and the first two together.
    unsigned came = 0;
    Words<Item> single, pair;
#pragma unroll 1
    while (length > 0) {
        const unsigned items = static_cast<unsigned>(smaller(length, Tile::ITEMS));
        const TileItems<Item> tile = source.take();
        const bool whole = Tile::ROWS > 1 && items == Tile::ITEMS && (tile.aligned || Memory::COVERS_WORDS);
#pragma unroll 1
        for (unsigned done = 0; done < items;) {
            Words<Item> value;
            unsigned level = 0;
            if (whole) {
                const bool aligned = tile.aligned || !Memory::COVERS_WORDS;
                Tile loaded;
                loaded.template load<Memory, Shape::WIDTH>(tile.items, aligned, Whole());
                source.give_back();
                value = loaded.in_lanes(op, Whole());
                done = Tile::ITEMS, level = level_of(Shape::ROWS);
                unsigned rows = Shape::ROWS;
                if (MERGED > 1 && (came > 0 || length >= MERGED * Tile::ITEMS)) {
                    ++came;
                    if (came % 2 == 1) {
                        single = value;
                        continue;
                    }
                    value = merge(op, single, value, Shape::ROWS);
                    if (came == 2) {
                        pair = value;
                        continue;
                    }
                    value = merge(op, pair, value, 2 * Shape::ROWS);
                    came = 0, rows *= MERGED, level += level_of(MERGED);
                }
                value = across_lanes(op, value, rows);
            } else {
                if (done == 0) Memory::ask_for(tile.items, items);
                const First present = {items - done < Row::ITEMS ? items - done : Row::ITEMS};
                Row row;
                row.template load<Memory, Shape::WIDTH>(tile.items + done, tile.aligned, present);
                value = row.in_lanes(op, present);
                value = warp_bracket(op, value, (present.count + Shape::GROUP_ITEMS - 1) / Shape::GROUP_ITEMS);
                done += Row::ITEMS;
                if (done >= items) source.give_back();
            }
            if (length == items && done >= items && counter.is_empty()) return value;
            counter.push(op, value, level);
        }
        length -= items;
    }
    return counter.bracket(op);
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bracket(const Arguments<Item>& arguments, const Operator& op) {
    typedef typename rust::Choose<(Shape::STAGES > 0 && WARPFOLD_BULK_COPIES), Ring<Shape, Item>, Direct<Shape, Item>>::Type
        Source;
    WARPFOLD_SHARED(Words<Item>, of_warp, Shape::WARPS);
    WARPFOLD_DYNAMIC_SHARED(memory);
    let_next_launch_begin();
    wait_for_launch_before();
    const Size run = Size(1) << arguments.run_level;
    // The last chunk comes first: if it is not whole, it takes longer.
    const Size chunk = block_count() - 1 - block_index();
    const Size block_begin = (chunk * block_warps()) << arguments.run_level;
    const Size block_end = smaller(block_begin + run * block_warps(), arguments.length);

    const Size begin = block_begin + warp_index() * run;
    if (begin < block_end) {
        const Size length = smaller(run, block_end - begin);
        Source source(memory, arguments.input + begin, length, arguments.input + arguments.length);
        const Words<Item> value = warp_run<Shape, Item>(op, source, length);
        if (lane_index() == 0) of_warp[warp_index()] = value;
    }
    block_barrier();
    if (warp_index() != 0) return;

    const unsigned count = static_cast<unsigned>((block_end - block_begin + run - 1) >> arguments.run_level);
    Words<Item> value;
    if (lane_index() < count) value = of_warp[lane_index()];
    value = warp_bracket(op, value, count);
    if (lane_index() == 0) {
        if (count == 0) value = Words<Item>(arguments.identity);
        if (arguments.host)
            value.send(arguments.host, arguments.serial);
        else
            value.store(arguments.output + chunk);
    }
}

}  // namespace warpfold
