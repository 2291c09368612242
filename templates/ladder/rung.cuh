// What all rungs of the ladder have in common: their arguments, and the values of a block, of which the last block has fewer.

namespace warpfold {

template <class Item>
struct RungArguments {
    const Item* input;
    Size length;
    Item* output;
    // What blocks share, for the rungs in which they meet: zeros, and left as zeros.
    unsigned long long* shared;
    // Of the items that a block of the launch before had, 2^level, for the rung that goes on where it ended.
    Size block_level;
    // The first place of an exclusive scan. Other rungs do not read it: no item is combined with the identity.
    Item identity;
};

// An item of global memory, in loads as wide as its alignment allows: as a value, since bytes are copied one by one.
template <class Item>
WARPFOLD_DEVICE Words<Item> load_item(const Item* from) {
    if constexpr (Words<Item>::LARGE) {
        return Words<Item>(*from);
    } else {
        const Item item = *from;
        return Words<Item>(item);
    }
}

WARPFOLD_DEVICE unsigned thread_index() { return warp_index() * WARP_LANES + lane_index(); }

// The items of this block, or of its first stride, where each block but the last has so many.
template <class Item>
WARPFOLD_DEVICE unsigned count_of_block(const RungArguments<Item>& arguments, unsigned items) {
    return smaller(arguments.length - Size(block_index()) * items, items);
}

// What a block has in shared memory: a value in each of the first `count` places. Places after them are not read.
template <class Item>
class Values {
    Words<Item>* const values;

  public:
    const unsigned count;

    WARPFOLD_DEVICE Values(unsigned char* memory, unsigned count)
        : values(reinterpret_cast<Words<Item>*>(memory)), count(count) {}
    WARPFOLD_DEVICE const Words<Item>& operator[](unsigned place) const { return values[place]; }
    WARPFOLD_DEVICE void set(unsigned place, const Words<Item>& value) const { values[place] = value; }

    WARPFOLD_DEVICE void load(const Item* items, unsigned place) const {
        if (place < count) set(place, load_item(items + place));
    }

    // Combines two values in the place of the left one, which stays as it is if there is no right one.
    template <class Operator>
    WARPFOLD_DEVICE void merge(const Operator& op, unsigned left, unsigned right) const {
        if (right < count) set(left, combine(op, values[left], values[right]));
    }
};

}  // namespace warpfold
