// Shared by all rungs of the ladder: their arguments, and the values of a block in shared memory.
//
// Invariant: no item is combined with the identity, and no operator sees a place without a value.
// The last block has fewer values than the others.

namespace warpfold {

template <class Item>
struct RungArguments {
    const Item* input;
    Size length;
    Item* output;
    // Memory that blocks share, for the rungs that need it. It holds zeros before and after a
    // launch.
    unsigned long long* shared;
    // `hierarchical` only: log2 of the items of a block in the previous launch.
    Size block_level;
    // The first place of an exclusive scan. Other rungs do not read it.
    Item identity;
};

// Loads an item as widely as its alignment allows. It is loaded by value, since a copy of its bytes
// would load them one by one.
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

// The items of this block, or of its first stride. Each block but the last has `items` items.
template <class Item>
WARPFOLD_DEVICE unsigned count_of_block(const RungArguments<Item>& arguments, unsigned items) {
    return smaller(arguments.length - Size(block_index()) * items, items);
}

// The values of a block in shared memory: one in each of the first `count` places. The other places
// are not read.
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

    // Combines two values into the place of the left one. Without a right value, nothing changes.
    template <class Operator>
    WARPFOLD_DEVICE void merge(const Operator& op, unsigned left, unsigned right) const {
        if (right < count) set(left, combine(op, values[left], values[right]));
    }
};

}  // namespace warpfold
