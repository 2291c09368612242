// Rust's methods of floats, and those that integers and floats share, under Rust's names.

namespace warpfold {
namespace rust {

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
// A finite number minus itself is 0. For an infinity or a NaN the difference is a NaN.
template <class T>
WARPFOLD_DEVICE bool is_finite(T a) {
    return a - a == T(0);
}
template <class T>
WARPFOLD_DEVICE bool is_infinite(T a) {
    return !is_nan(a) && !is_finite(a);
}

template <class T>
WARPFOLD_DEVICE bool is_normal(T a) {
    typedef typename Number<T>::Unsigned Bits;
    const Bits mask = sizeof(T) == 8 ? Bits(0x7ff) << (sizeof(T) * 8 - 12) : Bits(0xff) << (sizeof(T) * 8 - 9);
    const Bits exponent = to_bits(a) & mask;
    return exponent != 0 && exponent != mask;
}
template <class T>
WARPFOLD_DEVICE bool is_subnormal(T a) {
    return a != T(0) && is_finite(a) && !is_normal(a);
}

template <class T>
WARPFOLD_DEVICE T copysign(T a, T sign) {
    typedef typename Number<T>::Unsigned Bits;
    const Bits mask = Bits(1) << (8 * sizeof(T) - 1);
    return from_bits<T>(static_cast<Bits>((to_bits(a) & ~mask) | (to_bits(sign) & mask)));
}
// For integers and floats.
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

// For integers and floats. Not negative, except for the rounding of floats.
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
WARPFOLD_DEVICE T wrapping_rem_euclid(T a, T b) {
    return rem_euclid(a, b);
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

template <class T>
WARPFOLD_DEVICE T wrapping_div_euclid(T a, T b) {
    return div_euclid(a, b);
}

// IEEE 754's total order: -NaN, -infinity, ..., -0, +0, ..., infinity, NaN.
template <class T>
WARPFOLD_DEVICE i8 total_cmp(T a, T b) {
    typedef typename Number<T>::Unsigned Bits;
    const Bits top = Bits(1) << (8 * sizeof(T) - 1), x = to_bits(a), y = to_bits(b);
    const Bits left = x & top ? ~x : x | top, right = y & top ? ~y : y | top;
    return cmp(left, right);
}

// Converts a float to an integer: towards zero, to the nearest end of the range beyond it, and 0
// for a NaN.
template <class Integer, class Float>
WARPFOLD_DEVICE Integer saturating_cast(Float a) {
    typedef Number<Integer> N;
    // The greatest integer plus 1 is a power of two, which every float type represents.
    const Float past = Float(typename N::Wide(1) << (N::BITS - 1)) * (N::SIGNED ? Float(1) : Float(2));
    if (is_nan(a)) return Integer(0);
    if (a >= past) return N::MAX;
    if (a <= (N::SIGNED ? -past : Float(0))) return N::MIN;
    return static_cast<Integer>(a);
}

// These have the precision of CUDA's mathematical functions, which is not to the last bit.
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

}  // namespace rust
}  // namespace warpfold
