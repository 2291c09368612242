// What warps and blocks leave each other: values in shared memory, and partials.

namespace warpfold {

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
    template <class Input>
    WARPFOLD_DEVICE Place(const Arguments<Input, Item>& arguments, unsigned chunk, bool is_gathered) {
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
template <class Input, class Item, class Operator>
WARPFOLD_DEVICE void bracket_of_blocks(const Arguments<Input, Item>& arguments, const Operator& op, Words<Item>* values) {
    const unsigned count = block_count() - 1, rows = (count + WARP_LANES - 1) / WARP_LANES;
    const Place<Item> place(arguments, 0, false);
    const Words<Item>* const of_lane = settle_shared(value_of_lane(values, rows));
    Partials<Item>(arguments.tickets).gather(op, count, block_warps(), values);
    Words<Item> value;
    if (across_values(op, of_lane, rows, value) && lane_index() == 0) place.leave(value);
}

}  // namespace warpfold
