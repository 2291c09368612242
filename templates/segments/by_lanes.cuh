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
    static constexpr unsigned UNIT = Shape::UNIT_ITEMS, LEVELS = level_of(Shape::MOST_RUN / UNIT), QUAD = 4;

    const Window<Reader>& window;
    // Whether two or four elements are read at once.
    bool reads_pairs, reads_quads;

    // The value of COUNT elements, which all exist.
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE Words<Item> whole(const Operator& op, unsigned place, Size index) const {
        if constexpr (COUNT == 1) {
            return window.item(op, place, index);
        } else if constexpr (COUNT <= QUAD) {
            Words<Item> item[COUNT];
            if (COUNT == QUAD ? reads_quads : reads_pairs) {
                window.items(op, place, index, item);
            } else {
#pragma unroll
                for (unsigned k = 0; k < COUNT; ++k) item[k] = window.item(op, place + k, index + k);
            }
            const Words<Item> left = combine(op, item[0], item[1]);
            if constexpr (COUNT == 2)
                return left;
            else
                return combine(op, left, combine(op, item[2], item[3]));
        } else {
            const Words<Item> left = whole<COUNT / 2>(op, place, index);
            return combine(op, left, whole<COUNT / 2>(op, place + COUNT / 2, index + COUNT / 2));
        }
    }

    // The value of fewer elements than a unit, from the smallest part to the largest: a part for each
    // set bit of `count`. The larger parts lie to the left.
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE void rest(const Operator& op, unsigned place, Size index, unsigned count, bool& has_value, Words<Item>& value) const {
        if constexpr (COUNT < UNIT) {
            if (count & COUNT) {
                const unsigned before = count & ~(2 * COUNT - 1);
                const Words<Item> part = whole<COUNT>(op, place + before, index + before);
                if (has_value)
                    value = combine(op, part, value);
                else
                    value = part;
                has_value = true;
            }
            rest<2 * COUNT>(op, place, index, count, has_value, value);
        }
    }

  public:
    // The window has segments at places that are multiples of `pitch`.
    WARPFOLD_DEVICE RunsOfLanes(const Window<Reader>& window, unsigned pitch)
        : window(window), reads_pairs(window.template reads_together<2>(pitch)), reads_quads(window.template reads_together<QUAD>(pitch)) {}

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
            const unsigned units = count / UNIT;
            Words<Item> value, digit[LEVELS + 1];
#pragma unroll 1
            for (unsigned unit = 0; unit < units; ++unit) {
                value = whole<UNIT>(op, place, index);
                place += UNIT, index += UNIT;
                bool carries = true;
#pragma unroll
                for (unsigned k = 0; k <= LEVELS; ++k) {
                    if (!carries) continue;
                    if (unit >> k & 1)
                        value = combine(op, digit[k], value);
                    else
                        digit[k] = value, carries = false;
                }
            }
            bool has_value = false;
            rest<1>(op, place, index, count % UNIT, has_value, value);
#pragma unroll
            for (unsigned k = 0; k <= LEVELS; ++k) {
                if (!(units >> k & 1)) continue;
                if (has_value)
                    value = combine(op, digit[k], value);
                else
                    value = digit[k];
                has_value = true;
            }
            return value;
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
    const unsigned lane = lane_index() & ((1u << lanes_level) - 1), of_pass = WARP_LANES >> lanes_level;
    const unsigned begin = force_evaluation((lane < lanes ? lane : lanes - 1) * run);
    const unsigned count = force_evaluation(length - begin < run ? length - begin : run);

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
        const RunsOfLanes<Shape, Reader> runs(window, pitch);
#pragma unroll 1
        for (unsigned segment = lane_index() >> lanes_level, done = 0; done < present; done += of_pass, segment += of_pass) {
            const unsigned existing = segment < present ? segment : present - 1;
            Words<Item> value = runs.bracket(op, existing * pitch + begin, begin, count);
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
