// What Rust means where C++ means something else: the operators and methods of numbers, under Rust's names. An integer
// has no sign bit to overflow into here, a byte stays a byte, and nothing is undefined.
//
// What panics in Rust (a division by zero, an index out of range) gives a value that nobody should rely on, and touches
// no memory but its own.

namespace warpfold {

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

namespace rust {

template <bool CONDITION, class Yes, class No>
struct Choose {
    typedef Yes Type;
};
template <class Yes, class No>
struct Choose<false, Yes, No> {
    typedef No Type;
};

// Of an integer or a float: the unsigned integer of its size, and the one that arithmetic happens in, which is not
// promoted to a signed one.
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

// Arithmetic that wraps: what the operators do in a release build, and the methods in any.

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

// Arithmetic that stops at the ends of the range.

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

// The other methods of integers.

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
    return ones_of(static_cast<typename Number<T>::Wide>(static_cast<Unsigned>(a)));
}
template <class T>
WARPFOLD_DEVICE u32 count_zeros(T a) {
    return Number<T>::BITS - count_ones(a);
}
template <class T>
WARPFOLD_DEVICE u32 leading_zeros(T a) {
    typedef typename Number<T>::Unsigned Unsigned;
    typedef typename Number<T>::Wide Wide;
    return leading_zeros_of(static_cast<Wide>(static_cast<Unsigned>(a))) - (8 * sizeof(Wide) - Number<T>::BITS);
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
WARPFOLD_DEVICE T isqrt(T a) {
    T root = T(0);
    if (a <= 0) return root;
    for (u32 bit = (Number<T>::BITS - 1 - leading_zeros(a)) / 2 + 1; bit-- > 0;) {
        const T tried = T(root | wrapping_shl(T(1), bit));
        if (tried <= a / tried) root = tried;
    }
    return root;
}

// Ordering, a byte of -1, 0 or 1.

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

// Floats.

WARPFOLD_DEVICE u32 to_bits(f32 a) { return bits_of(a); }
WARPFOLD_DEVICE u64 to_bits(f64 a) { return bits_of(a); }
template <class T, class Bits>
WARPFOLD_DEVICE T from_bits(Bits bits) {
    return ::warpfold::from_bits<T>(bits);
}

template <class T>
WARPFOLD_DEVICE bool is_nan(T a) {
    return a != a;
}
template <class T>
WARPFOLD_DEVICE bool is_sign_negative(T a) {
    return to_bits(a) >> (8 * sizeof(T) - 1) != 0;
}
template <class T>
WARPFOLD_DEVICE bool is_sign_positive(T a) {
    return !is_sign_negative(a);
}
// Any number minus itself is zero, and nothing else is.
template <class T>
WARPFOLD_DEVICE bool is_finite(T a) {
    return a - a == T(0);
}
template <class T>
WARPFOLD_DEVICE bool is_infinite(T a) {
    return !is_nan(a) && !is_finite(a);
}

template <class T>
WARPFOLD_DEVICE T copysign(T a, T sign) {
    typedef typename Number<T>::Unsigned Bits;
    const Bits mask = Bits(1) << (8 * sizeof(T) - 1);
    return from_bits<T>(static_cast<Bits>((to_bits(a) & ~mask) | (to_bits(sign) & mask)));
}
// Of an integer or a float.
template <class T>
WARPFOLD_DEVICE T abs(T a) {
    if constexpr (Number<T>::FLOAT)
        return copysign(a, T(1));
    else
        return wrapping_abs(a);
}
template <class T>
WARPFOLD_DEVICE T signum(T a) {
    if constexpr (Number<T>::FLOAT) {
        if (is_nan(a)) return a;
        return copysign(T(1), a);
    } else {
        return static_cast<T>((a > 0) - (a < 0));
    }
}
template <class T>
WARPFOLD_DEVICE T recip(T a) {
    return T(1) / a;
}

WARPFOLD_DEVICE f32 sqrt(f32 a) { return sqrtf(a); }
WARPFOLD_DEVICE f64 sqrt(f64 a) { return ::sqrt(a); }
WARPFOLD_DEVICE f32 mul_add(f32 a, f32 b, f32 c) { return fmaf(a, b, c); }
WARPFOLD_DEVICE f64 mul_add(f64 a, f64 b, f64 c) { return ::fma(a, b, c); }
WARPFOLD_DEVICE f32 floor(f32 a) { return floorf(a); }
WARPFOLD_DEVICE f64 floor(f64 a) { return ::floor(a); }
WARPFOLD_DEVICE f32 ceil(f32 a) { return ceilf(a); }
WARPFOLD_DEVICE f64 ceil(f64 a) { return ::ceil(a); }
WARPFOLD_DEVICE f32 trunc(f32 a) { return truncf(a); }
WARPFOLD_DEVICE f64 trunc(f64 a) { return ::trunc(a); }
WARPFOLD_DEVICE f32 round(f32 a) { return roundf(a); }
WARPFOLD_DEVICE f64 round(f64 a) { return ::round(a); }
WARPFOLD_DEVICE f32 round_ties_even(f32 a) { return rintf(a); }
WARPFOLD_DEVICE f64 round_ties_even(f64 a) { return ::rint(a); }
WARPFOLD_DEVICE f32 remainder(f32 a, f32 b) { return fmodf(a, b); }
WARPFOLD_DEVICE f64 remainder(f64 a, f64 b) { return ::fmod(a, b); }
template <class T>
WARPFOLD_DEVICE T fract(T a) {
    return a - trunc(a);
}

// Of an integer or a float: never negative, but for a float's rounding.
template <class T>
WARPFOLD_DEVICE T rem_euclid(T a, T b) {
    if constexpr (Number<T>::FLOAT) {
        const T rest = remainder(a, b);
        if (rest < T(0)) return rest + abs(b);
        return rest;
    } else {
        const T rest = wrapping_rem(a, b);
        if (rest < 0) {
            if (b < 0) return wrapping_sub(rest, b);
            return wrapping_add(rest, b);
        }
        return rest;
    }
}

template <class T>
WARPFOLD_DEVICE T div_euclid(T a, T b) {
    if constexpr (Number<T>::FLOAT) {
        const T quotient = trunc(a / b);
        if (remainder(a, b) < T(0)) {
            if (b > T(0)) return quotient - T(1);
            return quotient + T(1);
        }
        return quotient;
    } else {
        const T quotient = wrapping_div(a, b);
        if (wrapping_rem(a, b) < 0) {
            if (b > 0) return wrapping_sub(quotient, T(1));
            return wrapping_add(quotient, T(1));
        }
        return quotient;
    }
}

// IEEE 754's total order: -NaN, -infinity, ..., -0, +0, ..., infinity, NaN.
template <class T>
WARPFOLD_DEVICE i8 total_cmp(T a, T b) {
    typedef typename Number<T>::Unsigned Bits;
    const Bits top = Bits(1) << (8 * sizeof(T) - 1), x = to_bits(a), y = to_bits(b);
    const Bits left = x & top ? ~x : x | top, right = y & top ? ~y : y | top;
    return cmp(left, right);
}

// A float as an integer: towards zero, to the nearest end beyond the range, and 0 for a NaN.
template <class Integer, class Float>
WARPFOLD_DEVICE Integer saturating_cast(Float a) {
    typedef Number<Integer> N;
    // One past the greatest is a power of two, which every float has.
    const Float past = Float(typename N::Wide(1) << (N::BITS - 1)) * (N::SIGNED ? Float(1) : Float(2));
    if (is_nan(a)) return Integer(0);
    if (a >= past) return N::MAX;
    if (a <= (N::SIGNED ? -past : Float(0))) return N::MIN;
    return static_cast<Integer>(a);
}

// As precise as CUDA's mathematical functions are, which is not to the last bit.
#define WARPFOLD_FUNCTION(name, single, twice)                   \
    WARPFOLD_DEVICE f32 name(f32 a) { return single(a); }        \
    WARPFOLD_DEVICE f64 name(f64 a) { return twice(a); }
WARPFOLD_FUNCTION(exp, ::expf, ::exp)
WARPFOLD_FUNCTION(exp2, ::exp2f, ::exp2)
WARPFOLD_FUNCTION(exp_m1, ::expm1f, ::expm1)
WARPFOLD_FUNCTION(ln, ::logf, ::log)
WARPFOLD_FUNCTION(ln_1p, ::log1pf, ::log1p)
WARPFOLD_FUNCTION(log2, ::log2f, ::log2)
WARPFOLD_FUNCTION(log10, ::log10f, ::log10)
WARPFOLD_FUNCTION(sin, ::sinf, ::sin)
WARPFOLD_FUNCTION(cos, ::cosf, ::cos)
WARPFOLD_FUNCTION(tan, ::tanf, ::tan)
WARPFOLD_FUNCTION(asin, ::asinf, ::asin)
WARPFOLD_FUNCTION(acos, ::acosf, ::acos)
WARPFOLD_FUNCTION(atan, ::atanf, ::atan)
WARPFOLD_FUNCTION(sinh, ::sinhf, ::sinh)
WARPFOLD_FUNCTION(cosh, ::coshf, ::cosh)
WARPFOLD_FUNCTION(tanh, ::tanhf, ::tanh)
WARPFOLD_FUNCTION(asinh, ::asinhf, ::asinh)
WARPFOLD_FUNCTION(acosh, ::acoshf, ::acosh)
WARPFOLD_FUNCTION(atanh, ::atanhf, ::atanh)
WARPFOLD_FUNCTION(cbrt, ::cbrtf, ::cbrt)
#undef WARPFOLD_FUNCTION
WARPFOLD_DEVICE f32 atan2(f32 a, f32 b) { return ::atan2f(a, b); }
WARPFOLD_DEVICE f64 atan2(f64 a, f64 b) { return ::atan2(a, b); }
WARPFOLD_DEVICE f32 hypot(f32 a, f32 b) { return ::hypotf(a, b); }
WARPFOLD_DEVICE f64 hypot(f64 a, f64 b) { return ::hypot(a, b); }
WARPFOLD_DEVICE f32 powf(f32 a, f32 b) { return ::powf(a, b); }
WARPFOLD_DEVICE f64 powf(f64 a, f64 b) { return ::pow(a, b); }
template <class T>
WARPFOLD_DEVICE T powi(T base, i32 exponent) {
    T power = T(1);
    for (u32 rest = unsigned_abs(exponent); rest != 0; rest >>= 1) {
        if (rest & 1) power *= base;
        base *= base;
    }
    if (exponent < 0) return T(1) / power;
    return power;
}

// An element of an array; the last one instead of one that is not there.
template <class A>
WARPFOLD_DEVICE auto& at(A& array, u64 index) {
    return array.element[index < A::LENGTH ? index : A::LENGTH - 1];
}
template <class A>
WARPFOLD_DEVICE const auto& at(const A& array, u64 index) {
    return array.element[index < A::LENGTH ? index : A::LENGTH - 1];
}
template <class A, class T>
WARPFOLD_DEVICE A filled(T element) {
    A array;
    for (u64 k = 0; k < A::LENGTH; ++k) array.element[k] = element;
    return array;
}

}  // namespace rust
}  // namespace warpfold

// A rendered program speaks of numbers as Rust does.
namespace program {
namespace rust = ::warpfold::rust;
using ::warpfold::Array;
using ::warpfold::f32;
using ::warpfold::f64;
using ::warpfold::i16;
using ::warpfold::i32;
using ::warpfold::i64;
using ::warpfold::i8;
using ::warpfold::u16;
using ::warpfold::u32;
using ::warpfold::u64;
using ::warpfold::u8;
}  // namespace program
