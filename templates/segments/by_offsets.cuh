// Segments of any lengths, which offsets give: a warp takes up to 32 segments at a time.
//
// - Neighbouring segments that fit into a window are copied to shared memory together. Each of them
//   has as many lanes as are left for it, and is reduced as a row is (by_lanes.cuh).
// - A segment that does not fit into a window is reduced by the whole warp, window by window.
// - A segment without elements has the value of an empty input.
//
// A segment that is not a part of the input counts as empty, and is reported. So nothing outside the
// input is read.
//
// If there are few segments, each is split into 2^split_level parts of a power of two of elements. The
// values of the parts are partials. The kernel also writes which partials each segment has. A second
// launch reduces them, again as segments.

namespace warpfold {

// The kernel parameter. `OffsetArguments` in `src/source/segments.rs` has the same fields, and the
// generated source asserts their offsets.
template <class Input, class Item>
struct OffsetArguments {
    Input input;
    // Numbers of elements and of segments.
    Size length, segments;
    // Where each segment begins, and where it ends: integers of `width` bytes.
    const char *begins, *ends;
    Item* output;
    // Gets the number of a segment that is not a part of the input, plus 1.
    unsigned long long* wrong;
    unsigned width, is_signed;
    // Neighbouring segments, or parts of them, that a warp takes at once: at most 32.
    unsigned at_once;
    unsigned split_level;
    // Of a second launch: whether the lengths of the segments follow the ends of their partials.
    unsigned has_lengths;
    // Of a split launch: where in the output the begins, ends and lengths follow the partials, in bytes.
    Size bounds_at;
    // The value of segments without elements.
    Item identity;
};

WARPFOLD_DEVICE constexpr unsigned level_below(unsigned number) { return number < 2 ? 0 : 1 + level_below(number / 2); }

// A begin or an end. A negative one becomes larger than any length.
WARPFOLD_DEVICE Size bound_of(const char* bounds, Size index, unsigned width, bool is_signed) {
    if (width == 8) {
        const Load<8> loaded = load_written<8>(bounds + 8 * index);
        // A negative offset lies past the end, too.
        if (is_signed && loaded.word[1] >> 31 != 0) return ~Size(0);
        return Size(loaded.word[1]) << 32 | loaded.word[0];
    }
    const unsigned word = load_written<4>(bounds + 4 * index).word[0];
    return is_signed ? static_cast<Size>(static_cast<long long>(static_cast<int>(word))) : word;
}

WARPFOLD_DEVICE Size shuffle_size(Size value, unsigned lane) {
    const unsigned low = shuffle_from(static_cast<unsigned>(value), lane), high = shuffle_from(static_cast<unsigned>(value >> 32), lane);
    return Size(high) << 32 | low;
}

// Writes the value of a segment of `count` elements: what the operator presents, or the item.
template <class Operator, class Item>
WARPFOLD_DEVICE void store_value_of(const Operator& op, const Words<Item>& value, Item* output, Size segment, Size count) {
    if constexpr (PRESENTS<Operator>) {
        if (op.presented != 0) {
            typedef typename Operator::Output Output;
            Words<Output>(op.present(value.item(), count)).store(reinterpret_cast<Output*>(output) + segment);
            return;
        }
    }
    value.store(output + segment);
}

// The value of a segment of more elements than a window has, by one warp, in all lanes. `index` is that
// of its first element.
template <class Shape, class Reader, class Operator>
WARPFOLD_DEVICE Words<typename Reader::Item> by_windows(const Operator& op, Window<Reader>& window, typename Reader::Cursor begin, Size index, Size count) {
    typedef typename Reader::Item Item;
    // A power of two of elements.
    constexpr unsigned CHUNK = 1u << level_below(Shape::WINDOW_ITEMS), RUN = CHUNK < WARP_LANES ? 1 : CHUNK / WARP_LANES;
    RowCounter<Item, LaneDigits<Item>> counter;
#pragma unroll 1
    for (Size offset = 0; offset < count; offset += CHUNK) {
        const unsigned copied = static_cast<unsigned>(smaller(count - offset, CHUNK)), lanes = (copied + RUN - 1) / RUN;
        window.copy(begin + offset, copied);
        async_wait();
        warp_barrier();
        const unsigned place = (lane_index() < lanes ? lane_index() : lanes - 1) * RUN;
        const LaneRuns<Shape, Reader, Window<Reader>> runs(window, false, false);
        Words<Item> value = runs.bracket(op, place, index + offset + place, copied - place < RUN ? copied - place : RUN);
        value = warp_bracket<false>(op, value, lanes);
        counter.push(op, value, 0);
        // All lanes have read the window before it is overwritten.
        warp_barrier();
    }
    return counter.bracket(op);
}

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void reduce_by_offsets(const OffsetArguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    typedef typename Reader::Cursor Cursor;
    WARPFOLD_DYNAMIC_SHARED(memory);
    Window<Reader> window(memory + warp_index() * Window<Reader>::bytes(Shape::WINDOW_ITEMS), Shape::WINDOW_ITEMS);
    const Cursor input(arguments.input);
    const unsigned lane = lane_index();
    const bool is_signed = arguments.is_signed != 0;
    grid_dependency_wait(arguments.output);
    const unsigned split_level = arguments.split_level;
    const Size units = arguments.segments << split_level, step = Size(block_count()) * block_warps() * arguments.at_once;
#pragma unroll 1
    for (Size first = (Size(block_index()) * block_warps() + warp_index()) * arguments.at_once; first < units; first += step) {
        const unsigned present = static_cast<unsigned>(smaller(units - first, arguments.at_once));
        const Size mine = first + (lane < present ? lane : present - 1), segment = mine >> split_level;
        Size begin = bound_of(arguments.begins, segment, arguments.width, is_signed);
        Size end = bound_of(arguments.ends, segment, arguments.width, is_signed);
        if (begin > end || end > arguments.length || end == ~Size(0)) {
            publish(arguments.wrong, segment + 1);
            begin = end = 0;
        }
        // What the operator presents as the count of elements, and the index of the first element.
        Size presented = end - begin, index = 0;
        if (arguments.has_lengths != 0) presented = bound_of(arguments.ends, arguments.segments + segment, 8, false);
        if (split_level > 0) {
            const Size length = end - begin, part = mine - (segment << split_level);
            unsigned level = level_below(Shape::WINDOW_ITEMS);
            while (Size(1) << level << split_level < length) ++level;
            if (part == 0 && lane < present) {
                Size* const bounds = reinterpret_cast<Size*>(reinterpret_cast<char*>(arguments.output) + arguments.bounds_at);
                bounds[segment] = mine, bounds[arguments.segments + segment] = mine + ((length + (Size(1) << level) - 1) >> level);
                bounds[2 * arguments.segments + segment] = length;
            }
            index = smaller(part << level, length);
            begin += index, end = smaller(end, begin + (Size(1) << level));
        }
        const Size count = end - begin;
        if (lane < present && count == 0) store_value_of(op, Words<Item>(arguments.identity), arguments.output, mine, presented);
        // The segments of this warp that have elements.
        unsigned left = or_of_lanes(lane < present && count > 0 ? 1u << lane : 0);
#pragma unroll 1
        while (left != 0) {
            const unsigned next = popcount((left & (0 - left)) - 1);
            const Size window_begin = shuffle_size(begin, next);
            // How many neighbours fit into one window, empty ones included.
            const bool fits = lane < next || (lane < present && (count == 0 || (begin >= window_begin && end - window_begin <= Shape::WINDOW_ITEMS)));
            const unsigned fitting = or_of_lanes(fits ? 1u << lane : 0);
            unsigned taken = popcount(fitting & ~(fitting + 1)) - next;
            if (taken == 0) {
                const Size length = shuffle_size(count, next);
                const Words<Item> value = by_windows<Shape, Reader>(op, window, in_segment<Cursor>(arguments.input, window_begin, 0, 0), shuffle_size(index, next), length);
                const Size of_segment = shuffle_size(presented, next);
                if (lane == 0) store_value_of(op, value, arguments.output, first + next, of_segment);
                left &= left - 1;
                continue;
            }
            // As many lanes for each as are left, and enough for the longest.
            const unsigned own = static_cast<unsigned>(count), longest = max_of_lanes(lane >= next && lane < next + taken ? own : 0);
            unsigned lanes_level = 0;
            while (lanes_level < WARP_LEVEL && (taken << (lanes_level + 1) <= WARP_LANES || longest > Shape::MOST_RUN << lanes_level)) ++lanes_level;
            taken = taken < WARP_LANES >> lanes_level ? taken : WARP_LANES >> lanes_level;
            const unsigned lanes = 1u << lanes_level, least = (longest + lanes - 1) >> lanes_level;
            const unsigned run_level = least <= 4 ? 2 : 32 - count_leading_zeros(least - 1), run = 1u << run_level;
            const bool is_taken = lane >= next && lane < next + taken && count > 0;
            const unsigned place = is_taken ? static_cast<unsigned>(begin - window_begin) : 0;
            window.copy(input + window_begin, max_of_lanes(is_taken ? place + own : 0));
            async_wait();
            warp_barrier();
            // A lane without a segment repeats the first one, which has elements.
            const unsigned number = lane >> lanes_level, within = lane & (lanes - 1);
            const unsigned from = next + (number < taken ? number : 0), own_of_from = shuffle_from(own, from);
            const bool has_segment = number < taken && own_of_from > 0;
            const unsigned source = has_segment ? from : next;
            const unsigned of_place = shuffle_from(place, source), of_count = shuffle_from(own, source);
            const unsigned parts = (of_count + run - 1) >> run_level, offset = (within < parts ? within : parts - 1) << run_level;
            const LaneRuns<Shape, Reader, Window<Reader>> runs(window, false, false);
            const Size of_index = shuffle_size(index, source), of_segment = shuffle_size(presented, source);
            Words<Item> value = runs.bracket(op, of_place + offset, of_index + offset, of_count - offset < run ? of_count - offset : run);
#pragma unroll 1
            for (unsigned distance = 1; distance < lanes; distance *= 2)
                value = combine_if(op, within + distance < parts, value, shuffle_down(value, distance));
            if (within == 0 && has_segment) store_value_of(op, value, arguments.output, first + from, of_segment);
            // All lanes have read the window before it is overwritten.
            warp_barrier();
            left = next + taken < WARP_LANES ? left >> (next + taken) << (next + taken) : 0;
        }
    }
}

}  // namespace warpfold
