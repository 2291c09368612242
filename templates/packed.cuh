// Items narrower than a word, several at a time: for operators of which any order gives the same bits.
//
// A form has the value of all items in some words, of which the bits above an item are unspecified; and says whether it is
// faster than one item after another.

namespace warpfold {
namespace packed {

// The sum of integers, which wraps.
template <class Item>
struct Sum {
    static constexpr bool PAYS = true;

    template <unsigned COUNT>
    static WARPFOLD_DEVICE unsigned of(const unsigned (&word)[COUNT]) {
        unsigned sum = 0;
#pragma unroll
        for (unsigned k = 0; k < COUNT; ++k)
            sum = sizeof(Item) == 1 ? sum_with_bytes(sum, word[k]) : sum_with_halves(sum, word[k]);
        return sum;
    }
};

// The greatest integer, or the least. What is below a byte in its half of a word decides nothing that is asked for, so that
// the upper bytes are found in the words, and the lower ones in the words a byte further up.
template <class Item, bool IS_GREATEST>
struct Extreme {
    static constexpr bool PAYS = HALVES_PAY, IS_SIGNED = Item(-1) < Item(0);

    static WARPFOLD_DEVICE unsigned of_both(unsigned a, unsigned b) {
        if constexpr (IS_GREATEST) return greater_halves<IS_SIGNED>(a, b);
        return lesser_halves<IS_SIGNED>(a, b);
    }

    template <unsigned COUNT>
    static WARPFOLD_DEVICE unsigned of(const unsigned (&word)[COUNT]) {
        unsigned value = word[0], lower = word[0] << 8;
#pragma unroll
        for (unsigned k = 1; k < COUNT; ++k) {
            value = of_both(value, word[k]);
            lower = of_both(lower, word[k] << 8);
        }
        if constexpr (sizeof(Item) == 1) value = of_both(value, lower);
        value = of_both(value, value << 16);
        return value >> (32 - 8 * sizeof(Item));
    }
};
template <class Item>
struct Max : Extreme<Item, true> {};
template <class Item>
struct Min : Extreme<Item, false> {};

// What works on every bit alone.
template <class Item, class Both>
struct Bitwise {
    static constexpr bool PAYS = true;

    template <unsigned COUNT>
    static WARPFOLD_DEVICE unsigned of(const unsigned (&word)[COUNT]) {
        unsigned value = word[0];
#pragma unroll
        for (unsigned k = 1; k < COUNT; ++k) value = Both::of(value, word[k]);
        value = Both::of(value, value >> 16);
        return sizeof(Item) == 1 ? Both::of(value, value >> 8) : value;
    }
};
struct And {
    static WARPFOLD_DEVICE unsigned of(unsigned a, unsigned b) { return a & b; }
};
struct Or {
    static WARPFOLD_DEVICE unsigned of(unsigned a, unsigned b) { return a | b; }
};
struct Xor {
    static WARPFOLD_DEVICE unsigned of(unsigned a, unsigned b) { return a ^ b; }
};
template <class Item>
struct BitAnd : Bitwise<Item, And> {};
template <class Item>
struct BitOr : Bitwise<Item, Or> {};
template <class Item>
struct BitXor : Bitwise<Item, Xor> {};

// Of an operator that has none.
struct None {
    static constexpr bool PAYS = false;
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

}  // namespace packed
}  // namespace warpfold
