// Short segments: a part of a warp reduces each.
//
// A warp copies several segments to shared memory, as one window of adjacent elements. Meanwhile it
// reduces the segments of the window before. A lane reduces a run of adjacent elements of one
// segment. Then the lanes of the segment are combined.
//
// The operator sees only valid items: a lane without a run repeats another one.

namespace warpfold {

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
        // Also, all lanes have read the other window before it is overwritten.
        warp_barrier();
        if (next < arguments.segments) copy(next_window, next);
        const unsigned present = static_cast<unsigned>(smaller(arguments.segments - first, at_once));
        const LaneRuns<Shape, Reader, Segments> runs(window, window.template reads_together<2>(pitch), window.template reads_together<4>(pitch));
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
        const Segments read = window;
        window = next_window, next_window = read;
        first = next;
    }
}

}  // namespace warpfold
