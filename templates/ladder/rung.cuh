// What all rungs of the ladder have in common: what they are given, and what they do at an input's end.

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

// The item of an index, and beyond the last one the identity, which changes nothing.
template <class Item>
WARPFOLD_DEVICE Words<Item> item_at(const RungArguments<Item>& arguments, Size index) {
    // First as a value: of two loads the compiler would make one, of an address that it selects.
    Words<Item> value(arguments.identity);
    if (index < arguments.length) value = load_item(arguments.input + index);
    return value;
}

// What a block has in shared memory: a value a place.
template <class Item>
class Values {
    Words<Item>* const values;

  public:
    WARPFOLD_DEVICE explicit Values(unsigned char* memory) : values(reinterpret_cast<Words<Item>*>(memory)) {}
    WARPFOLD_DEVICE const Words<Item>& operator[](unsigned place) const { return values[place]; }
    WARPFOLD_DEVICE void set(unsigned place, const Words<Item>& value) const { values[place] = value; }
};

}  // namespace warpfold
