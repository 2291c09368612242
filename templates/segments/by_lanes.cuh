// Short segments: a part of a warp reduces each.
//
// A warp copies several segments to shared memory, as one window of adjacent elements. Meanwhile it
// reduces the segments of the window before. A lane reduces a run of adjacent elements of one
// segment, by a binary counter. Then the lanes of the segment are combined.
//
// The elements of a run are a power of two, except in the last run of a segment. So each value is a
// node of the segment's bracket. The operator sees only valid items: a lane without a run repeats
// another one.

namespace warpfold {

template <class Shape, class Reader>
class RunsOfLanes {
    typedef typename Reader::Item Item;
    // Elements of a unit, which unrolled code reduces. The most elements of a run are 2^LEVELS units.
    static constexpr unsigned UNIT = 4, LEVELS = level_of(Shape::MOST_RUN / UNIT);

    const Window<Reader>& window;

    // The value of up to UNIT elements, at least one.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> unit(const Operator& op, unsigned place, Size index, unsigned count) const {
        // Loaded before any is combined. In place of a missing one, the last one is loaded again.
        const unsigned second = count > 1 ? 1 : 0;
        Words<Item> left = window.item(op, place, index), right = window.item(op, place + second, index + second);
        if (count <= 2) {
            if (count == 2) left = combine(op, left, right);
            return left;
        }
        const unsigned last = count > 3 ? 3 : 2;
        Words<Item> third = window.item(op, place + 2, index + 2), fourth = window.item(op, place + last, index + last);
        left = combine(op, left, right);
        if (count > 3) third = combine(op, third, fourth);
        return combine(op, left, third);
    }

  public:
    WARPFOLD_DEVICE explicit RunsOfLanes(const Window<Reader>& window) : window(window) {}

    // The value of `count` elements of a segment, at least one, from a place in the window on. The
    // first one has this index.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, unsigned place, Size index, unsigned count) const {
        if constexpr (Reader::ACCUMULATES) {
            Item item = window.item(op, place, index).item();
#pragma unroll 1
            for (unsigned i = 1; i < count; ++i) window.accumulate(op, item, place + i, index + i);
            const Item settled = item;
            return Words<Item>(settled);
        } else {
            Words<Item> digit[LEVELS + 1];
#pragma unroll 1
            for (unsigned done = 0;; ++done) {
                Words<Item> value = unit(op, place + done * UNIT, index + done * UNIT, count - done * UNIT);
                const bool is_last = count - done * UNIT <= UNIT;
                bool carries = true;
#pragma unroll
                for (unsigned k = 0; k < LEVELS; ++k) {
                    const bool is_set = done >> k & 1;
                    // The last value is combined with all digits, the others up to the first gap.
                    if (is_set && (carries || is_last)) value = combine(op, digit[k], value);
                    if (!is_set && carries) {
                        carries = false;
                        if (!is_last) digit[k] = value;
                    }
                }
                if (is_last) return value;
            }
        }
    }
};

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void reduce_by_lanes(const SegmentArguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    typedef Window<Reader> Segments;
    typedef typename Reader::Cursor Cursor;
    constexpr unsigned BYTES = Segments::bytes(Shape::WINDOW_ITEMS);
    WARPFOLD_DYNAMIC_SHARED(memory);
    unsigned char* const of_warp = memory + 2 * BYTES * warp_index();
    Segments window(of_warp, Shape::WINDOW_ITEMS), next_window(of_warp + BYTES, Shape::WINDOW_ITEMS);
    const Cursor input(arguments.input);
    const unsigned length = static_cast<unsigned>(arguments.length), pitch = static_cast<unsigned>(arguments.pitch);
    const unsigned at_once = static_cast<unsigned>(arguments.at_once);
    // Where this lane is among the lanes of a segment, and its run. The last runs may be missing.
    const unsigned lanes_level = arguments.lanes_level, run = 1u << arguments.run_level, lanes = (length + run - 1) / run;
    const unsigned lane = lane_index() & ((1u << lanes_level) - 1);
    const unsigned begin = (lane < lanes ? lane : lanes - 1) * run;
    const unsigned count = length - begin < run ? length - begin : run;

    grid_dependency_wait(arguments.output);
    const Size step = Size(block_count()) * block_warps() * at_once;
    Size first = (Size(block_index()) * block_warps() + warp_index()) * at_once;
    if (first >= arguments.segments) return;
    const auto copy = [&](Segments& to, Size segment) {
        const unsigned copied = static_cast<unsigned>(smaller(arguments.segments - segment, at_once));
        // The last segment ends before its pitch does.
        to.copy(input + segment * arguments.pitch, (copied - 1) * pitch + length);
    };
    copy(window, first);
#pragma unroll 1
    while (true) {
        const Size next = first + step;
        async_wait();
        warp_barrier();
        if (next < arguments.segments) copy(next_window, next);
        const unsigned present = static_cast<unsigned>(smaller(arguments.segments - first, at_once));
#pragma unroll 1
        for (unsigned done = 0; done < present; done += WARP_LANES >> lanes_level) {
            const unsigned segment = done + (lane_index() >> lanes_level);
            const unsigned existing = segment < present ? segment : present - 1;
            Words<Item> value = RunsOfLanes<Shape, Reader>(window).bracket(op, existing * pitch + begin, begin, count);
#pragma unroll 1
            for (unsigned distance = 1; distance < lanes; distance *= 2)
                value = combine_if(op, lane + distance < lanes, value, shuffle_down(value, distance));
            if (lane == 0 && segment < present) store_value(op, value, arguments.output, first + segment);
        }
        if (next >= arguments.segments) return;
        // All lanes have read the window before it is overwritten.
        warp_barrier();
        const Segments read = window;
        window = next_window, next_window = read;
        first = next;
    }
}

}  // namespace warpfold
