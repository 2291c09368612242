// The kernel parameter of a reduction. `Arguments` in `src/source/reduce.rs` has the same fields,
// and the generated source asserts their offsets.

namespace warpfold {

template <class Input, class Item>
struct Arguments {
    Input input;
    Size length;
    // One partial for each chunk. With `gathers`, only the value of all partials. With an `epoch`,
    // the mapped host memory to which the only value is sent.
    Item* output;
    // The number of chunks of tiles that were drawn: 0 before and after each launch. One page
    // further on, the cells of gathered partials. They are 0 before and after the launch that uses
    // them.
    unsigned long long* tickets;
    // `runs` warps of the launch have items. Each has at most 2^row_level rows of a chunk: one run,
    // or, with tiles, several. Neither field matters where each item has a lane of its own.
    // `epoch` is the number of the call, by which the host recognises the result, or 0.
    unsigned runs, row_level;
    unsigned epoch;
    // The number of complete runs, where a run is one row, or two rows that merge.
    unsigned whole;
    // Not 0 if an extra block combines the partials of the chunks of rows.
    unsigned gathers;
    Item identity;
};

}  // namespace warpfold
