// The kernel parameter of a reduction of segments. `SegmentArguments` in `src/source/segments.rs`
// has the same fields, and the generated source asserts their offsets.
//
// A segment is a part of the input that is reduced by itself. The segments are the rows of a matrix,
// or its columns: of equal length, at equal distances.

namespace warpfold {

template <class Input, class Item>
struct SegmentArguments {
    Input input;
    // The number of segments, and the number of elements of each. `pitch` elements lie between the
    // begins of two segments, and `stride` between two elements of a segment.
    Size segments, length, pitch, stride;
    // By lanes, a result for each segment. Otherwise a value for each chunk of each segment: a
    // partial, if a segment has several chunks.
    Item* output;
    // By lanes: segments that a warp has in shared memory at once. Otherwise: chunks of a segment.
    Size at_once;
    // By lanes: the base-2 logarithms of the lanes of a segment and of the elements of a lane. By
    // warps, `run_level` is that of the rows of a chunk. Such a row is one group for each lane.
    unsigned lanes_level, run_level;
    // The value of segments without elements.
    Item identity;
};

// A position in a segment that begins `begin` elements after the first segment. The index of an
// element counts from the begin of its segment.
template <class Cursor, class Input>
WARPFOLD_DEVICE auto in_segment(Input input, Size begin, Size offset, int) -> decltype(input.first, Cursor(input)) {
    input.first -= begin;
    return Cursor(input) + (begin + offset);
}
// The same for a reader that does not count.
template <class Cursor, class Input>
WARPFOLD_DEVICE Cursor in_segment(const Input& input, Size begin, Size offset, long) {
    return Cursor(input) + (begin + offset);
}

}  // namespace warpfold
