// A scan of one value a lane, or of a few such rows at once: up the bracket, and down again.

namespace warpfold {

// What is before some items, or any value if nothing is, and what is before their end.
template <class Item>
struct Edges {
    bool has_before;
    Words<Item> before, after;
};

// On the way up: one value a lane, of the first `lanes` of which each gets that of the largest perfect subtree that ends
// with it. Rows that go together do not wait for each other.
template <class Operator, unsigned ROWS, class Item>
WARPFOLD_DEVICE void subtrees(const Operator& op, Words<Item> (&value)[ROWS], unsigned lanes) {
    const unsigned end = lane_index() + 1;
#pragma unroll 1
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
#pragma unroll
        for (unsigned k = 0; k < ROWS; ++k) {
            const Words<Item> left = shuffle_from(value[k], lane_index() - distance);
            // All lanes combine, and only some use it: branches here cost more than that.
            value[k] = select((end & (2 * distance - 1)) == 0, combine(op, left, value[k]), value[k]);
        }
    }
}
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> subtrees(const Operator& op, const Words<Item>& value, unsigned lanes) {
    Words<Item> row[1] = {value};
    subtrees(op, row, lanes);
    return row[0];
}

// On the way down: of each of the first `lanes` lanes of a row what is before its end, but for the last one, of which that is
// not known here. Given is what is before each row; before the first there may be nothing.
template <class Operator, unsigned ROWS, class Item>
WARPFOLD_DEVICE void prefixes(const Operator& op, Words<Item> (&subtree)[ROWS], bool has_before,
                              const Words<Item> (&before)[ROWS], unsigned lanes) {
    const unsigned end = lane_index() + 1;
#pragma unroll 1
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        const bool is_within = end > distance, takes = (end & (2 * distance - 1)) == distance;
#pragma unroll
        for (unsigned k = 0; k < ROWS; ++k) {
            const Words<Item> left = select(is_within, shuffle_from(subtree[k], lane_index() - distance), before[k]);
            const bool combines = takes && (is_within || k > 0 || has_before);
            subtree[k] = select(combines, combine(op, left, subtree[k]), subtree[k]);
        }
    }
}
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> prefixes(const Operator& op, const Words<Item>& subtree, const Edges<Item>& edges, unsigned lanes) {
    Words<Item> row[1] = {subtree};
    const Words<Item> before[1] = {edges.before};
    prefixes(op, row, edges.has_before, before, lanes);
    return row[0];
}

}  // namespace warpfold
