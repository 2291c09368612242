// Rust's operators and methods of numbers, under Rust's names, where C++ differs.
//
// Invariants: signed overflow wraps, narrow integers are not promoted, and no operation is
// undefined. Where Rust panics, a division by zero gives 0, and an array index out of range the
// last element. No memory outside the operands is touched.

namespace warpfold {
namespace rust {

template <bool CONDITION, class Yes, class No>
struct Choose {
    typedef Yes Type;
};
template <class Yes, class No>
struct Choose<false, Yes, No> {
    typedef No Type;
};

// For an integer or a float: `Unsigned` is the unsigned integer of the same size. `Wide` is the
// unsigned integer in which arithmetic is done, wide enough that C++ does not promote it.
template <class T>
struct Number {
    static constexpr u32 BITS = 8 * sizeof(T);
    typedef typename Choose<sizeof(T) == 8, u64,
                            typename Choose<sizeof(T) == 4, u32, typename Choose<sizeof(T) == 2, u16, u8>::Type>::Type>::Type
        Unsigned;
    typedef typename Choose<sizeof(T) == 8, u64, u32>::Type Wide;
    static constexpr bool FLOAT = T(0.5f) != T(0);
    static constexpr bool SIGNED = T(-1) < T(1);
    static constexpr T MIN = SIGNED ? T(Wide(1) << (BITS - 1)) : T(0);
    static constexpr T MAX = SIGNED ? T((Wide(1) << (BITS - 1)) - 1) : T(~Wide(0));
};
template <>
struct Number<f32> {
    typedef u32 Unsigned;
    static constexpr bool FLOAT = true;
};
template <>
struct Number<f64> {
    typedef u64 Unsigned;
    static constexpr bool FLOAT = true;
};

// Wrapping arithmetic: the methods, and the operators of a release build.

template <class T>
WARPFOLD_DEVICE T wrapping_add(T a, T b) {
    typedef typename Number<T>::Wide Wide;
    return T(Wide(a) + Wide(b));
}
template <class T>
WARPFOLD_DEVICE T wrapping_sub(T a, T b) {
    typedef typename Number<T>::Wide Wide;
    return T(Wide(a) - Wide(b));
}
template <class T>
WARPFOLD_DEVICE T wrapping_mul(T a, T b) {
    typedef typename Number<T>::Wide Wide;
    return T(Wide(a) * Wide(b));
}
template <class T>
WARPFOLD_DEVICE T wrapping_neg(T a) {
    return wrapping_sub(T(0), a);
}
template <class T>
WARPFOLD_DEVICE T wrapping_shl(T a, u32 amount) {
    typedef typename Number<T>::Wide Wide;
    return T(Wide(a) << (amount % Number<T>::BITS));
}
template <class T>
WARPFOLD_DEVICE T wrapping_shr(T a, u32 amount) {
    return T(a >> (amount % Number<T>::BITS));
}
template <class T>
WARPFOLD_DEVICE T wrapping_div(T a, T b) {
    if (b == 0) return T(0);
    if constexpr (Number<T>::SIGNED) {
        if (b == T(-1)) return wrapping_neg(a);
    }
    return T(a / b);
}
template <class T>
WARPFOLD_DEVICE T wrapping_rem(T a, T b) {
    if (b == 0) return T(0);
    if constexpr (Number<T>::SIGNED) {
        if (b == T(-1)) return T(0);
    }
    return T(a % b);
}
template <class T>
WARPFOLD_DEVICE T wrapping_abs(T a) {
    if (a < 0) return wrapping_neg(a);
    return a;
}
template <class T>
WARPFOLD_DEVICE T wrapping_pow(T base, u32 exponent) {
    T power = T(1);
    while (exponent != 0) {
        if (exponent & 1) power = wrapping_mul(power, base);
        base = wrapping_mul(base, base);
        exponent >>= 1;
    }
    return power;
}
template <class T>
WARPFOLD_DEVICE T pow(T base, u32 exponent) {
    return wrapping_pow(base, exponent);
}

// Saturating arithmetic, which stops at the ends of the range.

template <class T>
WARPFOLD_DEVICE T saturating_add(T a, T b) {
    const T sum = wrapping_add(a, b);
    if constexpr (Number<T>::SIGNED) {
        if (b >= 0 && sum < a) return Number<T>::MAX;
        if (b < 0 && sum > a) return Number<T>::MIN;
    } else {
        if (sum < a) return Number<T>::MAX;
    }
    return sum;
}
template <class T>
WARPFOLD_DEVICE T saturating_sub(T a, T b) {
    const T difference = wrapping_sub(a, b);
    if constexpr (Number<T>::SIGNED) {
        if (b < 0 && difference < a) return Number<T>::MAX;
        if (b >= 0 && difference > a) return Number<T>::MIN;
    } else {
        if (b > a) return T(0);
    }
    return difference;
}
template <class T>
WARPFOLD_DEVICE T saturating_mul(T a, T b) {
    const T product = wrapping_mul(a, b);
    if (a == 0 || b == 0) return T(0);
    const bool fits = wrapping_div(product, b) == a && !(Number<T>::SIGNED && b == T(-1) && a == Number<T>::MIN);
    if (fits) return product;
    if ((a < 0) != (b < 0)) return Number<T>::MIN;
    return Number<T>::MAX;
}
template <class T>
WARPFOLD_DEVICE T saturating_neg(T a) {
    if (a == Number<T>::MIN) return Number<T>::MAX;
    return wrapping_neg(a);
}

template <class T>
WARPFOLD_DEVICE T saturating_abs(T a) {
    if (a < 0) return saturating_neg(a);
    return a;
}
template <class T>
WARPFOLD_DEVICE T saturating_div(T a, T b) {
    if (Number<T>::SIGNED && b == T(-1)) return saturating_neg(a);
    return wrapping_div(a, b);
}
template <class T>
WARPFOLD_DEVICE T saturating_pow(T base, u32 exponent) {
    T power = T(1);
    while (true) {
        if (exponent & 1) power = saturating_mul(power, base);
        exponent >>= 1;
        if (exponent == 0) return power;
        base = saturating_mul(base, base);
    }
}

// Arithmetic of a signed with an unsigned integer.

template <class T, class Other>
WARPFOLD_DEVICE T wrapping_add_signed(T a, Other b) {
    return wrapping_add(a, T(b));
}
template <class T, class Other>
WARPFOLD_DEVICE T wrapping_add_unsigned(T a, Other b) {
    return wrapping_add(a, T(b));
}
template <class T, class Other>
WARPFOLD_DEVICE T wrapping_sub_unsigned(T a, Other b) {
    return wrapping_sub(a, T(b));
}
template <class T, class Other>
WARPFOLD_DEVICE T saturating_add_signed(T a, Other b) {
    if (b < 0) return saturating_sub(a, wrapping_neg(T(b)));
    return saturating_add(a, T(b));
}

// Other methods of integers.

template <class T>
WARPFOLD_DEVICE T unbounded_shl(T a, u32 amount) {
    if (amount >= Number<T>::BITS) return T(0);
    return wrapping_shl(a, amount);
}
template <class T>
WARPFOLD_DEVICE T unbounded_shr(T a, u32 amount) {
    if (amount >= Number<T>::BITS) return T(a < 0 ? -1 : 0);
    return wrapping_shr(a, amount);
}
// Rounds towards zero.
template <class T>
WARPFOLD_DEVICE T midpoint(T a, T b) {
    const T lower = wrapping_add(T((a ^ b) >> 1), T(a & b));
    if (lower < 0) return wrapping_add(lower, T((a ^ b) & 1));
    return lower;
}
template <class T>
WARPFOLD_DEVICE bool is_multiple_of(T a, T b) {
    if (b == 0) return a == 0;
    return a % b == 0;
}
template <class T>
WARPFOLD_DEVICE T next_multiple_of(T a, T b) {
    const T rest = wrapping_rem(a, b);
    if (rest == 0) return a;
    return wrapping_add(a, wrapping_sub(b, rest));
}

template <class T>
WARPFOLD_DEVICE T div_ceil(T a, T b) {
    const T quotient = wrapping_div(a, b);
    if (wrapping_rem(a, b) != 0) return wrapping_add(quotient, T(1));
    return quotient;
}
template <class T>
WARPFOLD_DEVICE typename Number<T>::Unsigned unsigned_abs(T a) {
    return static_cast<typename Number<T>::Unsigned>(wrapping_abs(a));
}
template <class T>
WARPFOLD_DEVICE typename Number<T>::Unsigned abs_diff(T a, T b) {
    typedef typename Number<T>::Unsigned Unsigned;
    if (a < b) return wrapping_sub(static_cast<Unsigned>(b), static_cast<Unsigned>(a));
    return wrapping_sub(static_cast<Unsigned>(a), static_cast<Unsigned>(b));
}
template <class T>
WARPFOLD_DEVICE bool is_positive(T a) {
    return a > 0;
}
template <class T>
WARPFOLD_DEVICE bool is_negative(T a) {
    return a < 0;
}
template <class T>
WARPFOLD_DEVICE T min(T a, T b) {
    if (b < a) return b;
    return a;
}
template <class T>
WARPFOLD_DEVICE T max(T a, T b) {
    if (b < a) return a;
    return b;
}
template <class T>
WARPFOLD_DEVICE T clamp(T a, T low, T high) {
    if (a < low) return low;
    if (high < a) return high;
    return a;
}

template <class T>
WARPFOLD_DEVICE u32 count_ones(T a) {
    typedef typename Number<T>::Unsigned Unsigned;
    return popcount(static_cast<typename Number<T>::Wide>(static_cast<Unsigned>(a)));
}
template <class T>
WARPFOLD_DEVICE u32 count_zeros(T a) {
    return Number<T>::BITS - count_ones(a);
}
template <class T>
WARPFOLD_DEVICE u32 leading_zeros(T a) {
    typedef typename Number<T>::Unsigned Unsigned;
    typedef typename Number<T>::Wide Wide;
    return count_leading_zeros(static_cast<Wide>(static_cast<Unsigned>(a))) - (8 * sizeof(Wide) - Number<T>::BITS);
}
template <class T>
WARPFOLD_DEVICE u32 trailing_zeros(T a) {
    if (a == 0) return Number<T>::BITS;
    // The ones below the lowest set bit.
    return count_ones(static_cast<T>(~a & wrapping_sub(a, T(1))));
}
template <class T>
WARPFOLD_DEVICE u32 leading_ones(T a) {
    return leading_zeros(static_cast<T>(~a));
}
template <class T>
WARPFOLD_DEVICE u32 trailing_ones(T a) {
    return trailing_zeros(static_cast<T>(~a));
}
template <class T>
WARPFOLD_DEVICE T swap_bytes(T a) {
    typedef typename Number<T>::Wide Wide;
    Wide rest = static_cast<typename Number<T>::Unsigned>(a), swapped = 0;
    for (u32 k = 0; k < sizeof(T); ++k, rest >>= 8) swapped = swapped << 8 | (rest & 255);
    return T(swapped);
}
template <class T>
WARPFOLD_DEVICE T reverse_bits(T a) {
    typedef typename Number<T>::Wide Wide;
    Wide rest = static_cast<typename Number<T>::Unsigned>(a), reversed = 0;
    for (u32 k = 0; k < Number<T>::BITS; ++k, rest >>= 1) reversed = reversed << 1 | (rest & 1);
    return T(reversed);
}
template <class T>
WARPFOLD_DEVICE T rotate_left(T a, u32 amount) {
    typedef typename Number<T>::Unsigned Unsigned;
    typedef typename Number<T>::Wide Wide;
    const u32 left = amount % Number<T>::BITS;
    const Wide bits = static_cast<Unsigned>(a);
    if (left == 0) return a;
    return T(bits << left | bits >> (Number<T>::BITS - left));
}
template <class T>
WARPFOLD_DEVICE T rotate_right(T a, u32 amount) {
    return rotate_left(a, Number<T>::BITS - amount % Number<T>::BITS);
}
template <class T>
WARPFOLD_DEVICE bool is_power_of_two(T a) {
    return count_ones(a) == 1;
}
template <class T>
WARPFOLD_DEVICE T next_power_of_two(T a) {
    if (a <= 1) return T(1);
    const u32 zeros = leading_zeros(static_cast<T>(a - 1));
    if (zeros == 0) return T(0);
    return wrapping_shl(T(1), Number<T>::BITS - zeros);
}
template <class T>
WARPFOLD_DEVICE u32 ilog2(T a) {
    if (a <= 0) return 0;
    return Number<T>::BITS - 1 - leading_zeros(a);
}
template <class T>
WARPFOLD_DEVICE u32 ilog10(T a) {
    u32 digits = 0;
    for (; a >= 10; a /= 10) ++digits;
    return digits;
}
template <class T>
WARPFOLD_DEVICE T isqrt(T a) {
    T root = T(0);
    if (a <= 0) return root;
    for (u32 bit = (Number<T>::BITS - 1 - leading_zeros(a)) / 2 + 1; bit-- > 0;) {
        const T tried = T(root | wrapping_shl(T(1), bit));
        if (tried <= a / tried) root = tried;
    }
    return root;
}

// `Ordering`, as a byte: -1, 0 or 1.

template <class T>
WARPFOLD_DEVICE i8 cmp(T a, T b) {
    return static_cast<i8>((a > b) - (a < b));
}
WARPFOLD_DEVICE bool is_lt(i8 order) { return order < 0; }
WARPFOLD_DEVICE bool is_le(i8 order) { return order <= 0; }
WARPFOLD_DEVICE bool is_gt(i8 order) { return order > 0; }
WARPFOLD_DEVICE bool is_ge(i8 order) { return order >= 0; }
WARPFOLD_DEVICE bool is_eq(i8 order) { return order == 0; }
WARPFOLD_DEVICE bool is_ne(i8 order) { return order != 0; }
WARPFOLD_DEVICE i8 reverse(i8 order) { return static_cast<i8>(-order); }
WARPFOLD_DEVICE i8 then(i8 order, i8 otherwise) {
    if (order != 0) return order;
    return otherwise;
}

template <class T>
WARPFOLD_DEVICE bool is_zero(T a) {
    return a == T(0);
}
template <class T>
WARPFOLD_DEVICE bool is_one(T a) {
    return a == T(1);
}
template <class T>
WARPFOLD_DEVICE bool eq(T a, T b) {
    return a == b;
}
template <class T>
WARPFOLD_DEVICE bool ne(T a, T b) {
    return a != b;
}
template <class T>
WARPFOLD_DEVICE bool lt(T a, T b) {
    return a < b;
}
template <class T>
WARPFOLD_DEVICE bool le(T a, T b) {
    return a <= b;
}
template <class T>
WARPFOLD_DEVICE bool gt(T a, T b) {
    return a > b;
}
template <class T>
WARPFOLD_DEVICE bool ge(T a, T b) {
    return a >= b;
}

}  // namespace rust
}  // namespace warpfold
