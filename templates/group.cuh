// A group: the power of two of items that one lane loads at once, and the bracket of it. This is the one place where
// a kernel reads its items.

namespace warpfold {

// Which items of a tile exist, asked by their index in it. A whole tile has them all, and every question about it
// is answered by the compiler; the last tile of an input has the first `count`.
struct Whole {
    static constexpr bool ALL = true;
    WARPFOLD_DEVICE bool has(unsigned) const { return true; }
};
struct First {
    static constexpr bool ALL = false;
    unsigned count;
    WARPFOLD_DEVICE bool has(unsigned index) const { return index < count; }
};

// The input, where it is.
struct Global {
    static constexpr bool COVERS_WORDS = false;
    // The widest load that every item's address allows.
    template <class Item>
    static constexpr unsigned WIDTH = alignof(Item) < 4 ? alignof(Item) : 4;

    template <unsigned WIDTH>
    static WARPFOLD_DEVICE Load<WIDTH> load(const void* address) {
        return load_global<WIDTH>(address);
    }

    // Lets the items of a tile come, a line a lane, before its rows are loaded one after another.
    template <class Item>
    static WARPFOLD_DEVICE void ask_for(const Item* items, unsigned count) {
        constexpr unsigned LINE = 128;
#pragma unroll 1
        for (unsigned at = LINE * lane_index(); at < count * sizeof(Item); at += LINE * WARP_LANES)
            prefetch(reinterpret_cast<const char*>(items) + at);
    }

    // The word at an address that is a multiple of 4 and the tile's byte `offset`; bytes of no item are unspecified.
    template <class Item, class Present>
    static WARPFOLD_DEVICE unsigned aligned_word(const char* address, int offset, Present present) {
        if (offset >= 0 && present.has((offset + 3) / sizeof(Item))) return load<4>(address).word[0];
        unsigned word = 0;
#pragma unroll 1
        for (int k = 0; k < 4; k += WIDTH<Item>) {
            if (offset + k >= 0 && present.has((offset + k) / sizeof(Item)))
                word |= load<WIDTH<Item>>(address + k).word[0] << (8 * k);
        }
        return word;
    }
};

// A copy of it in shared memory, of whole words.
struct Copied {
    static constexpr bool COVERS_WORDS = true;
    template <class Item>
    static WARPFOLD_DEVICE void ask_for(const Item*, unsigned) {}

    template <unsigned WIDTH>
    static WARPFOLD_DEVICE Load<WIDTH> load(const void* address) {
        return load_shared<WIDTH>(address);
    }

    template <class Item, class Present>
    static WARPFOLD_DEVICE unsigned aligned_word(const char* address, int offset, Present present) {
        if (present.has((offset < 0 ? 0 : offset) / sizeof(Item))) return load<4>(address).word[0];
        return 0;
    }
};

template <class Item, unsigned GROUP_ITEMS>
struct Group {
    static constexpr unsigned ITEMS = GROUP_ITEMS;
    static constexpr unsigned BYTES = ITEMS * sizeof(Item);
    static constexpr unsigned COUNT = (BYTES + 3) / 4;
    static constexpr unsigned UNROLL = COUNT <= 32 ? COUNT : 1;
    static constexpr unsigned ITEM_WIDTH = Global::WIDTH<Item>;

    unsigned word[COUNT];

    // All of the group, in loads of WIDTH bytes, from an address that is a multiple of it.
    template <class Memory, unsigned WIDTH>
    WARPFOLD_DEVICE void load_whole(const Item* items) {
        static_assert(WIDTH >= 4 && BYTES % WIDTH == 0, "a group is whole loads");
#pragma unroll(UNROLL)
        for (unsigned offset = 0; offset < BYTES; offset += WIDTH) {
            const Load<WIDTH> loaded = Memory::template load<WIDTH>(reinterpret_cast<const char*>(items) + offset);
#pragma unroll
            for (unsigned k = 0; k < WIDTH / 4; ++k) word[offset / 4 + k] = loaded.word[k];
        }
    }

    // What exists of the group, from any address that an item may have.
    template <class Memory, class Present>
    WARPFOLD_DEVICE void load(const Item* items, unsigned first, Present present) {
        if constexpr (Memory::COVERS_WORDS && Present::ALL && BYTES % 16 == 0)
            load_shifted<Memory>(items);
        else
            load_present<Memory>(items, first, present);
    }

    // All of the group from any address, in 16-byte loads of the words that cover it.
    template <class Memory>
    WARPFOLD_DEVICE void load_shifted(const Item* items) {
        const Size address = reinterpret_cast<Size>(items);
        const unsigned skipped = address % 16;
        unsigned covering[COUNT + 4];
#pragma unroll
        for (unsigned at = 0; at < COUNT + 4; at += 4) {
            const Load<16> loaded = Memory::template load<16>(reinterpret_cast<const char*>(items) - skipped + 4 * at);
#pragma unroll
            for (unsigned k = 0; k < 4; ++k) covering[at + k] = loaded.word[k];
        }
        // By two words, by one, and by bytes: every lane of a warp alike.
#pragma unroll
        for (unsigned k = 0; k < COUNT + 2; ++k) covering[k] = skipped & 8 ? covering[k + 2] : covering[k];
#pragma unroll
        for (unsigned k = 0; k < COUNT + 1; ++k) covering[k] = skipped & 4 ? covering[k + 1] : covering[k];
#pragma unroll
        for (unsigned k = 0; k < COUNT; ++k)
            word[k] = ITEM_WIDTH >= 4 ? covering[k] : funnel_shift(covering[k], covering[k + 1], 8 * (skipped % 4));
    }

    // What exists of the group whose first item is the tile's item `first`, word by word, from any address that an item
    // may have. No byte is touched that is not an item's, or the memory's own.
    template <class Memory, class Present>
    WARPFOLD_DEVICE void load_present(const Item* items, unsigned first, Present present) {
        const char* address = reinterpret_cast<const char*>(items);
        if constexpr (ITEM_WIDTH >= 4) {
#pragma unroll(UNROLL)
            for (unsigned k = 0; k < COUNT; ++k) {
                if (present.has(first + 4 * k / sizeof(Item)))
                    word[k] = Memory::template load<4>(address + 4 * k).word[0];
            }
        } else {
            // The aligned words that cover the group, of which two make one of its own.
            const int skipped = reinterpret_cast<Size>(address) % 4;
            const int begin = static_cast<int>(first * sizeof(Item)) - skipped;
            unsigned low = Memory::template aligned_word<Item>(address - skipped, begin, present);
#pragma unroll(UNROLL)
            for (unsigned k = 0; k < COUNT; ++k) {
                const int next = 4 * k + 4;
                unsigned high = 0;
                if (static_cast<int>(BYTES - 4 * k) + skipped > 4)
                    high = Memory::template aligned_word<Item>(address - skipped + next, begin + next, present);
                word[k] = funnel_shift(low, high, 8 * skipped);
                low = high;
            }
        }
    }

    WARPFOLD_DEVICE Words<Item> item(unsigned index) const {
        Words<Item> item;
#pragma unroll(Words<Item>::UNROLL)
        for (unsigned k = 0; k < Words<Item>::COUNT; ++k) {
            const unsigned at = index * sizeof(Item) + 4 * k, skipped = at % 4;
            const unsigned bytes = sizeof(Item) - 4 * k < 4 ? sizeof(Item) - 4 * k : 4;
            if (sizeof(Item) == 1) {
                item.word[k] = byte_of(word[at / 4], skipped);
                continue;
            }
            item.word[k] = word[at / 4] >> (8 * skipped);
            if (skipped + bytes > 4) item.word[k] |= word[at / 4 + 1] << (32 - 8 * skipped);
        }
        return item;
    }

    // The bracket of the group's items that exist; unspecified if the first does not.
    template <class Operator, class Present>
    WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, unsigned first, Present present) const {
        Words<Item> value[ITEMS];
#pragma unroll
        for (unsigned i = 0; i < ITEMS; ++i) value[i] = item(i);
#pragma unroll
        for (unsigned step = 1; step < ITEMS; step *= 2) {
#pragma unroll
            for (unsigned i = 0; i < ITEMS; i += 2 * step) {
                if (present.has(first + i + step)) value[i] = combine(op, value[i], value[i + step]);
            }
        }
        return value[0];
    }
};

}  // namespace warpfold
