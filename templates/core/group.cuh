// A group: a power of two of values of one lane, in registers, as the bytes that were loaded.

namespace warpfold {

// Which elements of a row or a group exist, by index. Under a `FullMask` all exist, and the
// compiler knows it. Under a `PrefixMask` the first `count` exist, at least one: the end of an
// input.
struct FullMask {
    static constexpr bool ALL = true;
    WARPFOLD_DEVICE bool has(unsigned) const { return true; }
};
struct PrefixMask {
    static constexpr bool ALL = false;
    unsigned count;
    WARPFOLD_DEVICE bool has(unsigned index) const { return index < count; }
};
WARPFOLD_DEVICE PrefixMask prefix_of(FullMask) { return {0xffffffffu}; }
WARPFOLD_DEVICE PrefixMask prefix_of(PrefixMask mask) { return mask; }

template <class T, unsigned COUNT>
struct Group {
    static constexpr unsigned BYTES = COUNT * sizeof(T), WORDS = (BYTES + 3) / 4;
    static constexpr unsigned UNROLL = WORDS <= 32 ? WORDS : 1;

    unsigned word[WORDS];

    // Writes the loaded bytes at `offset` bytes of the group. Parts of a word come in ascending
    // order.
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

    // Moves the whole group from or to shared memory, WIDTH bytes at a time. The address is a
    // multiple of WIDTH.
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

    WARPFOLD_DEVICE Words<T> get(unsigned index) const {
        Words<T> value;
#pragma unroll(Words<T>::UNROLL)
        for (unsigned k = 0; k < Words<T>::COUNT; ++k) {
            const unsigned at = index * sizeof(T) + 4 * k, skipped = at % 4;
            const unsigned bytes = sizeof(T) - 4 * k < 4 ? sizeof(T) - 4 * k : 4;
            if (sizeof(T) == 1) {
                value.word[k] = byte_of(word[at / 4], skipped);
                continue;
            }
            value.word[k] = word[at / 4] >> (8 * skipped);
            if (skipped + bytes > 4) value.word[k] |= word[at / 4 + 1] << (32 - 8 * skipped);
        }
        return value;
    }

    // Sets all values of the group.
    WARPFOLD_DEVICE void set(const Words<T> (&value)[COUNT]) {
#pragma unroll(UNROLL)
        for (unsigned k = 0; k < WORDS; ++k) word[k] = 0;
#pragma unroll
        for (unsigned i = 0; i < COUNT; ++i) {
#pragma unroll(Words<T>::UNROLL)
            for (unsigned k = 0; k < Words<T>::COUNT; ++k) {
                const unsigned at = i * sizeof(T) + 4 * k, skipped = at % 4;
                const unsigned bytes = sizeof(T) - 4 * k < 4 ? sizeof(T) - 4 * k : 4;
                const unsigned part = value[i].word[k] & (0xffffffffu >> (32 - 8 * bytes));
                word[at / 4] |= part << (8 * skipped);
                if (skipped + bytes > 4) word[at / 4 + 1] |= part >> (32 - 8 * skipped);
            }
        }
    }
};

}  // namespace warpfold
