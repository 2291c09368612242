// A run of subtrees, one value each, reduced as they come: a binary counter of rows, whose digit k is the value of a perfect
// subtree of 2^k rows. Wherever a digit is already set, that subtree lies to the left of what comes, and is combined from the
// left: the carry chain. It costs one combination a push, for any number of rows.

namespace warpfold {

// Digit k in lane k.
template <class Item>
class LaneDigits {
    Words<Item> digit;

  public:
    WARPFOLD_DEVICE Words<Item> get(unsigned k) const { return shuffle_from(digit, k); }
    WARPFOLD_DEVICE void set(unsigned k, const Words<Item>& value) {
        if (lane_index() == k) digit = value;
    }
};

// All 32 in shared memory, where registers are for other things. Nobody reads a digit any more that is set: what was read of
// the counter before has a barrier after it, that of a set digit or of a tile.
template <class Item>
class SharedDigits {
    Words<Item>* digit;

  public:
    WARPFOLD_DEVICE explicit SharedDigits(Words<Item>* digit) : digit(digit) {}
    WARPFOLD_DEVICE Words<Item> get(unsigned k) const { return digit[k]; }
    WARPFOLD_DEVICE void set(unsigned k, const Words<Item>& value) {
        if (lane_index() == 0) digit[k] = value;
        warp_barrier();
    }
};

template <class Item, class Digits>
class RowCounter {
    Digits digits;
    Size rows = 0;

  public:
    WARPFOLD_DEVICE RowCounter() {}
    WARPFOLD_DEVICE explicit RowCounter(Words<Item>* memory) : digits(memory) {}
    WARPFOLD_DEVICE bool is_empty() const { return rows == 0; }

    // Adds the next 2^level rows, whose value lane 0 holds. The rows so far are a multiple of 2^level.
    template <class Operator>
    WARPFOLD_DEVICE void push(const Operator& op, Words<Item> value, unsigned level) {
        value = shuffle_from(value, 0);
        unsigned k = level;
#pragma unroll 1
        for (Size carry = rows >> level; carry & 1; carry >>= 1, ++k) value = combine(op, digits.get(k), value);
        digits.set(k, value);
        rows += Size(1) << level;
    }

    // The bracket of all rows so far, in all lanes: the newest, smallest subtree is the last right operand. At least
    // one row.
    template <class Operator>
    WARPFOLD_DEVICE Words<Item> bracket(const Operator& op) const {
        unsigned k = 0;
        Size set = rows;
#pragma unroll 1
        for (; !(set & 1); set >>= 1) ++k;
        Words<Item> value = digits.get(k);
#pragma unroll 1
        for (set >>= 1, ++k; set; set >>= 1, ++k) {
            if (set & 1) value = combine(op, digits.get(k), value);
        }
        return value;
    }
};

}  // namespace warpfold
