// The bracket of an array, as far as one launch takes it.
//
// Pair neighbours and combine each pair, left operand first; an odd one out gets a bye; repeat until one is left. Chunks
// of 2^k items compose: the bracket of the array is the bracket of its chunks' brackets. So blocks reduce a
// chunk to a partial each, and later launches reduce those (gather.cuh, or this and row.cuh); an input of one chunk is finished at once. Inside a chunk each warp
// has runs of tiles and rows (counter.cuh), each tile is rows (tile.cuh), each row a group of every lane (warp.cuh), each
// group items (group.cuh), and every one of these sizes is a power of two. None of them moves a bit of the result, and no identity is combined
// with anything: it only answers an empty input, which is less than a row (row.cuh).

namespace warpfold {

// The bracket, by one warp and in lane 0, of 2^row_level rows, or of what the input has of them: `length` items, one at least, are
// left of it.
//
// Where the shape says so, tiles that are neighbours merge lane by lane, four to one or the last two, before what the lanes have
// is combined across them. What does not fill a tile goes row by row.
template <class Shape, class Operator, class Source>
WARPFOLD_DEVICE Words<typename Source::Item> warp_run(const Operator& op, Source& tiles, unsigned row_level, Size length) {
    using Item = typename Source::Item;
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS, TILE_ITEMS = Shape::ROWS * ROW_ITEMS;
    constexpr unsigned MERGED = Shape::ROWS > 1 ? Shape::MERGED_TILES : 1, AHEAD = 8;
    static_assert(MERGED == 1 || MERGED == 4, "one tile, or four");
    auto counter = tiles.counter();
    // Of the tiles that merge: how many do, how many of them came, the first or third, and the first two together.
    unsigned merging = 1, came = 0;
    Words<Item> single, pair;
    // Rows that were asked for.
    unsigned asked = 0;
    const Size all = Size(ROW_ITEMS) << row_level;
    length = smaller(length, all);
#pragma unroll 1
    while (length > 0) {
        Words<Item> value;
        unsigned level = 0, parts = 1;
        if (tiles.has_next(1)) {
            if (MERGED > 1 && came == 0) merging = tiles.has_next(MERGED) ? MERGED : tiles.has_next(2) ? 2 : 1;
            value = tiles.take(op);
            length -= TILE_ITEMS, level = level_of(Shape::ROWS);
            if (MERGED > 1 && merging > 1) {
                ++came;
                if (came % 2 == 1) {
                    single = value;
                    continue;
                }
                value = merge(op, single, value, 1);
                if (came == 2 && merging > 2) {
                    pair = value;
                    continue;
                }
                parts = merging, level += 1;
                if (came == MERGED) value = merge(op, pair, value, 2), level += 1;
                came = 0;
            }
            value = across_lanes(op, value, parts);
        } else {
            const First present = {static_cast<unsigned>(smaller(length, ROW_ITEMS))};
            const bool is_whole = present.count == ROW_ITEMS && reinterpret_cast<Size>(tiles.items()) % Shape::WIDTH == 0;
            Row<Item, Shape::GROUP_ITEMS> row;
            row.template load<Shape::WIDTH>(tiles.items(), present, is_whole);
            value = warp_bracket<SHORT<Item>>(op, row.value(op), row.lanes);
            tiles.pass(ROW_ITEMS);
            length -= present.count;
            if (asked == 0) Global::ask_for<1>(tiles.items(), smaller(length, AHEAD * ROW_ITEMS)), asked = AHEAD;
            --asked;
        }
        if (length == 0 && counter.is_empty()) return value;
        counter.push(op, value, level);
    }
    return counter.bracket(op);
}

// Partials, for a block that gathers them while others leave them: of 32 partials the first two words of each, then the next two of
// each, and so on, so that lanes look at lines that are side by side. Where none is, there are zeros.
template <class Item>
class Partials {
    static constexpr unsigned TICKETS = 512;
    unsigned long long* first;

  public:
    static constexpr unsigned MARK = 1, STRIDE = 2 * WARP_LANES, ROW = (Words<Item>::COUNT + 1) / 2 * STRIDE;

    WARPFOLD_DEVICE explicit Partials(unsigned long long* tickets) : first(tickets + TICKETS) {}

    // Of one partial: its first two words, and STRIDE further on the next two.
    WARPFOLD_DEVICE unsigned long long* cell(unsigned index) const {
        return first + index / WARP_LANES * ROW + index % WARP_LANES * 2;
    }

    // One a lane, when all of the first `present` from an index on are there; in the other lanes the last one. What is taken is gone.
    WARPFOLD_DEVICE Words<Item> take(unsigned begin, unsigned present) const {
        const bool is_mine = lane_index() < present;
        unsigned long long* const of_lane = cell(begin + (is_mine ? lane_index() : present - 1));
        Sent<Item> sent;
        for (;;) {
            sent.look(of_lane, STRIDE);
            if (sent.has(MARK)) break;
            pause();
        }
        warp_barrier();
#pragma unroll(Words<Item>::UNROLL)
        for (unsigned k = 0; k < Words<Item>::COUNT; ++k) {
            if (is_mine) publish(of_lane + k / 2 * STRIDE + k % 2, 0);
        }
        return sent.value();
    }

    // The brackets of rows of 32, of the first `count`, by so many warps. The last chunk comes first.
    template <class Operator>
    WARPFOLD_DEVICE void gather(const Operator& op, unsigned count, unsigned warps, Words<Item>* of_row) const {
        const unsigned rows = (count + WARP_LANES - 1) / WARP_LANES;
#pragma unroll 1
        for (unsigned row = rows - 1 - warp_index(); row < rows; row -= warps) {
            const unsigned begin = row * WARP_LANES, present = smaller(count - begin, WARP_LANES);
            const Words<Item> value = warp_bracket<!Words<Item>::LARGE>(op, take(begin, present), present);
            if (lane_index() == 0) of_row[row] = value;
        }
    }
};

// Where the value of a chunk belongs: with a mark at each word, where the host looks for it, or what gathers; or as it is.
template <class Item>
class Place {
    void* to;
    unsigned mark, stride;

  public:
    WARPFOLD_DEVICE Place(const Arguments<Item>& arguments, unsigned chunk, bool is_gathered) {
        using Cells = Partials<Item>;
        to = is_gathered ? static_cast<void*>(Cells(arguments.tickets).cell(chunk)) : arguments.output + chunk;
        to = settle(to);
        mark = settle(is_gathered ? Cells::MARK : arguments.serial);
        stride = is_gathered ? Cells::STRIDE : 2;
    }

    WARPFOLD_DEVICE void leave(const Words<Item>& value) const {
        if (mark != 0)
            value.send(static_cast<unsigned long long*>(to), mark, stride);
        else
            value.store(static_cast<Item*>(to));
    }
};

// The first `count` values that the warps of a block have left, or leave: one for each lane of the first warp, and the first one for
// those that have none.
template <class Item>
WARPFOLD_DEVICE const Words<Item>* value_of_lane(const Words<Item>* values, unsigned count) {
    return values + (lane_index() < count ? lane_index() : 0);
}

// The bracket of those, in lane 0 of the first warp. The others, for which it returns false, are done with the chunk.
template <class Item, class Operator>
WARPFOLD_DEVICE bool across_values(const Operator& op, const Words<Item>* of_lane, unsigned count, Words<Item>& value) {
    block_barrier();
    if (warp_index() != 0) return false;
    value = *of_lane;
    // As a loop, what fits in a word was faster.
    value = warp_bracket<!Words<Item>::LARGE && !SHORT<Item>>(op, value, count);
    return true;
}

// A value of each warp, of the first `count`. Where they are is asked for before they are there, since that takes as long as a level. A block
// of one warp has the barrier, too: behind a branch it would be asked for no sooner.
template <class Item>
class OfWarps {
    Words<Item>* of_warp;
    const Words<Item>* of_lane;
    unsigned count;

  public:
    WARPFOLD_DEVICE OfWarps(Words<Item>* values, unsigned count)
        : of_warp(settle_shared(values + warp_index())),
          of_lane(settle_shared(value_of_lane(values, count))),
          count(count) {}

    template <class Operator>
    WARPFOLD_DEVICE bool bracket(const Operator& op, Words<Item>& value) const {
        if (lane_index() == 0) *of_warp = value;
        return across_values(op, of_lane, count, value);
    }
};

// The bracket of what all blocks but the last one leave, by that, which so waits for blocks that wait for nobody. Of more than 32 rows of
// them there are two launches.
template <class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_blocks(const Arguments<Item>& arguments, const Operator& op, Words<Item>* values) {
    const unsigned count = block_count() - 1, rows = (count + WARP_LANES - 1) / WARP_LANES;
    const Place<Item> place(arguments, 0, false);
    const Words<Item>* const of_lane = settle_shared(value_of_lane(values, rows));
    Partials<Item>(arguments.tickets).gather(op, count, block_warps(), values);
    Words<Item> value;
    if (across_values(op, of_lane, rows, value) && lane_index() == 0) place.leave(value);
}

// A chunk a block, of rows alone, and of one item at least. Most blocks of small inputs have whole rows, one a warp, or two: what those
// take is a straight line, since every instruction that is fetched for the first time is time. Nearly so is what a block takes if each warp
// has one row or a part of it, or a lane for each item, where that is so small that many shuffles cost less than loads of parts of a row.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_rows(const Arguments<Item>& arguments, const Operator& op) {
    WARPFOLD_SHARED(Words<Item>, values, Shape::WARPS > WARP_LANES ? Shape::WARPS : WARP_LANES);
    const bool gathers = arguments.gathers != 0;
    if (gathers && block_index() == block_count() - 1) {
        when_written(arguments.input);
        return bracket_of_blocks(arguments, op, values);
    }
    // The next launch of the call takes the partials of several blocks. It waits for them itself.
    if (block_count() > 1 && !gathers) let_next_launch_begin();
    constexpr unsigned ROW_ITEMS = WARP_LANES * Shape::GROUP_ITEMS;
    const unsigned first_run = block_index() * block_warps(), run = first_run + warp_index();
    static_assert(Shape::MERGED_TILES <= 2, "one row, or two");
    // Of whole rows, where a warp has two that merge.
    const bool are_two = Shape::MERGED_TILES > 1 && arguments.row_level > 0;
    const Item* const items = arguments.input + Size(are_two ? 2 * run : run) * ROW_ITEMS;
    // As `Policy::lane_each_items` has it.
    constexpr bool HAS_LANES = Words<Item>::COUNT <= 2;
    if constexpr (Shape::WIDTH >= 4) {
        if (first_run + block_warps() <= arguments.whole) {
            const Item* const of_lane = items + lane_index() * Shape::GROUP_ITEMS;
            Group<Item, Shape::GROUP_ITEMS> group, second;
            const Item* const written = when_written(of_lane);
            group.template load_whole<Shape::WIDTH>(written);
            if (are_two) second.template load_whole<Shape::WIDTH>(written + ROW_ITEMS);
            // While they are on their way.
            const Place<Item> place(arguments, block_index(), gathers);
            const OfWarps<Item> of_warps(values, block_warps());
            Words<Item> value = group.bracket(op, Whole());
            if (are_two) value = merge(op, value, second.bracket(op, Whole()), 1);
            value = across_lanes(op, value, are_two ? 2 : 1);
            if (of_warps.bracket(op, value) && lane_index() == 0) place.leave(value);
            return;
        }
    }
    Words<Item> value;
    unsigned warps = smaller(arguments.runs - first_run, block_warps()), lanes = 1;
    if (HAS_LANES && arguments.length <= block_warps() * WARP_LANES) {
        const unsigned count = static_cast<unsigned>(arguments.length), before = warp_index() * WARP_LANES;
        const unsigned at = before + lane_index();
        Group<Item, 1> single;
        single.template load_whole<Global::WIDTH<Item>>(when_written(arguments.input) + (at < count ? at : count - 1));
        value = single.item(0);
        lanes = count - before, warps = (count + WARP_LANES - 1) / WARP_LANES;
    } else if (run < arguments.runs && arguments.row_level == 0) {
        const First present = {run + 1 < arguments.runs ? ROW_ITEMS : static_cast<unsigned>(arguments.length) - run * ROW_ITEMS};
        Row<Item, Shape::GROUP_ITEMS> row;
        row.template load<Shape::WIDTH>(when_written(items), present, run < arguments.whole);
        value = row.value(op), lanes = row.lanes;
    } else if (run < arguments.runs) {
        const Size begin = Size(run) << (level_of(ROW_ITEMS) + arguments.row_level);
        Rows<Item> rows(when_written(arguments.input + begin));
        value = warp_run<Shape>(op, rows, arguments.row_level, arguments.length - begin);
    }
    // A warp that has nothing has no value either, and an operator is not called with what is none.
    const OfWarps<Item> of_warps(values, warps);
    if (warp_index() < warps) value = warp_bracket<!Words<Item>::LARGE>(op, value, lanes);
    if (of_warps.bracket(op, value) && lane_index() == 0)
        Place<Item>(arguments, block_index(), gathers).leave(value);
}

// Chunks of tiles, which blocks that stay take one after another. The first two of each block are given; the others are drawn, so
// that a block that is faster has more. Whoever draws last gives the count back.
//
// A chunk is runs of a few tiles, which the warps of a block take side by side, and so go through it together: where warps are
// far from each other, by a power of two, memory is slower. While a warp ends a run, the first tile of its next one is on its way: so a
// block knows its next chunk all along, and the one after that when it begins the next.
template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_tiles(const Arguments<Item>& arguments, const Operator& op) {
    // Of a chunk, at most: one of each warp, or more.
    constexpr unsigned RUNS = Shape::RUNS > Shape::WARPS ? Shape::RUNS : Shape::WARPS;
    static_assert(RUNS <= WARP_LANES, "a value a lane");
    // Twice, since some warps may have come to the next chunk while the first warp still reads, or others do.
    WARPFOLD_SHARED(Words<Item>, of_run, 2 * RUNS);
    WARPFOLD_SHARED(unsigned, drawn, 2);
    WARPFOLD_DYNAMIC_SHARED(memory);
    // A run has four tiles, which may merge, or all of a warp's if it has few; or more where a warp would have too many runs.
    constexpr unsigned RUN_TILES_LEVEL = 2, MOST_RUNS_LEVEL = level_of(RUNS / Shape::WARPS);
    constexpr unsigned TILE_LEVEL = WARP_LEVEL + level_of(Shape::GROUP_ITEMS * Shape::ROWS), TILE_ITEMS = 1 << TILE_LEVEL;
    // What a warp has of a chunk: 2^tiles_level tiles, of 2^share_level items.
    const unsigned tiles_level = arguments.row_level - level_of(Shape::ROWS), share_level = TILE_LEVEL + tiles_level;
    const unsigned runs_level =
        tiles_level > RUN_TILES_LEVEL ? smaller(tiles_level - RUN_TILES_LEVEL, MOST_RUNS_LEVEL) : 0u;
    const unsigned run_tiles = 1u << (tiles_level - runs_level);
    const unsigned chunks = (arguments.runs + Shape::WARPS - 1) / Shape::WARPS, blocks = block_count();
    const Item* const input = arguments.input;
    const Size end = arguments.length;
    // Where a warp begins that has 2^level runs. The last chunk comes first: if it is not whole, it takes longer.
    const auto begin_of = [&](unsigned turn, unsigned level) {
        const unsigned run = ((chunks - 1 - turn) * Shape::WARPS << level) + warp_index();
        return Size(run) << (share_level - level);
    };
    unsigned turn = block_index(), next = turn + blocks;
    // Runs of a warp: one, of all that it has, where the chunk is not whole.
    unsigned level = runs_level;
    if (level > 0 && end < Size((chunks - turn) * Shape::WARPS) << share_level) level = 0;
    const Size begin = begin_of(turn, level);
    Size left = begin < end ? smaller(end - begin, Size(1) << (share_level - level)) : 0;
    Tiles<Shape, Item> tiles(memory, input, input + end, input + begin, left);
    const auto follow = [&](bool ends_chunk) {
        if (!ends_chunk)
            tiles.follow(tiles.items() + Size(Shape::WARPS) * run_tiles * TILE_ITEMS, run_tiles);
        else if (next < chunks)
            tiles.follow(input + begin_of(next, runs_level), run_tiles);
    };
    follow(level == 0);
    when_written(input);
    // The next launch of the call takes the partials.
    if (chunks > 1) let_next_launch_begin();
    tiles.ask();
    bool draws = chunks > 2 * blocks;
    for (unsigned parity = 0;; parity ^= 1) {
        unsigned later = chunks;
        if (draws && warp_index() == 0 && lane_index() == 0) {
            const unsigned ticket = static_cast<unsigned>(atomic_add(arguments.tickets, 1));
            if (ticket == chunks - blocks - 1) publish(arguments.tickets, 0);
            later = 2 * blocks + ticket;
        }
        Words<Item>* const values = of_run + parity * RUNS;
#pragma unroll 1
        for (unsigned ended = 0;;) {
            if (left > 0) {
                const Words<Item> value = warp_run<Shape>(op, tiles, arguments.row_level - level, left);
                if (lane_index() == 0) values[ended * Shape::WARPS + warp_index()] = value;
            }
            if (++ended >> level) break;
            tiles.enter(tiles.items() + Size(Shape::WARPS - 1) * run_tiles * TILE_ITEMS, run_tiles);
            follow((ended + 1) >> level);
        }
        if (warp_index() == 0 && lane_index() == 0) drawn[parity] = later;
        // Of a chunk that is not whole, some warps may have none.
        const unsigned of_warps = smaller(arguments.runs - (chunks - 1 - turn) * Shape::WARPS, Shape::WARPS);
        Words<Item> value;
        const bool is_first = across_values(op, value_of_lane(values, of_warps << level), of_warps << level, value);
        if (is_first && lane_index() == 0) Place<Item>(arguments, chunks - 1 - turn, arguments.gathers != 0).leave(value);
        if (next >= chunks) return;
        turn = next, next = draws ? drawn[parity] : chunks;
        draws = draws && next < chunks;
        level = runs_level, left = Size(run_tiles) * TILE_ITEMS;
        tiles.enter(input + begin_of(turn, runs_level), run_tiles);
        follow(level == 0);
    }
}

template <class Shape, class Item, class Operator>
WARPFOLD_DEVICE void bracket(const Arguments<Item>& arguments, const Operator& op) {
    if constexpr (Shape::ROWS == 1)
        bracket_of_rows<Shape>(arguments, op);
    else
        bracket_of_tiles<Shape>(arguments, op);
}

}  // namespace warpfold
