// A group: the power of two of items that one lane loads at once, and the bracket of it.

namespace warpfold {

// Which items exist, asked by their index in a row or a group. Of a whole one all do, and every question about it is answered by
// the compiler; of the last one of an input the first `count` do, one at least.
struct Whole {
    static constexpr bool ALL = true;
    WARPFOLD_DEVICE bool has(unsigned) const { return true; }
};
struct First {
    static constexpr bool ALL = false;
    unsigned count;
    WARPFOLD_DEVICE bool has(unsigned index) const { return index < count; }
};

// The input.
struct Global {
    // The widest load that every item's address allows.
    template <class Item>
    static constexpr unsigned WIDTH = alignof(Item) < 4 ? alignof(Item) : 4;

    // Lets items come to a cache, a line a lane, before they are loaded.
    template <unsigned LEVEL, class Item>
    static WARPFOLD_DEVICE void ask_for(const Item* items, unsigned count) {
        constexpr unsigned LINE = 128;
#pragma unroll 1
        for (unsigned at = LINE * lane_index(); at < count * sizeof(Item); at += LINE * WARP_LANES)
            prefetch<LEVEL>(reinterpret_cast<const char*>(items) + at);
    }

    // The word at an address that is a multiple of 4 and the row's byte `offset`; bytes of no item are unspecified.
    template <class Item, class Present>
    static WARPFOLD_DEVICE unsigned aligned_word(const char* address, int offset, Present present) {
        if (offset >= 0 && present.has((offset + 3) / sizeof(Item))) return load_written<4>(address).word[0];
        unsigned word = 0;
#pragma unroll 1
        for (int k = 0; k < 4; k += WIDTH<Item>) {
            if (offset + k >= 0 && present.has((offset + k) / sizeof(Item)))
                word |= load_written<WIDTH<Item>>(address + k).word[0] << (8 * k);
        }
        return word;
    }
};

template <class Item, unsigned GROUP_ITEMS>
struct Group {
    static constexpr unsigned ITEMS = GROUP_ITEMS;
    static constexpr unsigned BYTES = ITEMS * sizeof(Item);
    static constexpr unsigned COUNT = (BYTES + 3) / 4;
    static constexpr unsigned UNROLL = COUNT <= 32 ? COUNT : 1;
    // Of one load of an item.
    static constexpr unsigned ITEM_WIDTH = alignof(Item) < 16 ? alignof(Item) : 16;

    unsigned word[COUNT];

    // What was loaded from so many bytes on.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void put(unsigned offset, const Load<WIDTH>& loaded) {
        if constexpr (WIDTH >= 4) {
#pragma unroll
            for (unsigned k = 0; k < WIDTH / 4; ++k) word[offset / 4 + k] = loaded.word[k];
        } else {
            if (offset % 4 == 0) word[offset / 4] = 0;
            word[offset / 4] |= loaded.word[0] << (8 * (offset % 4));
        }
    }

    // All of the group, in loads of WIDTH bytes, from an address that is a multiple of it.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void load_whole(const Item* items) {
        static_assert(BYTES % WIDTH == 0, "a group is whole loads");
#pragma unroll(UNROLL)
        for (unsigned offset = 0; offset < BYTES; offset += WIDTH) {
            const char* const from = reinterpret_cast<const char*>(items) + offset;
            put(offset, load_written<WIDTH>(from));
        }
    }

    // All of the group, from and to shared memory, WIDTH bytes at a time, at a multiple of as many.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void read_from(const unsigned char* words) {
#pragma unroll(UNROLL)
        for (unsigned offset = 0; offset < BYTES; offset += WIDTH) put(offset, read<WIDTH>(words + offset));
    }
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void write_to(unsigned char* words) const {
#pragma unroll(UNROLL)
        for (unsigned offset = 0; offset < BYTES; offset += WIDTH) {
            if constexpr (WIDTH >= 4) {
                write<WIDTH>(words + offset, word + offset / 4);
            } else {
                const unsigned part = word[offset / 4] >> (8 * (offset % 4));
                write<WIDTH>(words + offset, &part);
            }
        }
    }

    // The same of a group that begins so many bytes into the first of the words, and may end in the word `next`.
    template <unsigned WIDTH>
    WARPFOLD_DEVICE void load_exchanged(const unsigned char* words, const unsigned char* next, unsigned skipped) {
        read_from<WIDTH>(words);
        if constexpr (ITEM_WIDTH < 4) {
            const unsigned last = read<4>(next).word[0];
#pragma unroll
            for (unsigned k = 0; k < COUNT; ++k)
                word[k] = funnel_shift(word[k], k + 1 < COUNT ? word[k + 1] : last, 8 * skipped);
        }
    }

    // What exists of the group, from any address that an item may have. In place of an item that does not exist there is the last
    // one that does, but for items narrower than a word, where it is unspecified. The group begins with the item `first` of a row,
    // of which `present` exist. No byte is touched that is not an item's.
    WARPFOLD_DEVICE void load_present(const Item* row, unsigned first, First present) {
        if constexpr (ITEM_WIDTH >= 4) {
#pragma unroll(UNROLL)
            for (unsigned i = 0; i < ITEMS; ++i) {
                const Item* const from = row + (i == 0 || present.has(first + i) ? first + i : present.count - 1);
#pragma unroll(UNROLL)
                for (unsigned offset = 0; offset < sizeof(Item); offset += ITEM_WIDTH)
                    put(i * sizeof(Item) + offset, load_written<ITEM_WIDTH>(reinterpret_cast<const char*>(from) + offset));
            }
        } else {
            // The aligned words that cover the group, of which two make one of its own.
            const char* const address = reinterpret_cast<const char*>(row + first);
            const int skipped = reinterpret_cast<Size>(address) % 4;
            const int begin = static_cast<int>(first * sizeof(Item)) - skipped;
            unsigned low = Global::aligned_word<Item>(address - skipped, begin, present);
#pragma unroll(UNROLL)
            for (unsigned k = 0; k < COUNT; ++k) {
                const int next = 4 * k + 4;
                unsigned high = 0;
                if (static_cast<int>(BYTES - 4 * k) + skipped > 4)
                    high = Global::aligned_word<Item>(address - skipped + next, begin + next, present);
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

    // All of the group, from its items.
    WARPFOLD_DEVICE void set(const Words<Item> (&value)[ITEMS]) {
#pragma unroll(UNROLL)
        for (unsigned k = 0; k < COUNT; ++k) word[k] = 0;
#pragma unroll
        for (unsigned i = 0; i < ITEMS; ++i) {
#pragma unroll(Words<Item>::UNROLL)
            for (unsigned k = 0; k < Words<Item>::COUNT; ++k) {
                const unsigned at = i * sizeof(Item) + 4 * k, skipped = at % 4;
                const unsigned bytes = sizeof(Item) - 4 * k < 4 ? sizeof(Item) - 4 * k : 4;
                const unsigned part = value[i].word[k] & (0xffffffffu >> (32 - 8 * bytes));
                word[at / 4] |= part << (8 * skipped);
                if (skipped + bytes > 4) word[at / 4 + 1] |= part >> (32 - 8 * skipped);
            }
        }
    }

    // The bracket of the group's items that exist. Others in place of those that do not are combined, too, and what comes of it is left.
    template <class Operator, class Present>
    WARPFOLD_DEVICE Words<Item> bracket(const Operator& op, Present present) const {
        using Packed = packed::Form<Operator>;
        if constexpr (Packed::PAYS && Present::ALL && BYTES % 4 == 0) {
            Words<Item> value;
            value.word[0] = Packed::of(word);
            return value;
        } else {
            Words<Item> value[ITEMS];
#pragma unroll
            for (unsigned i = 0; i < ITEMS; ++i) {
                value[i] = item(i);
                if (ITEM_WIDTH < 4 && i > 0) value[i] = select(present.has(i), value[i], value[0]);
            }
#pragma unroll
            for (unsigned step = 1; step < ITEMS; step *= 2) {
#pragma unroll
                for (unsigned i = 0; i < ITEMS; i += 2 * step) {
                    value[i] = combine_if(op, present.has(i + step), value[i], value[i + step]);
                }
            }
            return value[0];
        }
    }
};

}  // namespace warpfold
