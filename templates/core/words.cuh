// An item in registers, as 32-bit words of whatever type the item has.
//
// Words are selected, shuffled and shifted without taking an address, which would move them to
// local memory. They become an item only where the operator is called.

namespace warpfold {

template <class Item>
struct Words {
    static constexpr unsigned COUNT = (sizeof(Item) + 3) / 4;
    // A LARGE item does not fit in registers. It lives in local memory, loops over it are unrolled
    // in part, and its operator is called and not inlined. This keeps compile time short.
    static constexpr bool LARGE = COUNT > 16;
    static constexpr unsigned UNROLL = LARGE ? 8 : COUNT;

    unsigned word[COUNT];

    WARPFOLD_DEVICE Words() {}

    WARPFOLD_DEVICE explicit Words(const Item& item) {
        word[COUNT - 1] = 0;
        copy(word, &item);
    }

    WARPFOLD_DEVICE Item item() const {
        Item item;
        copy(&item, word);
        return item;
    }

    WARPFOLD_DEVICE void store(Item* to) const {
        if constexpr (LARGE) {
            copy(to, word);
        } else {
            const Item stored = item();
            *to = stored;
        }
    }

    // Writes the words for a reader that polls. Each 64-bit word holds the epoch and 32 bits of
    // the item. The epoch tells them from earlier contents. So the words may arrive in any order,
    // without a fence. Two words are adjacent, and the next two follow `stride` words later.
    WARPFOLD_DEVICE void send(unsigned long long* to, unsigned epoch, unsigned stride = 2) const {
#pragma unroll(UNROLL)
        for (unsigned k = 0; k < COUNT; ++k)
            publish(to + k / 2 * stride + k % 2, static_cast<unsigned long long>(epoch) << 32 | word[k]);
    }

  private:
    static WARPFOLD_DEVICE void copy(void* to, const void* from) {
        if constexpr (LARGE && alignof(Item) % 4 == 0) {
#pragma unroll(UNROLL)
            for (unsigned k = 0; k < COUNT; ++k) copy_bytes(static_cast<char*>(to) + 4 * k, static_cast<const char*>(from) + 4 * k, 4);
        } else if constexpr (LARGE) {
#pragma unroll 1
            for (unsigned k = 0; k < sizeof(Item); ++k) static_cast<char*>(to)[k] = static_cast<const char*>(from)[k];
        } else {
            copy_bytes(to, from, sizeof(Item));
        }
    }
};

// A value that was sent, as it was found. All words are loaded before any is checked.
template <class Item>
struct FlaggedValue {
    static constexpr unsigned COUNT = Words<Item>::COUNT, UNROLL = Words<Item>::UNROLL;

    unsigned long long word[COUNT];

    // `from` is a multiple of 16 bytes.
    WARPFOLD_DEVICE void look(const unsigned long long* from, unsigned stride = 2) {
#pragma unroll(UNROLL)
        for (unsigned k = 0; k + 1 < COUNT; k += 2) {
            unsigned long long pair[2];
            published(from + k / 2 * stride, pair);
            word[k] = pair[0], word[k + 1] = pair[1];
        }
        if constexpr (COUNT % 2 == 1) word[COUNT - 1] = published(from + COUNT / 2 * stride);
    }

    WARPFOLD_DEVICE bool has(unsigned epoch) const {
        bool has = true;
#pragma unroll(UNROLL)
        for (unsigned k = 0; k < COUNT; ++k) has &= static_cast<unsigned>(word[k] >> 32) == epoch;
        return has;
    }

    WARPFOLD_DEVICE Words<Item> value() const {
        Words<Item> value;
#pragma unroll(UNROLL)
        for (unsigned k = 0; k < COUNT; ++k) value.word[k] = static_cast<unsigned>(word[k]);
        return value;
    }
};

// `condition ? yes : no` for each word. It selects values: a select of two lvalues would select
// between their addresses.
template <class Item>
WARPFOLD_DEVICE Words<Item> select(bool condition, const Words<Item>& yes, const Words<Item>& no) {
    Words<Item> chosen;
#pragma unroll(Words<Item>::UNROLL)
    for (unsigned k = 0; k < Words<Item>::COUNT; ++k) {
        const unsigned a = yes.word[k], b = no.word[k];
        chosen.word[k] = condition ? a : b;
    }
    return chosen;
}

template <class Item>
WARPFOLD_DEVICE Words<Item> shuffle_xor(const Words<Item>& value, unsigned distance) {
    Words<Item> received;
#pragma unroll(Words<Item>::UNROLL)
    for (unsigned k = 0; k < Words<Item>::COUNT; ++k) received.word[k] = shuffle_xor(value.word[k], distance);
    return received;
}

template <class Item>
WARPFOLD_DEVICE Words<Item> shuffle_down(const Words<Item>& value, unsigned distance) {
    Words<Item> received;
#pragma unroll(Words<Item>::UNROLL)
    for (unsigned k = 0; k < Words<Item>::COUNT; ++k) received.word[k] = shuffle_down(value.word[k], distance);
    return received;
}

template <class Item>
WARPFOLD_DEVICE Words<Item> shuffle_from(const Words<Item>& value, unsigned lane) {
    Words<Item> received;
#pragma unroll(Words<Item>::UNROLL)
    for (unsigned k = 0; k < Words<Item>::COUNT; ++k) received.word[k] = shuffle_from(value.word[k], lane);
    return received;
}

template <class Operator, class Item>
WARPFOLD_OUTLINED void combine_large(const Operator& op, const Words<Item>& left, const Words<Item>& right,
                                    Words<Item>& combined) {
    combined = Words<Item>(op.combine(left.item(), right.item()));
}

// Combines two items. Kernels with items in registers call the operator here only.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> combine(const Operator& op, const Words<Item>& left, const Words<Item>& right) {
    if constexpr (Words<Item>::LARGE) {
        Words<Item> combined;
        combine_large(op, left, right, combined);
        return combined;
    } else {
        return Words<Item>(op.combine(left.item(), right.item()));
    }
}

// Combines if there is a right operand, and otherwise returns the left one. A missing operand is
// still a valid item. It is combined, too: a select is faster than a branch.
template <class Operator, class Item>
WARPFOLD_DEVICE Words<Item> combine_if(const Operator& op, bool has_right, const Words<Item>& left, const Words<Item>& right) {
    if constexpr (Words<Item>::LARGE) {
        if (!has_right) return left;
        return combine(op, left, right);
    } else {
        return select(has_right, combine(op, left, right), left);
    }
}

}  // namespace warpfold
