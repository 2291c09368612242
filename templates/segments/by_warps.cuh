// Long segments: a warp reduces one chunk of a segment after another. If a segment has one chunk,
// its value is the result. Otherwise the values are partials, which a later launch reduces as
// segments.
//
// A chunk is a power of two of elements, except the last of a segment. So each partial is a node of
// the segment's bracket.

namespace warpfold {

// The value of a chunk of `length` elements, by one warp, in its lane 0.
template <class Shape, class Reader, class Operator>
WARPFOLD_DEVICE Words<typename Reader::Item> chunk_value(const Operator& op, unsigned char* memory, typename Reader::Cursor begin,
                                                         unsigned row_level, Size length) {
    if constexpr (Shape::ROWS > 1) {
        Tiles<Shape, Reader> tiles(memory, begin, begin + length, begin, length);
        if (tiles.has_next(1)) tiles.request();
        return warp_run<Shape>(op, tiles, row_level, length);
    } else if constexpr (Reader::ACCUMULATES) {
        Words<typename Reader::Item> value;
        const unsigned lanes = accumulate_part<Shape, Reader>(op, begin, row_level, length, value);
        return warp_bracket<!Words<typename Reader::Item>::LARGE>(op, value, lanes);
    } else {
        Rows<Reader> rows(begin);
        return warp_run<Shape>(op, rows, row_level, length);
    }
}

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void reduce_by_warps(const SegmentArguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    WARPFOLD_DYNAMIC_SHARED(memory);
    const Size of_segment = arguments.at_once, chunks = arguments.segments * of_segment;
    grid_dependency_wait(arguments.output);
    // The next launch of the call reduces the partials. It may begin now, since it waits for them.
    if (of_segment > 1) trigger_dependents();
    const unsigned chunk_level = arguments.run_level + WARP_LEVEL + level_of(Shape::GROUP_ITEMS);
#pragma unroll 1
    for (Size chunk = Size(block_index()) * block_warps() + warp_index(); chunk < chunks; chunk += Size(block_count()) * block_warps()) {
        const Size segment = of_segment == 1 ? chunk : chunk / of_segment;
        const Size offset = (chunk - segment * of_segment) << chunk_level;
        const Size length = smaller(arguments.length - offset, Size(1) << chunk_level);
        const typename Reader::Cursor begin =
            in_segment<typename Reader::Cursor>(arguments.input, segment * arguments.pitch, offset, 0);
        const Words<Item> value = chunk_value<Shape, Reader>(op, memory, begin, arguments.run_level, length);
        if (lane_index() == 0) store_value(op, value, arguments.output, chunk);
        // All lanes have read the values in shared memory before the next chunk overwrites them.
        warp_barrier();
    }
}

}  // namespace warpfold
