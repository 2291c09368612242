// The values that warps and blocks hand over.
//
// - The warps of a block write one value each to shared memory. The first warp combines them after
//   a block barrier.
// - The blocks of a launch write one partial each to global memory. Either the next launch reads
//   the partials, or an extra block of the same launch gathers them.
//
// No deadlock: the gathering block has the highest index of its launch, and the other blocks never
// wait for a block.

namespace warpfold {

// Partials that one block gathers while other blocks write them. A cell is a 64-bit word: 32 bits
// of a partial, with FLAG above them. A row has 32 partials: the first two words of each, then the
// next two of each, and so on. So lanes read adjacent words. An empty cell is 0.
template <class Item>
class Partials {
    static constexpr unsigned TICKETS = 512;
    unsigned long long* first;

  public:
    static constexpr unsigned FLAG = 1, STRIDE = 2 * WARP_LANES, ROW = (Words<Item>::COUNT + 1) / 2 * STRIDE;

    WARPFOLD_DEVICE explicit Partials(unsigned long long* tickets) : first(tickets + TICKETS) {}

    // The first two words of a partial. The next two follow STRIDE words later.
    WARPFOLD_DEVICE unsigned long long* cell(unsigned index) const {
        return first + index / WARP_LANES * ROW + index % WARP_LANES * 2;
    }

    // Waits for the `present` partials from index `begin` on, and returns one a lane. The other
    // lanes get the last one. The cells are cleared.
    WARPFOLD_DEVICE Words<Item> take(unsigned begin, unsigned present) const {
        const bool has_partial = lane_index() < present;
        unsigned long long* const lane_cell = cell(begin + (has_partial ? lane_index() : present - 1));
        FlaggedValue<Item> flagged;
        for (;;) {
            flagged.look(lane_cell, STRIDE);
            if (flagged.has(FLAG)) break;
            pause();
        }
        warp_barrier();
#pragma unroll(Words<Item>::UNROLL)
        for (unsigned k = 0; k < Words<Item>::COUNT; ++k) {
            if (has_partial) publish(lane_cell + k / 2 * STRIDE + k % 2, 0);
        }
        return flagged.value();
    }

    // Reduces the first `count` partials by `warps` warps, to one value for each row of 32. Rows
    // are taken from last to first.
    template <class Operator>
    WARPFOLD_DEVICE void gather(const Operator& op, unsigned count, unsigned warps, Words<Item>* row_values) const {
        const unsigned rows = (count + WARP_LANES - 1) / WARP_LANES;
#pragma unroll 1
        for (unsigned row = rows - 1 - warp_index(); row < rows; row -= warps) {
            const unsigned begin = row * WARP_LANES, present = smaller(count - begin, WARP_LANES);
            const Words<Item> value = warp_bracket<!Words<Item>::LARGE>(op, take(begin, present), present);
            if (lane_index() == 0) row_values[row] = value;
        }
    }
};

// The destination of a chunk's value. With a flag in each word if the host polls it or a block
// gathers it, and as a plain item otherwise.
template <class Item>
class Destination {
    void* to;
    unsigned flag, stride;

  public:
    template <class Input>
    WARPFOLD_DEVICE Destination(const Arguments<Input, Item>& arguments, unsigned chunk, bool is_gathered) {
        using Cells = Partials<Item>;
        to = is_gathered ? static_cast<void*>(Cells(arguments.tickets).cell(chunk)) : arguments.output + chunk;
        to = force_evaluation(to);
        flag = force_evaluation(is_gathered ? Cells::FLAG : arguments.epoch);
        stride = is_gathered ? Cells::STRIDE : 2;
    }

    template <class Operator>
    WARPFOLD_DEVICE void store(const Operator& op, const Words<Item>& value) const {
        if (flag != 0)
            value.send(static_cast<unsigned long long*>(to), flag, stride);
        else
            store_value(op, value, to, 0);
    }
};

// The value of this lane among the first `count` values of a block. Lanes past the end get the
// first. The values need not be written yet.
template <class Item>
WARPFOLD_DEVICE const Words<Item>* value_of_lane(const Words<Item>* values, unsigned count) {
    return values + (lane_index() < count ? lane_index() : 0);
}

// Combines those values by the first warp, with the result in its lane 0. Returns false in the
// other warps, which have no more to do for this chunk.
template <class Item, class Operator>
WARPFOLD_DEVICE bool combine_values(const Operator& op, const Words<Item>* lane_value, unsigned count, Words<Item>& value) {
    block_barrier();
    if (warp_index() != 0) return false;
    value = *lane_value;
    // Items of one word are faster in a loop.
    value = warp_bracket<!Words<Item>::LARGE && !IS_ONE_WORD<Item>>(op, value, count);
    return true;
}

// One value for each of the first `count` warps. The addresses are computed before the values
// exist, since computing them takes as long as a level of the tree. A block of one warp runs the
// barrier, too: a branch around it gains nothing.
template <class Item>
class WarpValues {
    Words<Item>* warp_value;
    const Words<Item>* lane_value;
    unsigned count;

  public:
    WARPFOLD_DEVICE WarpValues(Words<Item>* values, unsigned count)
        : warp_value(force_shared_evaluation(values + warp_index())),
          lane_value(force_shared_evaluation(value_of_lane(values, count))),
          count(count) {}

    template <class Operator>
    WARPFOLD_DEVICE bool bracket(const Operator& op, Words<Item>& value) const {
        if (lane_index() == 0) *warp_value = value;
        return combine_values(op, lane_value, count, value);
    }
};

// Combines the partials of all blocks but the last, by the last block. More than 32 rows of
// partials take a second launch.
template <class Input, class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_blocks(const Arguments<Input, Item>& arguments, const Operator& op, Words<Item>* values) {
    const unsigned count = block_count() - 1, rows = (count + WARP_LANES - 1) / WARP_LANES;
    const Destination<Item> destination(arguments, 0, false);
    const Words<Item>* const lane_value = force_shared_evaluation(value_of_lane(values, rows));
    Partials<Item>(arguments.tickets).gather(op, count, block_warps(), values);
    Words<Item> value;
    if (combine_values(op, lane_value, rows, value) && lane_index() == 0) destination.store(op, value);
}

}  // namespace warpfold
