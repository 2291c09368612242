// What all rungs of the ladder have in common: what they are given, and what they do at an input's end.

namespace warpfold {

template <class Item>
struct RungArguments {
    const Item* input;
    Size length;
    Item* output;
    // What blocks share, for the rungs in which they meet: zeros, and left as zeros.
    unsigned long long* shared;
    // Items that a block of the launch before had, for the rung that goes on where it ended.
    Size block_items;
    Item identity;
};

WARPFOLD_DEVICE unsigned thread_index() { return warp_index() * WARP_LANES + lane_index(); }

// The item of an index, and beyond the last one the identity, which changes nothing.
template <class Item>
WARPFOLD_DEVICE Words<Item> item_at(const RungArguments<Item>& arguments, Size index) {
    if (index < arguments.length) return Words<Item>(arguments.input[index]);
    return Words<Item>(arguments.identity);
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
