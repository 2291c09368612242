// Segments of any lengths, which offsets give: a warp takes up to 32 segments at a time.
//
// - Neighbouring segments that fit into a window are copied to shared memory together. The lanes are
//   divided among the short segments, which are reduced at once. The whole warp then reduces each
//   longer segment.
// - A segment that does not fit into a window is reduced by the whole warp, window by window.
// - A segment of more elements than a part is split into parts, which the warp only lists. A second
//   launch reduces the listed parts of all segments to partials. A third launch reduces the partials of
//   each segment. Both launches are of this kernel, and take the entries of a list as segments.
// - A segment without elements has the value of an empty input.
//
// A part is a power of two of elements, except the last one of a segment. So a partial is a node of the
// segment's bracket.
//
// A segment that is not a part of the input counts as empty, and is reported. So nothing outside the
// input is read.

namespace warpfold {

// What a launch reduces: the segments that offsets give, their listed parts, or the partials of each
// split segment.
enum Stage : unsigned { SEGMENTS, PARTS, PARTIALS };

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
    // The lists of parts and of split segments. Null if no segment is split.
    unsigned long long* lists;
    // The most parts of all segments.
    Size most_parts;
    unsigned width, is_signed;
    unsigned stage;
    // A part has at least 2^part_level elements, and a segment at most 2^most_parts_level parts.
    unsigned part_level, most_parts_level;
    // The value of segments without elements.
    Item identity;
};

WARPFOLD_DEVICE constexpr unsigned level_below(unsigned number) { return number < 2 ? 0 : 1 + level_below(number / 2); }

WARPFOLD_DEVICE Size shuffle_size(Size value, unsigned lane) {
    const unsigned low = shuffle_from(static_cast<unsigned>(value), lane), high = shuffle_from(static_cast<unsigned>(value >> 32), lane);
    return Size(high) << 32 | low;
}

// A segment that is split into parts of 2^level elements. Its parts are listed from part `first` on.
struct Split {
    Size begin, count, segment, first;
    unsigned level;

    WARPFOLD_DEVICE Size parts() const { return (count + (Size(1) << level) - 1) >> level; }
};

// The lists of a call: the numbers of listed parts and of split segments in one word, a copy of it, the
// parts, and then the split segments.
//
// The first launch adds to the lists. The second one copies the numbers for the third, which sets them
// to 0 for the next call.
class Lists {
    // Words before the first part, and words of a split segment.
    static constexpr unsigned HEADER = 16, SPLIT = 4;
    // In place of a part, and of the begin of a split segment, that no launch takes.
    static constexpr unsigned long long VOID = ~0ull;

    unsigned long long* words;
    Size most_parts;

    WARPFOLD_DEVICE unsigned long long* part(Size number) const { return words + HEADER + number; }
    WARPFOLD_DEVICE unsigned long long* split(Size number) const { return part(most_parts + SPLIT * number); }

    // Whether there is room for the parts of one more segment after those that are listed.
    WARPFOLD_DEVICE bool has_room(unsigned long long listed, Size parts) const {
        return (listed & 0xffffffffu) + parts <= most_parts && 2 * (listed >> 32) + 2 <= most_parts;
    }

  public:
    WARPFOLD_DEVICE Lists(unsigned long long* words, Size most_parts) : words(words), most_parts(most_parts) {}

    // How many entries a launch takes.
    WARPFOLD_DEVICE Size taken(unsigned stage) const {
        const unsigned long long listed = published(words + (stage == PARTIALS ? 1 : 0));
        if (block_index() == 0 && warp_index() == 0 && lane_index() == 0)
            publish(words + (stage == PARTIALS ? 0 : 1), stage == PARTIALS ? 0 : listed);
        return stage == PARTIALS ? smaller(listed >> 32, most_parts / 2) : smaller(listed & 0xffffffffu, most_parts);
    }

    // Lists a segment and its parts, by all lanes of a warp. Returns whether there was room for them.
    WARPFOLD_DEVICE bool add(Split added) const {
        const Size parts = added.parts();
        unsigned long long listed = published(words);
        if (and_of_lanes(has_room(listed, parts)) == 0) return false;
        if (lane_index() == 0) listed = atomic_add(words, 1ull << 32 | parts);
        listed = shuffle_size(listed, 0);
        const bool is_listed = has_room(listed, parts);
        const Size number = listed >> 32, first = listed & 0xffffffffu, end = smaller(first + parts, most_parts);
        // Without room, the entries that this segment has taken are void.
#pragma unroll 1
        for (Size at = first + lane_index(); at < end; at += WARP_LANES) publish(part(at), is_listed ? number << 32 | (at - first) : VOID);
        if (lane_index() == 0 && 2 * number + 2 <= most_parts) {
            unsigned long long* const to = split(number);
            publish(to, is_listed ? added.begin : VOID);
            publish(to + 1, added.count);
            publish(to + 2, added.segment);
            publish(to + 3, first << 8 | added.level);
        }
        return is_listed;
    }

    // Where the elements of a part lie, and the index of its first one.
    WARPFOLD_DEVICE void get_part(Size number, Size& begin, Size& end) const {
        const unsigned long long entry = published(part(number));
        begin = VOID, end = 0;
        if (entry == VOID) return;
        const Split of = get_split(entry >> 32);
        const Size from = Size(static_cast<unsigned>(entry)) << of.level;
        begin = of.begin + from, end = of.begin + smaller(of.count, from + (Size(1) << of.level));
    }
    WARPFOLD_DEVICE Size index_of_part(Size number) const {
        const unsigned long long entry = published(part(number));
        return entry == VOID ? 0 : Size(static_cast<unsigned>(entry)) << (published(split(entry >> 32) + 3) & 0xff);
    }
    // A split segment. It begins at VOID if no launch takes it.
    WARPFOLD_DEVICE Split get_split(Size number) const {
        const unsigned long long* const from = split(number);
        const Size first = published(from + 3);
        return {published(from), published(from + 1), published(from + 2), first >> 8, static_cast<unsigned>(first & 0xff)};
    }
    static WARPFOLD_DEVICE bool is_void(const Split& split) { return split.begin == VOID; }
};

// A begin or an end as it was loaded. It is a number only when it is used, so that the load need not be
// awaited before.
struct Bound {
    unsigned low, high;

    // From integers of 4 or 8 bytes.
    WARPFOLD_DEVICE Bound(const char* bounds, Size index, unsigned width) {
        if (width == 8) {
            const Load<8> loaded = load_written<8>(bounds + 8 * index);
            low = loaded.word[0], high = loaded.word[1];
        } else {
            low = load_written<4>(bounds + 4 * index).word[0], high = 0;
        }
    }
    WARPFOLD_DEVICE explicit Bound(Size size) : low(static_cast<unsigned>(size)), high(static_cast<unsigned>(size >> 32)) {}

    // A negative integer becomes a number of 2^63 or more.
    WARPFOLD_DEVICE Size size(unsigned width, bool is_signed) const {
        const unsigned above = width == 4 && is_signed ? static_cast<unsigned>(static_cast<int>(low) >> 31) : high;
        return Size(above) << 32 | low;
    }
};

// The begin and the end of the segments that a warp takes, one in each lane. Lanes without a segment
// have the last one's.
struct LaneBounds {
    Bound begin, end;

    template <class Arguments>
    static WARPFOLD_DEVICE LaneBounds of(const Arguments& arguments, Size first, unsigned present) {
        const Size number = first + (lane_index() < present ? lane_index() : present - 1);
        if (arguments.stage == SEGMENTS) return {Bound(arguments.begins, number, arguments.width), Bound(arguments.ends, number, arguments.width)};
        const Lists lists(arguments.lists, arguments.most_parts);
        Size begin, end;
        if (arguments.stage == PARTS) {
            lists.get_part(number, begin, end);
        } else {
            const Split split = lists.get_split(number);
            begin = Lists::is_void(split) ? ~Size(0) : split.first, end = split.first + split.parts();
        }
        return {Bound(begin), Bound(end)};
    }
};

// Writes the value of a segment, or of a part of it, of `count` elements.
template <class Arguments, class Operator, class Item>
WARPFOLD_DEVICE void store_value_of(const Arguments& arguments, const Operator& op, const Words<Item>& value, Size number, Size count) {
    Size place = number;
    if (arguments.stage == PARTIALS) {
        const Split split = Lists(arguments.lists, arguments.most_parts).get_split(number);
        place = split.segment, count = split.count;
    }
    store_value(op, value, arguments.output, place, count);
}

// The value of more elements than a window has, by one warp, in all lanes. `index` is that of the first
// one.
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
    const unsigned lane = lane_index(), stage = arguments.stage;
    const Lists lists(arguments.lists, arguments.most_parts);
    grid_dependency_wait(arguments.output);
    // The next launch of the call may begin now, since it waits for this one.
    if (arguments.lists != nullptr && stage != PARTIALS) trigger_dependents();
    // Of listed entries, both bounds have 8 bytes.
    const bool is_signed = stage == SEGMENTS && arguments.is_signed != 0;
    const unsigned width = stage == SEGMENTS ? arguments.width : 8;
    const Size segments = stage == SEGMENTS ? arguments.segments : lists.taken(stage), warps = Size(block_count()) * block_warps();
    // As many for each warp, if all take fewer than a warp has lanes.
    const unsigned at_once = force_evaluation(static_cast<unsigned>(smaller((segments - 1) / warps + 1, WARP_LANES)));
    const Size step = force_evaluation(warps * at_once);
    Size first = (Size(block_index()) * block_warps() + warp_index()) * at_once;
    if (first >= segments) return;
    const auto present_from = [&](Size from) { return segments - from < at_once ? static_cast<unsigned>(segments - from) : at_once; };
    unsigned present = present_from(first);
    LaneBounds bounds = LaneBounds::of(arguments, first, present);
#pragma unroll 1
    while (true) {
        // The next bounds arrive while these segments are reduced.
        const bool has_next = segments - first > step;
        const LaneBounds next_bounds = has_next ? LaneBounds::of(arguments, first + step, present_from(first + step)) : bounds;
        Size begin = bounds.begin.size(width, is_signed), end = bounds.end.size(width, is_signed);
        bool is_present = lane < present;
        if (begin > end || end > arguments.length || (is_signed && end >> 63 != 0)) {
            // Entries are parts of the input, or void.
            if (stage == SEGMENTS)
                publish(arguments.wrong, first + (lane < present ? lane : present - 1) + 1);
            else
                is_present = false;
            begin = end = 0;
        }
        const Size count = end - begin;
        if (is_present && count == 0) store_value_of(arguments, op, Words<Item>(arguments.identity), first + lane, count);
        // The index of the first element.
        const Size index = stage == PARTS && is_present ? lists.index_of_part(first + lane) : 0;
        // The segments of this warp that have elements.
        unsigned left = or_of_lanes(is_present && count > 0 ? 1u << lane : 0);
#pragma unroll 1
        while (left != 0) {
            const unsigned next = popcount((left & (0 - left)) - 1);
            const Size window_begin = shuffle_size(begin, next);
            // How many neighbours fit into one window, empty ones included.
            const bool fits = lane < next || (lane < present && (count == 0 || (begin >= window_begin && end - window_begin <= Shape::WINDOW_ITEMS)));
            const unsigned fitting = or_of_lanes(fits ? 1u << lane : 0);
            const unsigned taken = popcount(fitting & ~(fitting + 1)) - next;
            if (taken == 0) {
                left &= left - 1;
                const Size length = shuffle_size(count, next);
                if (stage == SEGMENTS && arguments.lists != nullptr && length >> arguments.part_level > 0) {
                    unsigned level = arguments.part_level;
                    while (Size(1) << level << arguments.most_parts_level < length) ++level;
                    if (length > Size(1) << level && lists.add({window_begin, length, first + next, 0, level})) continue;
                }
                const Words<Item> value =
                    by_windows<Shape, Reader>(op, window, in_segment<Cursor>(arguments.input, window_begin, 0, 0), shuffle_size(index, next), length);
                if (lane == 0) store_value_of(arguments, op, value, first + next, length);
                continue;
            }
            const bool is_taken = lane >= next && lane < next + taken && count > 0;
            const unsigned own = is_taken ? static_cast<unsigned>(count) : 0, place = is_taken ? static_cast<unsigned>(begin - window_begin) : 0;
            window.copy(input + window_begin, max_of_lanes(place + own));
            left = next + taken < WARP_LANES ? left >> (next + taken) << (next + taken) : 0;
            // The lanes are divided among the short segments.
            unsigned short_level = 0;
            while (taken << (short_level + 1) <= WARP_LANES) ++short_level;
            const bool is_short = is_taken && own <= Shape::MOST_RUN << short_level;
            unsigned group = or_of_lanes(is_short ? 1u << lane : 0), longer = or_of_lanes(is_taken && !is_short ? 1u << lane : 0);
            const unsigned longest_short = max_of_lanes(is_short ? own : 0);
            async_wait();
            warp_barrier();
#pragma unroll 1
            do {
                // The short segments together, and then each longer segment by itself.
                unsigned from = next, lanes_level = short_level, longest = longest_short;
                if (group == 0) {
                    group = longer & (0 - longer), longer &= longer - 1;
                    from = popcount(group - 1), lanes_level = WARP_LEVEL, longest = shuffle_from(own, from);
                }
                const unsigned lanes = 1u << lanes_level, within = lane & (lanes - 1), least = (longest + lanes - 1) >> lanes_level;
                const unsigned run_level = least <= 4 ? 2 : 32 - count_leading_zeros(least - 1), run = 1u << run_level;
                // The segment of this lane. A lane without a segment repeats the first element of the window.
                const unsigned number = lanes_level == 0 ? lane : from + (lane >> lanes_level);
                const bool has_segment = number < WARP_LANES && (group >> number & 1) != 0;
                const unsigned source = has_segment ? number : next;
                unsigned of_place = place, of_count = own;
                if (lanes_level > 0) of_place = shuffle_from(place, source), of_count = shuffle_from(own, source);
                if (!has_segment) of_place = 0, of_count = 1;
                const unsigned runs = (of_count + run - 1) >> run_level, offset = (within < runs ? within : runs - 1) << run_level;
                const Size of_index = stage == PARTS ? shuffle_size(index, source) : 0;
                const LaneRuns<Shape, Reader, Window<Reader>> elements(window, false, false);
                Words<Item> value = elements.bracket(op, of_place + offset, of_index + offset, of_count - offset < run ? of_count - offset : run);
#pragma unroll 1
                for (unsigned distance = 1; distance < lanes; distance *= 2)
                    value = combine_if(op, within + distance < runs, value, shuffle_down(value, distance));
                if (within == 0 && has_segment) store_value_of(arguments, op, value, first + number, of_count);
                group = 0;
            } while (longer != 0);
            // All lanes have read the window before it is overwritten.
            warp_barrier();
        }
        if (!has_next) return;
        first += step, present = present_from(first), bounds = next_bounds;
    }
}

}  // namespace warpfold
