// What a kernel that reduces is given, as `Arguments` in `src/source/reduce.rs` has it.

namespace warpfold {

template <class Input, class Item>
struct Arguments {
    Input input;
    Size length;
    // One partial a chunk, or, if the last block gathers those, their value. With a serial, by which the host knows the only value, it is where
    // that is sent to.
    Item* output;
    // Of chunks of tiles, how many are drawn: zero, before a launch and after it. Behind that, after a page, partials that are gathered:
    // zeros, before and after the launch that leaves and takes them.
    unsigned long long* tickets;
    // Each warp has 2^row_level rows of a chunk, in one run or, of tiles, several; and so many warps have any. Neither matters where
    // each item has a lane.
    unsigned runs, row_level;
    unsigned serial;
    // Of runs of one row, or of two that merge, how many have all of it.
    unsigned whole;
    // Whether one block more gathers what the chunks of rows leave.
    unsigned gathers;
    Item identity;
};

}  // namespace warpfold
