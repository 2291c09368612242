// A scan of one value a lane: up the bracket, and down again.

namespace warpfold {

// What is before some items, or the identity if nothing is, and what is before their end.
template <class Item>
struct Edges {
    bool has_before;
    Words<Item> before, after;
};

// On the way up: one value a lane, of the first `lanes` of which each gets that of the largest perfect subtree that ends
// with it.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> subtrees(const Operator& op, Words<Item> value, unsigned lanes) {
    const unsigned end = lane_index() + 1;
#pragma unroll 1
    for (unsigned distance = 1; distance < lanes; distance *= 2) {
        const Words<Item> left = shuffle_from(value, lane_index() - distance);
        // All lanes combine, and only some use it: branches here cost more than that.
        value = select((end & (2 * distance - 1)) == 0, combine(op, left, value), value);
    }
    return value;
}

// On the way down: of each of the first `lanes` lanes what is before its end; of the last one that is not known here.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> prefixes(const Operator& op, Words<Item> subtree, const Edges<Item>& edges, unsigned lanes) {
    const unsigned end = lane_index() + 1;
#pragma unroll 1
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        const Words<Item> left = select(end > distance, shuffle_from(subtree, lane_index() - distance), edges.before);
        const bool combines = (end & (2 * distance - 1)) == distance && (end > distance || edges.has_before);
        subtree = select(combines, combine(op, left, subtree), subtree);
    }
    return subtree;
}

}  // namespace warpfold
