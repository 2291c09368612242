// A group: the power of two of items that one lane loads at once, and the bracket of it. This is the one place where
// a kernel reads its input.

namespace warpfold {

// Which items of a tile exist, asked by their index in it. A whole tile has them all, and every question about it
// is answered by the compiler; the last tile of an input has the first `count`.
struct Whole {
    WARPFOLD_DEVICE bool has(unsigned) const { return true; }
};
struct First {
    unsigned count;
    WARPFOLD_DEVICE bool has(unsigned index) const { return index < count; }
};

template <class Item, unsigned GROUP_ITEMS>
struct Group {
    static constexpr unsigned ITEMS = GROUP_ITEMS;
    static constexpr unsigned BYTES = ITEMS * sizeof(Item);
    static constexpr unsigned COUNT = (BYTES + 3) / 4;
    static constexpr unsigned UNROLL = COUNT <= 32 ? COUNT : 1;
    // The widest load that every item's address allows.
    static constexpr unsigned ITEM_WIDTH = alignof(Item) < 4 ? alignof(Item) : 4;

    unsigned word[COUNT];

    // All of the group, in loads of WIDTH bytes, from an address that is a multiple of it.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void load_whole(const Item* items) {
        static_assert(WIDTH >= 4 && BYTES % WIDTH == 0, "a group is whole loads");
#pragma unroll(UNROLL)
        for (unsigned offset = 0; offset < BYTES; offset += WIDTH) {
            const Load<WIDTH> loaded(reinterpret_cast<const char*>(items) + offset);
#pragma unroll
            for (unsigned k = 0; k < WIDTH / 4; ++k) word[offset / 4 + k] = loaded.word[k];
        }
    }

    // What exists of the group whose first item is the tile's item `first`, word by word, from any address that an item
    // may have. No byte is touched that is not an item's.
    template <class Present>
    WARPFOLD_DEVICE void load_present(const Item* items, unsigned first, Present present) {
        const char* address = reinterpret_cast<const char*>(items);
        if constexpr (ITEM_WIDTH >= 4) {
#pragma unroll(UNROLL)
            for (unsigned k = 0; k < COUNT; ++k) {
                if (present.has(first + 4 * k / sizeof(Item))) word[k] = Load<4>(address + 4 * k).word[0];
            }
        } else {
            // The aligned words that cover the group, of which two make one of its own.
            const int skipped = reinterpret_cast<Size>(address) % 4;
            const int begin = static_cast<int>(first * sizeof(Item)) - skipped;
            unsigned low = aligned_word(address - skipped, begin, present);
#pragma unroll(UNROLL)
            for (unsigned k = 0; k < COUNT; ++k) {
                const int next = 4 * k + 4;
                const unsigned high = aligned_word(address - skipped + next, begin + next, present);
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

  private:
    // The word at an address that is a multiple of 4 and the tile's byte `offset`; bytes of no item are unspecified.
    template <class Present>
    static WARPFOLD_DEVICE unsigned aligned_word(const char* address, int offset, Present present) {
        if (offset >= 0 && present.has((offset + 3) / sizeof(Item))) return Load<4>(address).word[0];
        unsigned word = 0;
#pragma unroll 1
        for (int k = 0; k < 4; k += ITEM_WIDTH) {
            if (offset + k >= 0 && present.has((offset + k) / sizeof(Item)))
                word |= Load<ITEM_WIDTH>(address + k).word[0] << (8 * k);
        }
        return word;
    }
};

}  // namespace warpfold
