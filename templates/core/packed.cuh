// Packed forms: operators on integers of at most 32 bits for which any order gives the same bits.
//
// A form combines several narrow items at once in the words in which a lane loaded them (`of`). It
// also combines one value for each lane of a warp (`of_lanes`). `IS_FASTER` says whether `of` is
// faster than one item at a time. Bits above the item are unspecified in its results. Lanes without
// a value use the IDENTITY word.

namespace warpfold {
namespace packed {

// The wrapping sum of integers.
template <class Item>
struct Sum {
    static constexpr bool EXISTS = true, IS_FASTER = sizeof(Item) < 4;
    static constexpr unsigned IDENTITY = 0;

    template <unsigned COUNT>
    static WARPFOLD_DEVICE unsigned of(const unsigned (&word)[COUNT]) {
        unsigned sum = 0;
#pragma unroll
        for (unsigned k = 0; k < COUNT; ++k)
            sum = sizeof(Item) == 1 ? sum_with_bytes(sum, word[k]) : sum_with_halves(sum, word[k]);
        return sum;
    }

    static WARPFOLD_DEVICE unsigned of_lanes(unsigned word) { return sum_of_lanes(word); }
};

// The greatest integer, or the least. Halves of words are compared. The lower byte of a half never
// changes which upper byte wins. So upper bytes are found in the words themselves, and lower bytes
// in the words shifted by a byte.
template <class Item, bool IS_MAX>
struct MinMax {
    static constexpr bool EXISTS = true, IS_FASTER = HAS_HALF_MIN_MAX && sizeof(Item) < 4;
    static constexpr bool IS_SIGNED = Item(-1) < Item(0);
    static constexpr unsigned LARGEST = 0xffffffffu >> (32 - 8 * sizeof(Item) + IS_SIGNED);
    static constexpr unsigned IDENTITY = !IS_MAX ? LARGEST : IS_SIGNED ? LARGEST + 1 : 0;

    static WARPFOLD_DEVICE unsigned combine_words(unsigned a, unsigned b) {
        if constexpr (IS_MAX) return max_halves<IS_SIGNED>(a, b);
        return min_halves<IS_SIGNED>(a, b);
    }

    template <unsigned COUNT>
    static WARPFOLD_DEVICE unsigned of(const unsigned (&word)[COUNT]) {
        unsigned value = word[0], lower = word[0] << 8;
#pragma unroll
        for (unsigned k = 1; k < COUNT; ++k) {
            value = combine_words(value, word[k]);
            lower = combine_words(lower, word[k] << 8);
        }
        if constexpr (sizeof(Item) == 1) value = combine_words(value, lower);
        value = combine_words(value, value << 16);
        return value >> (32 - 8 * sizeof(Item));
    }

    static WARPFOLD_DEVICE unsigned of_lanes(unsigned word) {
        const Item item = static_cast<Item>(word);
        if constexpr (IS_SIGNED) return IS_MAX ? max_of_lanes(int(item)) : min_of_lanes(int(item));
        return IS_MAX ? max_of_lanes(unsigned(item)) : min_of_lanes(unsigned(item));
    }
};
template <class Item>
struct Max : MinMax<Item, true> {};
template <class Item>
struct Min : MinMax<Item, false> {};

// Operations on each bit alone.
template <class Item, class Both>
struct Bitwise {
    static constexpr bool EXISTS = true, IS_FASTER = sizeof(Item) < 4;
    static constexpr unsigned IDENTITY = Both::IDENTITY;

    template <unsigned COUNT>
    static WARPFOLD_DEVICE unsigned of(const unsigned (&word)[COUNT]) {
        unsigned value = word[0];
#pragma unroll
        for (unsigned k = 1; k < COUNT; ++k) value = Both::of(value, word[k]);
        value = Both::of(value, value >> 16);
        return sizeof(Item) == 1 ? Both::of(value, value >> 8) : value;
    }

    static WARPFOLD_DEVICE unsigned of_lanes(unsigned word) { return Both::of_lanes(word); }
};
struct And {
    static constexpr unsigned IDENTITY = 0xffffffffu;
    static WARPFOLD_DEVICE unsigned of(unsigned a, unsigned b) { return a & b; }
    static WARPFOLD_DEVICE unsigned of_lanes(unsigned word) { return and_of_lanes(word); }
};
struct Or {
    static constexpr unsigned IDENTITY = 0;
    static WARPFOLD_DEVICE unsigned of(unsigned a, unsigned b) { return a | b; }
    static WARPFOLD_DEVICE unsigned of_lanes(unsigned word) { return or_of_lanes(word); }
};
struct Xor {
    static constexpr unsigned IDENTITY = 0;
    static WARPFOLD_DEVICE unsigned of(unsigned a, unsigned b) { return a ^ b; }
    static WARPFOLD_DEVICE unsigned of_lanes(unsigned word) { return xor_of_lanes(word); }
};
template <class Item>
struct BitAnd : Bitwise<Item, And> {};
template <class Item>
struct BitOr : Bitwise<Item, Or> {};
template <class Item>
struct BitXor : Bitwise<Item, Xor> {};

// The form of an operator without one.
struct None {
    static constexpr bool EXISTS = false, IS_FASTER = false;
};
template <class T>
struct Exists {
    typedef void Type;
};
template <class Operator, class = void>
struct FormOf {
    typedef None Type;
};
template <class Operator>
struct FormOf<Operator, typename Exists<typename Operator::Packed>::Type> {
    typedef typename Operator::Packed Type;
};
template <class Operator>
using Form = typename FormOf<Operator>::Type;

// Whether the operator has a form.
template <class Operator>
constexpr bool HAS_FORM = Form<Operator>::EXISTS;

}  // namespace packed
}  // namespace warpfold
