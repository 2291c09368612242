// A binary counter of rows, by one warp: it reduces a run of subtrees in the order of their
// arrival.
//
// Digit k is the value of a perfect subtree of 2^k rows. A set digit lies to the left of a new
// value. So the new value is combined with it from the left, and carried to digit k + 1. This takes
// at most one combination a push on average, for any number of rows.

namespace warpfold {

// The digits in registers: lane k holds digit k.
template <class Item>
class LaneDigits {
    Words<Item> digit;

  public:
    WARPFOLD_DEVICE Words<Item> get(unsigned k) const { return shuffle_from(digit, k); }
    WARPFOLD_DEVICE void set(unsigned k, const Words<Item>& value) {
        if (lane_index() == k) digit = value;
    }
};

// The digits in shared memory, which saves registers. No lane still reads a digit when it is set: a
// warp barrier follows every read, either in `set` or where the next tile is taken.
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

    // Adds the next 2^level rows, whose value lane 0 holds. The number of rows so far is a multiple
    // of 2^level.
    template <class Operator>
    WARPFOLD_DEVICE void push(const Operator& op, Words<Item> value, unsigned level) {
        value = shuffle_from(value, 0);
        unsigned k = level;
#pragma unroll 1
        for (Size carry = rows >> level; carry & 1; carry >>= 1, ++k) value = combine(op, digits.get(k), value);
        digits.set(k, value);
        rows += Size(1) << level;
    }

    // The bracket of all rows so far, in all lanes. The newest and smallest subtree is the last
    // right operand. Requires at least one row.
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
