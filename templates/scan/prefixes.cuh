// A scan of one value a lane by one warp, for one row of lanes or a few at once.
//
// `subtrees` goes up the bracket, and `prefixes` goes down again. Every value is that of a perfect
// subtree, or a left-to-right fold of perfect subtrees, the largest first.

namespace warpfold {

// The value of everything before some items, and of everything before their end. `before` is any
// value unless `has_before`.
template <class Item>
struct Edges {
    bool has_before;
    Words<Item> before, after;
};

// Up: each of the first `lanes` lanes gets the value of the largest perfect subtree that ends with
// it. The rows are independent, so their latencies overlap.
template <class Operator, unsigned ROWS, class Item>
WARPFOLD_DEVICE void subtrees(const Operator& op, Words<Item> (&value)[ROWS], unsigned lanes) {
    const unsigned end = lane_index() + 1;
#pragma unroll 1
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
#pragma unroll
        for (unsigned k = 0; k < ROWS; ++k) {
            const Words<Item> left = shuffle_from(value[k], lane_index() - distance);
            // All lanes combine, and some discard the result: a branch costs more.
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

// Down: each of the first `lanes` lanes gets the value of everything up to its end. The last lane
// does not: its value is not known here. `before` is the value before each row. The first row has
// one only if `has_before`.
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
