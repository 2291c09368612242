// Columns: a lane reduces one column, or a chunk of its rows. Adjacent lanes have adjacent columns, so
// the loads of a warp cover adjacent memory.
//
// The values are ordered by chunk, and in a chunk by column. So they are a matrix, whose columns a
// later launch reduces.

namespace warpfold {

// The shape of a group of one element.
struct OneElement {
    static constexpr unsigned WIDTH = 1, GROUP_ITEMS = 1, ROWS = 1;
};

// The elements of a column. The place of an element is its row.
template <class Reader>
class Column {
    typedef typename Reader::Input Input;
    typedef typename Reader::Item Item;
    const Input& input;
    Size begin, stride;

    WARPFOLD_DEVICE typename Reader::Cursor at(Size row) const {
        return in_segment<typename Reader::Cursor>(input, begin + row * stride - row, row, 0);
    }

  public:
    WARPFOLD_DEVICE Column(const Input& input, Size begin, Size stride) : input(input), begin(begin), stride(stride) {}
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> item(const Operator& op, Size, Size row) const {
        return Reader::item(op, at(row));
    }
    // Rows are not adjacent.
    template <unsigned COUNT, class Operator>
    WARPFOLD_DEVICE void items(const Operator&, Size, Size, Words<Item> (&)[COUNT]) const {}
    template <class Operator>
    WARPFOLD_DEVICE void accumulate(const Operator& op, Item& item, Size, Size row) const {
        typename Reader::template Group<OneElement> element;
        element.load_present(at(row), 0, PrefixMask{1});
        element.accumulate(op, item, 0);
    }
};

template <class Shape, class Reader, class Item, class Operator>
WARPFOLD_DEVICE void reduce_by_columns(const SegmentArguments<typename Reader::Input, Item>& arguments, const Operator& op) {
    grid_dependency_wait(arguments.output);
    // The next launch of the call reduces the partials. It may begin now, since it waits for them.
    if (arguments.at_once > 1) trigger_dependents();
    const Size values = arguments.segments * arguments.at_once, step = Size(block_count()) * block_warps() * WARP_LANES;
#pragma unroll 1
    for (Size at = Size(block_index()) * block_warps() * WARP_LANES + warp_index() * WARP_LANES + lane_index(); at < values; at += step) {
        const Size chunk = at / arguments.segments, column = at - chunk * arguments.segments, row = chunk << arguments.run_level;
        if (arguments.length == 0) {
            store_value(op, Words<Item>(arguments.identity), arguments.output, at);
            continue;
        }
        const unsigned count = static_cast<unsigned>(smaller(arguments.length - row, Size(1) << arguments.run_level));
        const Column<Reader> elements(arguments.input, column * arguments.pitch, arguments.stride);
        store_value(op, LaneRuns<Shape, Reader, Column<Reader>>(elements, false, false).bracket(op, 0, row, count), arguments.output, at);
    }
}

}  // namespace warpfold
