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
    // The widest load that every item's address allows.
    static constexpr unsigned ITEM_WIDTH = alignof(Item) < 16 ? alignof(Item) : 16;

    unsigned word[COUNT];

    // `bytes` bytes from `address`, a multiple of WIDTH, to the byte offset `to` of the group.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void read(const void* address, unsigned to, unsigned bytes) {
        constexpr unsigned LOADS = BYTES / WIDTH;
#pragma unroll(LOADS <= 32 ? LOADS : 1)
        for (unsigned offset = 0; offset < bytes; offset += WIDTH) {
            const Load<WIDTH> loaded(static_cast<const char*>(address) + offset);
            const unsigned at = to + offset;
            if constexpr (WIDTH >= 4) {
#pragma unroll
                for (unsigned k = 0; k < WIDTH / 4; ++k) word[at / 4 + k] = loaded.word[k];
            } else {
                // The first bytes of a word set it, the later ones join it.
                const unsigned shifted = loaded.word[0] << (8 * (at % 4));
                word[at / 4] = at % 4 == 0 ? shifted : word[at / 4] | shifted;
            }
        }
    }

    // The group whose first item is the tile's item `first`, at `items`; items that do not exist are not touched.
    template <unsigned WIDTH, class Present>
    WARPFOLD_DEVICE void load(const Item* items, unsigned first, Present present) {
        if (present.has(first + ITEMS - 1)) {
            read<WIDTH>(items, 0, BYTES);
        } else {
#pragma unroll
            for (unsigned i = 0; i < ITEMS; ++i) {
                if (present.has(first + i)) read<ITEM_WIDTH>(items + i, i * sizeof(Item), sizeof(Item));
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
};

}  // namespace warpfold
